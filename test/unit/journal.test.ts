import assert from 'node:assert/strict';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  parseRunEvent,
  type RunEvent,
  type RunEventBody,
  startedRunId,
} from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import {
  JournalReader,
  JournalWriter,
  readJournal,
} from '../../src/orchestrator/journal/journal.ts';
import { isRunId, newRunId } from '../../src/orchestrator/workspace/runFiles.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';
import { runStarted } from '../support/runEvents.ts';

let temp: TempDir;
let file: string;

beforeEach(async () => {
  temp = await tempDir('journal-');
  file = path.join(temp.path, 'runs', 'one', 'journal.jsonl');
});
afterEach(() => temp.remove());

const text = (words: string): RunEventBody => ({ type: 'agent.text', text: words });

/** Appends with a writer of its own, as a new process does. */
async function append(...bodies: readonly RunEventBody[]): Promise<RunEvent[]> {
  const journal = await JournalWriter.open(file);
  try {
    return bodies.map(body => journal.append(body));
  } finally {
    journal.close();
  }
}

async function raw(lines: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await appendFile(file, lines);
}

const words = (events: readonly RunEvent[]) =>
  events.map(event => (event.type === 'agent.text' ? event.text : event.type));

async function readNew(reader: JournalReader): Promise<string[]> {
  const events: RunEvent[] = [];
  await reader.readNew(event => events.push(event));
  return words(events);
}

describe('a journal', () => {
  test('is restored completely and continues if it was removed or replaced', {
    skip: process.platform === 'win32' && 'a file that is open cannot be removed',
  }, async () => {
    const elsewhere = path.join(temp.path, 'elsewhere');
    await writeFile(elsewhere, 'mine');
    const journal = await JournalWriter.open(file);
    const reader = new JournalReader(file);
    try {
      journal.append(text('one'));
      assert.deepEqual(await readNew(reader), ['one']);
      assert.equal(journal.isInPlace(), true);
      await rm(path.dirname(file), { recursive: true });
      journal.append(text('two'));
      assert.equal(journal.isInPlace(), false);
      journal.restore();
      assert.deepEqual(await readNew(reader), ['two']);
      await rm(file);
      await symlink(elsewhere, file);
      journal.restore();
      journal.append(text('three'));
      assert.equal(journal.isInPlace(), true);
    } finally {
      journal.close();
    }
    assert.deepEqual(words(await readJournal(file)), ['one', 'two', 'three']);
    assert.deepEqual(await readdir(path.dirname(file)), ['journal.jsonl']);
    assert.equal(await readFile(elsewhere, 'utf8'), 'mine');
  });

  test('returns appended events numbered and dated, one per line', async () => {
    const before = Date.now();
    const written = await append(text('one'), text('two\nlines \u2028 "quoted" 😀'));
    assert.deepEqual(
      written.map(({ seq }) => seq),
      [1, 2],
    );
    for (const { at } of written) {
      assert.ok(Date.parse(at) >= before && Date.parse(at) <= Date.now());
      assert.match(at, /Z$/);
    }
    assert.deepEqual(await readJournal(file), written);
    assert.equal((await readFile(file, 'utf8')).split('\n').length, 3);
  });

  test('is empty before the first event', async () => {
    assert.deepEqual(await readJournal(file), []);
    await append();
    assert.deepEqual(await readJournal(file), []);
    assert.equal(await readFile(file, 'utf8'), '');
  });

  test('knows the state of its run, also after earlier events', async () => {
    const first = await JournalWriter.open(file);
    first.append({ type: 'pause.requested' });
    assert.equal(first.state.pauseRequested, true);
    first.close();
    const second = await JournalWriter.open(file, first.state);
    const seen: boolean[] = [];
    second.onDidAppend(() => seen.push(second.state.pauseRequested));
    second.append({ type: 'pause.ended', by: 'person' });
    second.close();
    assert.deepEqual(seen, [false]);
    assert.deepEqual(second.state, foldRun(await readJournal(file)));
  });

  test('adds the number of the iteration to an event that does not have one, at its end', async () => {
    const journal = await JournalWriter.open(file);
    const own = { type: 'limit.ended', iteration: 1, by: 'time' } as const;
    journal.append(own, 2);
    journal.append(text('one'), 2);
    journal.close();
    const [first = '', second = ''] = (await readFile(file, 'utf8')).split('\n');
    assert.equal(JSON.parse(first).iteration, 1);
    assert.match(second, /,"iteration":2\}$/);
  });

  test('notifies its listeners after the line is on disk', async () => {
    const journal = await JournalWriter.open(file);
    const seen: string[] = [];
    const listener = journal.onDidAppend(() => seen.push(''));
    const texts: Promise<string>[] = [];
    journal.onDidAppend(event => {
      seen.push(words([event]).join());
      texts.push(readFile(file, 'utf8'));
    });
    listener.dispose();
    journal.append(text('one'));
    journal.append(text('two'));
    assert.match((await texts[0]) ?? '', /"one"/);
    journal.sync();
    journal.close();
    assert.deepEqual(seen, ['one', 'two']);
  });

  test('may be closed during a sync and is closed afterwards', async () => {
    const journal = await JournalWriter.open(file);
    journal.append(text('one'));
    const synced = journal.syncInParallel();
    journal.close();
    await synced;
    assert.equal((await readJournal(file)).length, 1);
    if (process.platform === 'linux') {
      const open = (await readdir('/proc/self/fd')).map(fd => `/proc/self/fd/${fd}`);
      const places = await Promise.all(open.map(fd => readlink(fd).catch(() => '')));
      assert.deepEqual(
        places.filter(place => place === file),
        [],
      );
    }
  });

  test('continues with the next number when it is reopened', async () => {
    await append(text('one'), text('two'));
    await append(text('three'));
    const events = await readJournal(file);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      [1, 2, 3],
    );
  });

  const torn: readonly (readonly [string, string])[] = [
    ['half an event', '{"seq":3,"at":"2026-01-01","type":"agent.te'],
    ['a whole event without its line break', '{"seq":3,"at":"x","type":"agent.text","text":"t"}'],
    ['half a letter', Buffer.from('{"é').subarray(0, 3).toString('latin1')],
    ['more than is read at once', `{"seq":3,"text":"${'x'.repeat(200_000)}`],
    ['zeros, as a power cut leaves them', '\0'.repeat(5_000)],
  ];
  for (const [name, tail] of torn) {
    test(`drops a torn last line: ${name}`, async () => {
      await append(text('one'), text('two'));
      const whole = await readFile(file);
      await appendFile(file, Buffer.from(tail, 'latin1'));
      assert.deepEqual(words(await readJournal(file)), ['one', 'two']);
      await append(text('three'));
      assert.deepEqual((await readFile(file)).subarray(0, whole.length), whole);
      assert.deepEqual(
        (await readJournal(file)).map(({ seq }) => seq),
        [1, 2, 3],
      );
      assert.equal((await readFile(file, 'utf8')).split('\n').length, 4);
    });
  }

  test('starts again if it contains only a torn line', async () => {
    await raw('{"seq":1,');
    await append(text('one'));
    assert.deepEqual(
      (await readJournal(file)).map(({ seq }) => seq),
      [1],
    );
  });

  test('keeps foreign lines but skips them', async () => {
    await append(text('one'));
    await raw('{"seq":2,"at":"x","type":"run.paused"}\nnot JSON\n\n[1]\n');
    await append(text('two'));
    assert.deepEqual(words(await readJournal(file)), ['one', 'two']);
    assert.match(await readFile(file, 'utf8'), /"run\.paused"\}\nnot JSON\n\n\[1\]\n/);
  });

  test('an event of a newer version keeps its number', async () => {
    await append(text('one'));
    await raw('{"seq":2,"at":"x","type":"run.paused"}\n');
    // Else a reader that knows `run.paused` takes the next event for one that it had already.
    assert.equal((await append(text('two')))[0]?.seq, 3);
  });

  test('a megabyte line hides only itself', async () => {
    await append(text('one'));
    await raw(`${'x'.repeat(3_000_000)}\n`);
    await append(text('two'));
    assert.deepEqual(words(await readJournal(file)), ['one', 'two']);
  });
});

describe('a reader', () => {
  test('follows the growing journal and returns each event once', async () => {
    const reader = new JournalReader(file);
    assert.deepEqual(await readNew(reader), []);
    await append(text('one'), text('two'));
    assert.deepEqual(await readNew(reader), ['one', 'two']);
    assert.deepEqual(await readNew(reader), []);
    await append(text('three'));
    assert.deepEqual(await readNew(reader), ['three']);
  });

  test('waits for the rest of a line written in two parts', async () => {
    const reader = new JournalReader(file);
    await append(text('one'), text('zwölf 😀'));
    const bytes = await readFile(file);
    for (const cut of [bytes.length - 1, bytes.indexOf('😀') + 2, bytes.indexOf('\n') + 1]) {
      const again = new JournalReader(file);
      await writeFile(file, bytes.subarray(0, cut));
      assert.deepEqual(await readNew(again), ['one']);
      assert.deepEqual(await readNew(again), []);
      await writeFile(file, bytes);
      assert.deepEqual(await readNew(again), ['zwölf 😀']);
    }
    assert.deepEqual(await readNew(reader), ['one', 'zwölf 😀']);
  });

  test('ignores a torn line that the next writer removes', async () => {
    const reader = new JournalReader(file);
    await append(text('one'));
    await raw('{"seq":2,"at":"x","type":"agent.text","text":"torn');
    assert.deepEqual(await readNew(reader), ['one']);
    await append(text('two'));
    assert.deepEqual(await readNew(reader), ['two']);
  });

  test('reads a journal that is larger than its buffer', async () => {
    const all = Array.from({ length: 500 }, (_, i) => `${i} ${'é'.repeat(i)}`);
    await append(...all.map(text));
    assert.deepEqual(words(await readJournal(file)), all);
  });
});

describe('run ids', () => {
  test('are valid folder names', () => {
    assert.equal(isRunId(newRunId()), true);
    assert.match(newRunId(new Date('2026-01-02T03:04:05.678Z')), /^2026-01-02T03-04-05/);
    for (const bad of [
      '',
      '.',
      '..',
      '../x',
      'a/b',
      'a\\b',
      '-a',
      '.a',
      'a b',
      'a'.repeat(81),
      'ä',
    ]) {
      assert.equal(isRunId(bad), false, bad);
    }
  });

  test('sort by time, even within a second', () => {
    const start = Date.parse('2026-01-02T03:04:05Z');
    const ids = Array.from({ length: 100 }, (_, i) => newRunId(new Date(start + i * 10)));
    const late = ids.filter((id, i) => i > 0 && id <= (ids[i - 1] ?? ''));
    assert.equal(late.length, 0);
  });
});

describe('the first line of a run', () => {
  test('is that only if it is also an event, whatever one of its fields says', () => {
    const event = {
      seq: 1,
      at: 'now',
      ...runStarted({
        ...{
          stories: { done: 0, total: 2 },
          branch: 'main',
          budgetUsd: 5,
          isolated: true,
          lanes: 2,
        },
        ...{ model: 'opus', onlyStories: ['A'], onLastWindow: 'continue', payer: 'login' },
        ...{
          planDir: 'plan',
          prepare: { kind: 'plan' },
          reviewer: true,
          settings: { effort: 'low' },
        },
        ...{ startCommit: 'abc', startId: '7', storyFile: 'prd.json', verify: ['npm test'] },
        withoutTokens: true,
      }),
    };
    const whole: RunEvent = event;
    assert.equal(startedRunId(JSON.stringify(whole)), 'r1');
    const { prepare, ...usual } = event;
    for (const base of [event, usual]) {
      for (const field of Object.keys(event)) {
        for (const other of [
          ...[undefined, null, 'other', true, 0, 7, -1.5, [], ['A'], [7], {}, { effort: 7 }],
          ...[{ done: 'no', total: 2 }, { done: -1, total: 2 }, { done: 0 }, { kind: 'tasks' }],
        ]) {
          const line = JSON.stringify({ ...base, [field]: other });
          const parsed = parseRunEvent(line);
          const runId = parsed?.type === 'run.started' ? parsed.runId : undefined;
          assert.equal(startedRunId(line), runId, line);
        }
      }
    }
  });

  test('is no other text', () => {
    for (const line of [
      '',
      'null',
      '7',
      '"run.started"',
      '[]',
      '{}',
      '{"type":"run.started"',
      '{',
    ]) {
      assert.equal(startedRunId(line), undefined, line);
    }
  });
});

describe('a crafted journal', () => {
  const line = (seq: number) => `${JSON.stringify({ seq, at: 'now', ...text('odd') })}\n`;

  test('with an impossibly high number is refused', async () => {
    for (const seq of [2 ** 50 + 1, Number.MAX_SAFE_INTEGER, 1e300]) {
      await raw(line(seq));
      await assert.rejects(append(text('one')), /is damaged; start a new run with --new/);
      await rm(file);
    }
  });

  test('cannot exhaust the numbers unnoticed', async () => {
    await raw(line(2 ** 50 - 1));
    assert.equal((await append(text('last')))[0]?.seq, 2 ** 50);
    await assert.rejects(append(text('one')), /is damaged; start a new run with --new/);
  });
});

test('an event too long to be read back is cut and marked', async () => {
  for (const char of ['x', '\u0001', '😀']) {
    const [written] = await append({ type: 'agent.text', text: char.repeat(2_000_000) });
    const read = (await readJournal(file)).at(-1);
    assert.deepEqual(read, written);
    assert.ok(read?.type === 'agent.text' && read.text.endsWith(' […]'));
    assert.ok(read.text.isWellFormed());
  }
});
