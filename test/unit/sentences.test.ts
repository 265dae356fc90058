import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { storyRecord } from '../../src/orchestrator/journal/runState.ts';
import { parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';
import { hindrancesOf, hindranceWords } from '../../src/presentation/hindrances.ts';
import { runEnd } from '../../src/presentation/runEnd.ts';
import { warningWords } from '../../src/presentation/runLines.ts';
import { nothingToRun, outcomeSentence } from '../../src/presentation/sentences.ts';
import {
  clock,
  dollars,
  duration,
  english,
  span,
  tenths,
  wholeNumber,
} from '../../src/presentation/translate.ts';
import { waitingSentence } from '../../src/presentation/waitingWords.ts';
import { type EventMatch, over } from '../support/recordedJournals.ts';
import { translationInto } from '../support/translations.ts';

const german = translationInto('de');
const japanese = translationInto('ja');
const now = new Date(2026, 2, 1, 14, 5).getTime();
const nextDay = now + 24 * 3_600_000;
/** Some ICU versions put narrow or no-break spaces, others plain ones. */
const plain = (text: string) => text.replaceAll(/[\u00A0\u202F]/g, ' ');

test('a killed loop is described with where it was killed', () => {
  const said = (until: EventMatch) =>
    outcomeSentence(runEnd(over('killedAndResumed', until).state, 'interrupted'), english).text;
  assert.match(said({ type: 'run.started' }), /killed before its first iteration\./);
  assert.match(said({ type: 'iteration.started', iteration: 2 }), /killed in iteration 2\./);
  // The command that found it dead has written an end.
  assert.match(said({ type: 'run.ended' }), /killed in iteration 2\./);
  assert.match(said({ type: 'iteration.ended', iteration: 1 }), /killed after iteration 1\./);
});

test('a run without a ready story or an iteration is continued with more of them', () => {
  const { state } = over('failed');
  const said = (used: Partial<typeof state>) => {
    const end = runEnd({ ...state, ...used }, 'noReadyStory');
    return outcomeSentence(end, english).text;
  };
  const left = /^No story is ready\. Left: US-001\. US-001 has failed/;
  assert.match(said({ maxIterations: state.iteration + 1 }), left);
  assert.match(said({ maxIterations: state.iteration + 1 }), / then run with --resume\.$/);
  assert.match(
    said({ maxIterations: state.iteration }),
    new RegExp(` then run with --resume --max-iterations ${state.iteration + 20}\\.$`),
  );
});

test('a start with nothing to run says which entries are not read as stories', () => {
  const words = (text: string) => {
    const { file } = parseStoryText('/p/tasks.md', text);
    assert.ok(file.kind === 'stories');
    return nothingToRun(file, {}, english);
  };
  assert.match(words('- [x] One\n'), /^All stories are done, .* start again\.$/);
  assert.match(
    words('- [x] One\n- [] Two\n'),
    /start again\. No agent works on an entry of the story file .*: tasks\.md:2\. .*"- \[ \] …"/,
  );
});

describe('numbers and times', () => {
  test('are the same everywhere on the command line', () => {
    assert.equal(dollars(0.25, english), '$0.25');
    assert.equal(dollars(0.001, english), '<$0.01');
    assert.equal(dollars(1.5, english, true), '≈ $1.50');
    assert.equal(duration(185_000, english), '3 min 5 s');
    assert.equal(duration(2_540, english), '2.5 s');
    assert.equal(clock(now, now, english), '14:05');
    assert.equal(clock(nextDay, now, english), '2026-03-02 14:05');
    assert.equal(clock(Number.NaN, now, english), '–');
  });

  test('use the language of the window', () => {
    assert.equal(plain(dollars(1_234.5, german)), '1.234,50 $');
    assert.equal(plain(dollars(0.001, german, true)), '≈ <0,01 $');
    assert.equal(duration(2_540, german), '2,5 s');
    assert.equal(duration(185_000, german), '3 min 5 s');
    assert.equal(tenths(0.5, german), '0,5');
    assert.equal(wholeNumber(12_345, german), '12.345');
    assert.equal(clock(now, now, german), '14:05');
    assert.equal(clock(nextDay, now, german), '02.03.2026, 14:05');
    assert.equal(dollars(0.25, japanese), '$0.25');
    assert.equal(duration(185_000, japanese), '3 分 5 秒');
  });

  test('use the units of the language for durations', () => {
    const minute = 60_000;
    assert.deepEqual(
      [125, 120, 49 * 60, 48 * 60].map(minutes => span(minutes * minute, german)),
      ['2 h 5 min', '2 h', '2 Tage 1 h', '2 Tage'],
    );
  });

  test('are formatted the same way in sentences', () => {
    const until = new Date(now + 125 * 60_000).toISOString();
    assert.match(
      waitingSentence({ kind: 'limit', until, known: true, message: '' }, german, {
        now,
        door: 'window',
      }),
      /16:10.*2 h 5 min/,
    );
  });
});

test('a story whose work conflicts again and again is left alone with the files as the reason', () => {
  const { state } = over('lanes', { type: 'landing.returned', reason: 'conflict' });
  const [storyId = '', notes] = [...state.storyNotes].find(([, note]) => note.conflict) ?? [];
  const storyRecords = new Map([[storyId, { ...storyRecord(state, storyId), failures: 3 }]]);
  assert.equal(
    hindranceWords(
      hindrancesOf({ ...state, running: [], open: [storyId], storyRecords }),
      english,
      {
        withSkipped: false,
      },
    ),
    `${storyId} has failed 3 times in a row: its work conflicts with what has landed: ${notes?.conflict?.files.join(', ')}.`,
  );
});

test('a story whose settled conflict waits to land is not told as one that has failed', () => {
  const { state } = over('lanes', { type: 'landing.returned', reason: 'conflict' });
  const [id = ''] = state.storyNotes.keys();
  const failed = { ...storyRecord(state, id), failures: 3 };
  const queued = { ...state.running[0], queued: true, number: 9, storyId: id } as never;
  const left = {
    ...{ ...state, cutOff: [queued], detail: '', running: [] },
    storyRecords: new Map([id, 'US-9'].map(storyId => [storyId, failed])),
  };
  const said = (open: readonly string[]) =>
    outcomeSentence(runEnd({ ...left, open, detail: open.join(', ') }, 'noReadyStory'), english);
  assert.equal(
    said([id]).text,
    `No story was ready. Left: ${id}. ${id} waits to land, first with "ralph-fresh run --resume".`,
  );
  assert.match(said([id, 'US-9']).text, /^No story is ready\. Left: US-9\. US-9 has failed 3/);
  assert.ok(!said([id, 'US-9']).text.includes(`${id} `));
});

test('a story whose agent a limit has ended is left alone with that as the reason, and the flag', () => {
  const { state } = over('lanes', { type: 'landing.returned', reason: 'conflict' });
  const [storyId = ''] = state.storyNotes.keys();
  const storyRecords = new Map([[storyId, { ...storyRecord(state, storyId), failures: 3 }]]);
  const words = (kind: string) => {
    const storyNotes = new Map([[storyId, { lastError: { iteration: 9, kind, message: '' } }]]);
    const hindrances = hindrancesOf({ ...state, open: [storyId], storyRecords, storyNotes });
    return hindranceWords(hindrances, english, { withSkipped: false });
  };
  assert.equal(
    words('hardLimit'),
    `${storyId} has failed 3 times in a row: The agent reached the time limit. Allow more time with --time-limit.`,
  );
  assert.equal(
    words('idleLimit'),
    `${storyId} has failed 3 times in a row: The agent was silent for too long. Allow more time with --idle-limit.`,
  );
});

test('a stuck run names the command that skips the story', () => {
  const stuck = { kind: 'pause', reason: 'stuck', storyId: '#2', detail: '3' } as const;
  assert.match(
    waitingSentence(stuck, english, { now, door: 'terminal' }),
    /skip the story with: ralph-fresh skip "#2"$/,
  );
});

test('each warning of the loop has its own sentence', () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const codes = new Set(
    globSync('src/orchestrator/**/*.ts', { cwd: root })
      .map(file => readFileSync(path.join(root, file), 'utf8'))
      .flatMap(source => [
        ...source.matchAll(/\bwarn\(\s*(?:[\w.]+,\s*)?'(\w+)'|type: 'warning',\s*code: '(\w+)'/g),
      ])
      .map(([, warned, written]) => warned ?? written ?? ''),
  );
  assert.ok(codes.size > 15);
  const event = { type: 'warning', seq: 1, at: '2026-03-01T12:00:00.000Z', detail: 'why' } as const;
  const bare = [...codes].filter(code =>
    warningWords({ ...event, code }, english, 'terminal').includes(code),
  );
  assert.deepEqual(bare, []);
});
