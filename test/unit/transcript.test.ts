import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { ITERATION_OUTCOMES, RUN_OUTCOMES } from '../../src/orchestrator/journal/eventCodes.ts';
import { type RunEventBody, runEventSchema } from '../../src/orchestrator/journal/events.ts';
import {
  clock,
  type Door,
  english,
  outcomeSentence,
  span,
  waitingSentence,
} from '../../src/presentation/sentences.ts';
import { Transcript } from '../../src/presentation/transcript.ts';
import {
  AT,
  iterationEnded,
  iterationStarted,
  journalOf,
  runStarted,
} from '../support/runEvents.ts';

const stories = { done: 1, total: 3 };

const started = runStarted({ version: '0.2.0', stories });

/** What is printed for the last of these events. */
function last(bodies: readonly RunEventBody[], door: Door = 'terminal') {
  const transcript = new Transcript(english, door);
  const told = journalOf(bodies).map(event => transcript.describe(event));
  return told.at(-1) ?? [];
}

const text = (...bodies: readonly RunEventBody[]) =>
  last(bodies)
    .map(line => line.text)
    .join('\n');

const cost = (iteration: number, costUsd: number): RunEventBody => ({
  type: 'agent.ended',
  iteration,
  reason: 'exited',
  durationMs: 1,
  leftovers: 0,
  costUsd,
});

const begun: RunEventBody = iterationStarted({ iteration: 1, storyId: 'US-001', stories });

describe('a start', () => {
  test('tells what steers the run and who pays', () => {
    const told = text({
      ...started,
      budgetUsd: 5,
      payer: 'apiKey',
      verify: ['npm test', 'npm run lint'],
    });
    assert.match(told, /^\[Ralph Fresh\] Starting fresh-context orchestration\n/);
    assert.match(told, /\[Ralph Fresh\] Billing: the API key in the environment/);
    assert.match(told, /\[Ralph Fresh\] Budget: \$5\.00/);
    assert.match(told, /\[Ralph Fresh\] Checks: npm test · npm run lint/);
  });

  test('a resumed run says which one and where it goes on', () => {
    const resumed: RunEventBody = {
      type: 'run.resumed',
      version: '0.2.0',
      pid: 2,
      agent: 'claude',
      maxIterations: 20,
      stuckThreshold: 3,
      stories,
    };
    assert.match(text(started, begun, resumed), /Resuming run r1 at iteration 2/);
    assert.match(text(resumed), /Resuming the run\n/);
  });

  test('a second run begins anew', () => {
    const resumedNothing = text({ ...started, budgetUsd: 9 }, cost(1, 9), started, {
      type: 'run.ended',
      outcome: 'budget',
      exitCode: 1,
      stories,
      iterations: 1,
    });
    assert.match(resumedNothing, /The budget is used up\./);
  });
});

describe('an end', () => {
  test('of the budget names both amounts and the next step', () => {
    const end: RunEventBody = {
      type: 'run.ended',
      outcome: 'budget',
      exitCode: 1,
      stories,
      iterations: 1,
    };
    const events = [{ ...started, budgetUsd: 5 }, begun, cost(1, 5.12), end] as RunEventBody[];
    assert.equal(
      last(events).at(-1)?.text,
      '[Ralph Fresh] The budget of $5.00 is used up ($5.12). Raise it with --budget and run with --resume.',
    );
    assert.equal(
      last(events, 'window').at(-1)?.text,
      '[Ralph Fresh] The budget of $5.00 is used up ($5.12). Start again for another run with the same limit, or change ralphFresh.budgetUsd first.',
    );
  });

  test('has a sentence for every outcome and both doors', () => {
    for (const outcome of RUN_OUTCOMES) {
      for (const door of ['terminal', 'window'] as const) {
        for (const total of [0, 3]) {
          const end = { outcome, iterations: 2, stories: { done: 0, total }, detail: 'US-002' };
          const sentence = outcomeSentence(end, english, door).text;
          assert.doesNotMatch(sentence, /\{\d\}|undefined|^$/, outcome);
          if (door === 'window') {
            assert.doesNotMatch(sentence, /--|ralph-fresh/, outcome);
          }
        }
      }
    }
  });

  test('every outcome of an iteration has a word', () => {
    for (const outcome of ITERATION_OUTCOMES) {
      const told = text(iterationEnded({ iteration: 1, outcome, durationMs: 1, stories }));
      assert.match(told, /Iteration 1: [a-z ]+ · 0\.0 s · 0 commits/, outcome);
    }
  });
});

describe('waiting', () => {
  const now = Date.parse(AT);
  const limit = (until: string, remainingMs: number): RunEventBody => ({
    type: 'limit.waiting',
    iteration: 1,
    until,
    remainingMs,
    known: true,
    message: 'You have hit your session limit',
  });

  test('a usage limit says when it goes on, and how to try now', () => {
    const until = '2026-03-01T14:05:00.000Z';
    assert.equal(
      text(started, limit(until, 7_500_000)).split('\n')[0],
      `[Ralph Fresh] Usage limit reached; continues at ${clock(Date.parse(until), now, english)} (in 2 h 5 min). "ralph-fresh resume" tries now.`,
    );
  });

  test('its countdown is told at round times, not each minute', () => {
    const until = '2026-03-01T14:05:00.000Z';
    const told = Array.from({ length: 125 }, (_, index) =>
      last([started, limit(until, 7_500_000), limit(until, 7_500_000 - index * 60_000)]),
    ).filter(({ length }) => length > 0);
    assert.ok(told.length > 3 && told.length < 15, String(told.length));
  });

  test('a moment on another day has its date', () => {
    assert.match(clock(now + 48 * 3_600_000, now, english), /^2026-03-0\d \d\d:\d\d$/);
    assert.match(clock(now + 1_000, now, english), /^\d\d:\d\d$/);
  });

  test('times to come have two units', () => {
    const minute = 60_000;
    assert.deepEqual(
      [0, 1, 59 * minute, 60 * minute, 125 * minute, 49 * 60 * minute].map(ms => span(ms, english)),
      ['0 min', '1 min', '59 min', '1 h', '2 h 5 min', '2 d 1 h'],
    );
    assert.equal(span(-5, english), '0 min');
  });

  test('a question stands with the way to answer it', () => {
    assert.equal(
      text(started, { type: 'pause.started', reason: 'question', detail: 'Blue or green?' }),
      '[Ralph Fresh] The agent asks: Blue or green? Answer with: ralph-fresh answer "…"',
    );
  });

  test('no door is told the commands of the other', () => {
    for (const reason of ['person', 'question', 'stuck'] as const) {
      const waiting = { kind: 'pause', reason, storyId: 'US-001', detail: '3' } as const;
      assert.match(waitingSentence(waiting, english, { now }), /ralph-fresh/);
      assert.doesNotMatch(
        waitingSentence(waiting, english, { now, door: 'window' }),
        /ralph-fresh|\{\d\}/,
      );
    }
  });
});

describe('tools', () => {
  const tool = (id: string, name: string, gist: string): RunEventBody => ({
    ...{ type: 'agent.tool', id, name, gist },
  });
  const bash = tool('a', 'Bash', 'npm test');

  test('a call is told with its gist, its result below it, the rest of it counted', () => {
    assert.equal(text(tool('a', 'Edit', 'src/todo.js')), '● Edit(src/todo.js)');
    assert.equal(text(tool('a', 'Think', '')), '● Think');
    const result: RunEventBody = {
      type: 'agent.toolResult',
      id: 'a',
      head: 'one\n  two\nthree',
      lines: 40,
    };
    assert.deepEqual(last([started, begun, bash, result], 'window'), [
      { style: 'dim', text: '  └  one' },
      { style: 'dim', text: '       two' },
      { style: 'dim', text: '     three' },
      { style: 'dim', text: '     … 37 more lines (transcript of iteration 1)' },
    ]);
    assert.match(text(started, begun, bash, result), /… 37 more lines$/);
  });

  test('of a file that was read only the length', () => {
    const read: RunEventBody = { type: 'agent.toolResult', id: 'a', lines: 12 };
    assert.equal(text(tool('a', 'Read', 'x'), read), '  └  Read 12 lines');
    assert.equal(text(tool('a', 'Read', 'x'), { ...read, lines: 1 }), '  └  Read 1 line');
  });

  test('a failure is red, with its first lines', () => {
    const failed: RunEventBody = { type: 'agent.toolFailed', id: 'a', gist: 'no such file' };
    assert.deepEqual(last([bash, failed]), [{ style: 'error', text: '  └  no such file' }]);
    const [first, second, more] = last([bash, { ...failed, head: 'no\nsuch', lines: 3 }]);
    assert.deepEqual(first, { style: 'error', text: '  └  no' });
    assert.deepEqual(second, { style: 'error', text: '     such' });
    assert.equal(more?.text, '     … 1 more line');
  });

  test('a result that does not stand below its call names it', () => {
    const events = [bash, tool('b', 'Grep', 'todo')];
    const result: RunEventBody = { type: 'agent.toolResult', id: 'a', head: 'ok', lines: 1 };
    assert.equal(text(...events, result), '  └  Bash: ok');
    assert.equal(text(...events, { ...result, id: 'b' }), '  └  ok');
    assert.equal(text(...events, { ...result, id: 'unknown' }), '  └  ok');
  });

  test('what steers a terminal is taken out', () => {
    const head = '\x1b[2J\x1b]8;;file:///etc\x07x\u202e';
    assert.equal(text(bash, { type: 'agent.toolResult', id: 'a', head, lines: 1 }), '  └  x');
  });
});

test('a story that a person skips is followed by the command that takes it back', () => {
  const skipped: RunEventBody = { type: 'story.skipped', storyId: 'US-002', by: 'person' };
  assert.match(text(begun, skipped), /US-002 is skipped; "ralph-fresh skip US-002 --undo"/);
});

describe('a stop', () => {
  test('after the iteration tells a window how to stop now', () => {
    const stop: RunEventBody = { type: 'stop.requested', by: 'inbox', mode: 'afterIteration' };
    assert.match(last([stop], 'window')[0]?.text ?? '', /Ctrl-C again stops now\.$/);
    assert.doesNotMatch(text(stop), /Ctrl-C/);
    assert.match(text({ ...stop, by: 'window' }), /The last window was closed\./);
  });
});

describe('the gate', () => {
  const check: RunEventBody = {
    type: 'check.ended',
    iteration: 1,
    command: 'npm test',
    ok: false,
    exitCode: 1,
    timedOut: false,
    durationMs: 1_500,
    outputTail: '',
  };

  test('a failed check is red, its output dim, and only its end', () => {
    const outputTail = Array.from({ length: 300 }, (_, index) => `line ${index}`).join('\n');
    const [why, more, ...output] = last([{ ...check, outputTail }]);
    assert.deepEqual(why, { style: 'error', text: '  └  failed (exit code 1) · 1.5 s' });
    assert.equal(more?.text, '     … 280 lines before');
    assert.equal(output.length, 20);
    assert.ok(output.every(({ style }) => style === 'dim'));
    assert.equal(output.at(-1)?.text, '     line 299');
  });

  test('a line without end is cut, and what steers a terminal goes', () => {
    const [, line] = last([
      { ...check, outputTail: `\x1b[2J\x1b]0;title\x07${'x'.repeat(9_000)}` },
    ]);
    assert.match(line?.text ?? '', /^ {5}x+…$/);
    assert.ok((line?.text.length ?? 0) < 600);
  });

  test('a passed check is one line', () => {
    assert.deepEqual(last([{ ...check, ok: true, exitCode: 0, outputTail: 'much' }]), [
      { style: 'success', text: '  └  passed · 1.5 s' },
    ]);
  });

  test('who put a story back is said', () => {
    const back = (by: 'gate' | 'reviewer' | 'guard') =>
      text({ type: 'story.changed', storyId: 'US-001', done: false, by });
    assert.match(back('gate'), /US-001 was put back to not done: its checks failed/);
    assert.match(back('reviewer'), /the reviewer objects/);
    assert.match(back('guard'), /was not given it/);
  });

  test('what the guard found is told in words, also what a newer loop finds', () => {
    const told = text({
      type: 'guard.found',
      iteration: 1,
      changes: [
        { kind: 'tickedOther', storyId: 'US-002' },
        { kind: 'parked', storyId: 'US-003' },
        { kind: 'fileGone' },
        { kind: 'somethingNew' },
      ],
      restored: true,
      keptAside: '.omc/state/x.json',
    });
    assert.match(
      told,
      /put back:\n {2}- US-002: marked done\n {2}- US-003: put aside\n {2}- the story file was removed\n/,
    );
    assert.match(told, /somethingNew\n.*kept in \.omc\/state\/x\.json$/);
  });

  test('a claim that is still to be checked is not called done', () => {
    const claim: RunEventBody = {
      type: 'story.changed',
      storyId: 'US-001',
      done: true,
      by: 'agent',
      iteration: 1,
    };
    assert.match(text(started, claim), /US-001 is done$/);
    assert.match(text({ ...started, verify: ['npm test'] }, claim), /is marked done by its agent$/);
  });

  test('of many objections the first are told', () => {
    const told = last([
      {
        type: 'review.ended',
        iteration: 1,
        storyId: 'US-001',
        approved: false,
        objections: Array.from({ length: 40 }, (_, index) => `${index}\nsecond line`),
      },
    ]);
    assert.equal(told.length, 12);
    assert.equal(told[1]?.text, '  - 0 second line');
    assert.equal(told.at(-1)?.text, '  … 30 more');
  });
});

test('docs/journal.md names every event with its fields', async () => {
  const page = await readFile(path.resolve(import.meta.dirname, '../../docs/journal.md'), 'utf8');
  for (const { shape } of runEventSchema().options) {
    const row = page.split('\n').find(line => line.startsWith(`| \`${shape.type.value}\` |`));
    assert.ok(row, shape.type.value);
    for (const field of Object.keys(shape)) {
      const isCommon = ['type', 'seq', 'at'].includes(field);
      assert.ok(isCommon || row.includes(`\`${field}\``), `${shape.type.value}: ${field}`);
    }
  }
});
