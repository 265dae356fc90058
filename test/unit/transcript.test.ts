import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { ITERATION_OUTCOMES, RUN_OUTCOMES } from '../../src/orchestrator/journal/eventCodes.ts';
import { type RunEvent, runEventSchema } from '../../src/orchestrator/journal/events.ts';
import type { Door } from '../../src/presentation/door.ts';
import { outcomeSentence } from '../../src/presentation/sentences.ts';
import { Transcript } from '../../src/presentation/transcript.ts';
import { clock, english, span } from '../../src/presentation/translate.ts';
import { waitingSentence } from '../../src/presentation/waitingWords.ts';
import { type EventMatch, recorded } from '../support/recordedJournals.ts';

/** What is printed for the last of these events. */
function last(events: readonly RunEvent[], door: Door = 'terminal') {
  const transcript = new Transcript(english, door);
  const told = events.map(event => transcript.describe(event));
  return told.at(-1) ?? [];
}

const textOf = (events: readonly RunEvent[]) =>
  last(events)
    .map(line => line.text)
    .join('\n');
const text = (name: string, until?: EventMatch) => textOf(recorded(name, until));

/** The last event with other fields: what a loop of today does not write, or no cheap run shows. */
function withLast(events: readonly RunEvent[], fields: object): readonly RunEvent[] {
  return [...events.slice(0, -1), { ...events.at(-1), ...fields } as RunEvent];
}

describe('the start of a run', () => {
  test('shows what controls the run and who pays', () => {
    const paid = text('budget', { type: 'run.started' });
    assert.match(paid, /^\[Ralph Fresh\] Starting fresh-context orchestration\n/);
    assert.match(paid, /\[Ralph Fresh\] Billing: the API key in the environment/);
    assert.match(paid, /\[Ralph Fresh\] Budget: \$0\.30/);
    const checked = text('twoChecksGreen', { type: 'run.started' });
    assert.match(checked, /\[Ralph Fresh\] Checks: echo one · echo two/);
  });

  test('names a resumed run and where it continues', () => {
    const resumed = recorded('answered', { type: 'run.resumed' });
    assert.match(textOf(resumed), /Resuming run r1 at iteration 2/);
    assert.match(textOf(resumed.slice(-1)), /Resuming the run\n/);
  });

  test('is shown again for a second run', () => {
    const both = [...recorded('maxIterations'), ...recorded('budget')];
    assert.match(textOf(both), /The budget of \$0\.30 is used up \(\$0\.31\)\./);
  });
});

describe('several agents', () => {
  const lines = new Transcript(english, 'terminal');
  const told = recorded('lanes').flatMap(event => lines.describe(event));
  const counts = told.filter(line => line.text.includes('PRD Status'));

  test('how many stories are done is shown at the end of an agent, and not again at the start of the next', () => {
    const ends = recorded('lanes').filter(({ type }) => type === 'iteration.ended');
    assert.equal(counts.length, ends.length);
  });

  test('an answer names its story, which is the only one without lanes', () => {
    const answer = { type: 'question.answered', question: 'Q', answer: 'Blue', storyId: 'US-001' };
    const answerIn = (name: string) => textOf(withLast(recorded(name), answer));
    assert.match(answerIn('lanesAsk'), /Answered for US-001: Blue$/);
    assert.match(answerIn('severalStories'), /Answered: Blue$/);
  });
});

describe('the end of a run', () => {
  test('names both amounts and the next step for a used-up budget', () => {
    const events = recorded('budget');
    assert.equal(
      last(events).at(-1)?.text,
      '[Ralph Fresh] The budget of $0.30 is used up ($0.31). Raise the limit with --budget and run with --resume.',
    );
    assert.equal(
      last(events, 'window').at(-1)?.text,
      '[Ralph Fresh] The budget of $0.30 is used up ($0.31). Start again for another run with the same limit, or change ralphFresh.budgetUsd first.',
    );
  });

  test('has a sentence for every outcome, in terminal and window', () => {
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

  test('has a word for every outcome of an iteration', () => {
    for (const outcome of ITERATION_OUTCOMES) {
      const ended = recorded('severalStories', { type: 'iteration.ended' });
      const told = textOf(withLast(ended, { outcome }));
      assert.match(told, /Iteration 1: [a-z ]+ · 1\.0 s · 1 commit/, outcome);
    }
  });
});

describe('waiting', () => {
  const now = Date.parse('2026-01-01T10:00:05.000Z');

  test('a usage limit shows when it ends and how to continue now', () => {
    const waits = recorded('limitKnown', { type: 'limit.waiting' });
    const until = Date.parse('2026-01-01T11:00:05.000Z');
    assert.equal(
      textOf(waits).split('\n')[0],
      `[Ralph Fresh] Usage limit reached; continues at ${clock(until, now, english)} (in 1 h). "ralph-fresh resume" tries again now.`,
    );
  });

  test('its countdown appears at round times, not every minute', () => {
    // Nobody waits two hours for a recording: the event of each minute is made from the first one.
    const waits = recorded('limitKnown', { type: 'limit.waiting' });
    const [first] = waits.slice(-1);
    assert.ok(first);
    const told = Array.from({ length: 125 }, (_, index) => {
      const begun = withLast(waits, { remainingMs: 7_500_000 });
      const later = {
        ...first,
        seq: first.seq + 1,
        remainingMs: 7_500_000 - index * 60_000,
      } as RunEvent;
      return last([...begun, later]);
    }).filter(({ length }) => length > 0);
    assert.ok(told.length > 3 && told.length < 15, String(told.length));
  });

  test('a time on another day has its date', () => {
    assert.match(clock(now + 48 * 3_600_000, now, english), /^2026-01-0\d \d\d:\d\d$/);
    assert.match(clock(now + 1_000, now, english), /^\d\d:\d\d$/);
  });

  test('durations have two units', () => {
    const minute = 60_000;
    assert.deepEqual(
      [0, 1, 59 * minute, 60 * minute, 125 * minute, 49 * 60 * minute].map(ms => span(ms, english)),
      ['0 min', '1 min', '59 min', '1 h', '2 h 5 min', '2 d 1 h'],
    );
    assert.equal(span(-5, english), '0 min');
  });

  test('a question is shown with the way to answer it', () => {
    assert.equal(
      text('questionWaits', { type: 'pause.started' }),
      '[Ralph Fresh] The agent of US-001 asks: Blue or green? Answer with: ralph-fresh answer "…" --story US-001',
    );
  });

  test('terminal and window each get only their own commands', () => {
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
  const called = (id: string): EventMatch => ({ type: 'agent.tool', id });
  const answered = (id: string): EventMatch => ({ type: 'agent.toolResult', id });
  const failed = (id: string): EventMatch => ({ type: 'agent.toolFailed', id });

  test('a call is shown with its summary, its result below it, and a count of the other lines', () => {
    assert.equal(text('tools', called('edit')), '● Edit(src/todo.js)');
    assert.equal(text('tools', called('think')), '● Think');
    assert.deepEqual(last(recorded('tools', answered('test')), 'window'), [
      { style: 'dim', text: '  └  one' },
      { style: 'dim', text: '       two' },
      { style: 'dim', text: '     three' },
      { style: 'dim', text: '     … 37 more lines (transcript of iteration 1)' },
    ]);
    assert.match(text('tools', answered('test')), /… 37 more lines$/);
  });

  test('only the length of a file read is shown', () => {
    assert.equal(text('tools', answered('read')), '  └  Read 12 lines');
    assert.equal(text('tools', answered('readOne')), '  └  Read 1 line');
  });

  test('a failure is red with its first lines', () => {
    assert.deepEqual(last(recorded('tools', failed('fails'))), [
      { style: 'error', text: '  └  no such file' },
    ]);
    const [first, second, third, more] = last(recorded('tools', failed('failsMore')));
    assert.deepEqual(first, { style: 'error', text: '  └  no' });
    assert.deepEqual(second, { style: 'error', text: '     such' });
    assert.deepEqual(third, { style: 'error', text: '     file' });
    assert.equal(more?.text, '     … 2 more lines');
    const one = withLast(recorded('tools', failed('failsMore')), { lines: 4 });
    assert.equal(last(one).at(-1)?.text, '     … 1 more line');
  });

  test('a result that is not directly below its call names the call', () => {
    assert.equal(text('tools', answered('first')), '  └  Bash: ok');
    assert.equal(text('tools', answered('second')), '  └  ok');
    assert.equal(text('tools', answered('unknown')), '  └  ok');
  });

  test('terminal control characters are removed', () => {
    const hostile = recorded('tools', answered('hostile'));
    assert.equal(textOf(hostile), '  └  x');
    // A loop takes it out before it writes it; a journal may be of another one.
    const head = '\x1b[2J\x1b]8;;file:///etc\x07x\u202e';
    assert.equal(textOf(withLast(hostile, { head })), '  └  x');
  });
});

test('a story skipped by a person is followed by the command to undo it', () => {
  assert.match(
    text('skip', { type: 'story.skipped' }),
    /US-001 is skipped; "ralph-fresh skip US-001 --undo"/,
  );
});

describe('a stop request', () => {
  test('after the iteration: the window shows how to stop at once', () => {
    const stop = recorded('stoppedAfterIteration', { type: 'stop.requested' });
    assert.match(last(stop, 'window')[0]?.text ?? '', /Ctrl-C again stops now\.$/);
    assert.doesNotMatch(textOf(stop), /Ctrl-C/);
    assert.match(
      text('lastWindowClosed', { type: 'stop.requested' }),
      /The last window was closed\./,
    );
  });
});

describe('the gate', () => {
  const checked = (iteration: number) =>
    recorded('checkOutput', { type: 'check.ended', iteration });

  test('a failed check is red, and only the end of its output is shown, dimmed', () => {
    const [why, more, ...output] = last(checked(1));
    assert.deepEqual(why, { style: 'error', text: '  └  failed (exit code 1) · 1.0 s' });
    assert.equal(more?.text, '     … 280 lines before');
    assert.equal(output.length, 20);
    assert.ok(output.every(({ style }) => style === 'dim'));
    assert.equal(output.at(-1)?.text, '     line 299');
  });

  test('a line without end is cut, and terminal control characters are removed', () => {
    const events = checked(2);
    const check = events.at(-1);
    assert.ok(check?.type === 'check.ended' && check.outputTail.includes('\x1b]0;title\x07'));
    const [, line] = last(events);
    assert.match(line?.text ?? '', /^ {5}x+…$/);
    assert.ok((line?.text.length ?? 0) < 600);
  });

  test('a passed check is one line', () => {
    assert.deepEqual(last(checked(3)), [{ style: 'success', text: '  └  passed · 1.0 s' }]);
  });

  test('a story set back to not done shows who did it', () => {
    const back = { type: 'story.changed', done: false } as const;
    assert.match(text('firstCheckRed', back), /US-001 was set back to not done: its checks failed/);
    assert.match(text('review', back), /the reviewer objects/);
    // No loop of today says it so, but the journal's format knows it.
    const byGuard = withLast(recorded('review', back), { by: 'guard' });
    assert.match(textOf(byGuard), /was not working on it/);
  });

  test('findings of the guard are described, even those of a newer loop', () => {
    const found = { type: 'guard.found', iteration: 1 } as const;
    const told = text('guardTicks', found);
    assert.match(told, /this was reverted:\n {2}- US-003: removed\n {2}- US-002: marked done\n/);
    assert.match(told, /kept in \.omc\/state\/runs\/r1\/iterations\/1\/story-file-after$/m);
    assert.match(
      text('guardTicks', { type: 'guard.found', iteration: 2 }),
      /this was reverted:\n {2}- the story file was removed$/,
    );
    const newer = withLast(recorded('guardTicks', found), {
      changes: [{ kind: 'parked', storyId: 'US-003' }, { kind: 'somethingNew' }],
    });
    assert.match(textOf(newer), /- US-003: put aside\n {2}- somethingNew\n/);
  });

  test('an unchecked claim is not called done', () => {
    const claim = { type: 'story.changed', done: true } as const;
    assert.match(text('severalStories', claim), /US-001 is done$/);
    assert.match(text('twoChecksGreen', claim), /is marked done by its agent$/);
    assert.match(text('review', claim), /is marked done by its agent$/);
  });

  test('only the first of many objections are shown', () => {
    const told = last(recorded('manyObjections', { type: 'review.ended' }));
    assert.equal(told.length, 12);
    assert.equal(told[1]?.text, '  - 0 second line');
    assert.match(told.at(-1)?.text ?? '', /^ {2}… 1\d more$/);
  });

  test('an objection of several lines becomes one line', () => {
    // The loop makes one line of it; a journal may be of another one.
    const [, objection] = last(
      withLast(recorded('manyObjections', { type: 'review.ended' }), {
        objections: ['first\nsecond line'],
      }),
    );
    assert.equal(objection?.text, '  - first second line');
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

describe('what was not kept whole', () => {
  test('names the next step', () => {
    const refused = text('guard', { type: 'guard.found' });
    assert.match(refused, /is kept in \S+\n.*Copy what you want of it into the story file/);
    const events = recorded('lanes', { type: 'work.kept' });
    const kept = textOf(withLast(events, { problem: { key: 'no space' } }));
    assert.match(
      kept,
      /^.*Not all work on \S+ could be kept: no space\n.*: ralph-fresh places\. Copy/,
    );
  });
});

test('a duration that nobody knows is not told as 0.0 s', () => {
  const events = recorded('killedAndResumed', { type: 'iteration.ended' });
  assert.match(textOf(events), /Iteration \d+: [^·]+ · [\d.]+ s · /);
  assert.match(textOf(withLast(events, { durationMs: 0 })), /Iteration \d+: [^·]+ · \d+ commit/);
});
