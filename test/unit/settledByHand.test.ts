import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { iterationRows } from '../../src/orchestrator/journal/iterationRows.ts';
import { storyNotes, storyRecord } from '../../src/orchestrator/journal/runState.ts';
import { leftAlone } from '../../src/orchestrator/run/storiesLeft.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { eventsOfRequest } from '../../src/orchestrator/workspace/request.ts';
import { iterationEnded, iterationStarted, journalOf, runStarted } from '../support/runEvents.ts';
import { sameValue } from '../support/sameValue.ts';

const [base, head, onto, result] = ['a', 'b', 'c', 'd'].map(digit => digit.repeat(40)) as [
  string,
  string,
  string,
  string,
];
const storyId = 'US-002';
const stories = { done: 0, total: 1 };
const of = { iteration: 2, storyId };

/** An iteration whose work has a conflict. */
const CONFLICT: readonly RunEventBody[] = [
  { ...runStarted({ stories }), isolated: true, lanes: 2 },
  iterationStarted({ ...of, stories }),
  { type: 'landing.queued', ...of, base, head },
  { type: 'landing.returned', ...of, reason: 'conflict', base, head, onto, files: ['a.txt'] },
  iterationEnded({ ...of, outcome: 'rejected', stories, durationMs: 5_000, costUsd: 0.5 }),
];
const SETTLING: RunEventBody = { type: 'story.settling', storyId, settling: true };
const settled: RunEventBody = {
  ...{ type: 'landing.queued', ...of, base, head: result, by: 'person' },
};
const END: RunEventBody = {
  ...{ type: 'run.ended', outcome: 'stopped', exitCode: 130, stories, iterations: 2 },
};
const state = (...more: readonly RunEventBody[]) => foldRun(journalOf([...CONFLICT, ...more]));

describe('a conflict settled by a person', () => {
  test('can be started only where there is a conflict, and landed only if it was started', () => {
    const settle = { type: 'settle', storyId, settling: true } as const;
    const land = { type: 'land', storyId, head: result } as const;
    const refused = [{ type: 'story.settling', storyId, settling: false }];
    sameValue(eventsOfRequest(settle, state()), [{ ...SETTLING, iteration: 2 }]);
    sameValue(eventsOfRequest({ ...settle, storyId: 'US-001' }, state()), [
      { ...refused[0], storyId: 'US-001' },
    ]);
    sameValue(eventsOfRequest(land, state()), refused);
    sameValue(eventsOfRequest(land, state(SETTLING)), [settled]);
    sameValue(eventsOfRequest(land, state(SETTLING, settled)), refused, 'once');
    sameValue(eventsOfRequest(settle, state(SETTLING, settled)), refused, 'it is landing');
  });

  test('keeps the story from agents, whatever the ended agent left behind', () => {
    const kept: RunEventBody = {
      ...{ type: 'work.kept', iteration: 3, storyId, base: onto, head: base, commits: 1 },
    };
    const now = state(SETTLING, kept);
    assert.equal(storyNotes(now, storyId).conflict, undefined);
    assert.equal(storyNotes(now, storyId).settling?.head, head);
    const alone = (of: typeof now) =>
      leftAlone({
        ...{ state: of, config: { failThreshold: 3 } },
        stories: [{ id: storyId, done: false } as Story],
      }).has(storyId);
    const over: readonly RunEventBody[] = [
      { type: 'story.settling', storyId, settling: false },
      { type: 'story.ticked', storyId, done: true },
      { type: 'story.changed', storyId, done: true, by: 'outside' },
      settled,
    ];
    sameValue([alone(state()), alone(now)], [false, true]);
    sameValue(
      over.map(event => alone(state(SETTLING, event))),
      over.map(() => false),
    );
  });

  test('waits to land as its iteration, even after the end of the run, without counting as an attempt', () => {
    const active = state(SETTLING, settled);
    sameValue(
      active.running.map(({ kept, number, queued, step }) => [number, queued, step, kept?.head]),
      [[2, true, 'queue', result]],
    );
    const later = state(SETTLING, END, settled);
    sameValue([later.running, later.cutOff.map(({ number }) => number)], [[], [2]]);
    const again = iterationEnded({ ...of, outcome: 'rejected', stories, durationMs: 0 });
    const before = storyRecord(active, storyId);
    const after = storyRecord(state(SETTLING, settled, again), storyId);
    sameValue(
      [after.failures, after.iterations, after.costUsd],
      [before.failures, before.iterations, before.costUsd],
    );
  });

  test("is the final outcome of the iteration, with its agent's time and cost", () => {
    const done = iterationEnded({ ...of, outcome: 'storyDone', stories, durationMs: 0 });
    const [row] = iterationRows(journalOf([...CONFLICT, SETTLING, settled, done]), { alive: true });
    sameValue(
      [row?.outcome, row?.durationMs, row?.costUsd, row?.returned, row?.reason, row?.settled],
      ['storyDone', 5_000, 0.5, undefined, undefined, true],
    );
    const [landing] = iterationRows(journalOf([...CONFLICT, SETTLING, settled]), { alive: true });
    sameValue([landing?.outcome, landing?.isLanding], ['running', true]);
  });

  test('is not continued by an agent if its result is missing', () => {
    const gone: RunEventBody = {
      ...{ type: 'landing.returned', ...of, reason: 'gone', base, head: result, onto },
    };
    assert.equal(storyNotes(state(SETTLING, settled), storyId).kept?.head, result);
    assert.equal(storyNotes(state(SETTLING, settled, gone), storyId).kept, undefined);
  });
});
