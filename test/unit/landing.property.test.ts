import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RETURN_REASONS } from '../../src/orchestrator/journal/eventCodes.ts';
import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { decide } from '../../src/orchestrator/loop/policy.ts';
import { DEFAULT_CONFIG } from '../../src/orchestrator/settings/config.ts';
import { runStarted } from '../support/runEvents.ts';
import { aStory } from '../support/storyList.ts';

const IDS = ['S1', 'S2', 'S3'];
const storyId = fc.constantFrom(...IDS);
const iteration = fc.integer({ min: 1, max: 6 });
const about = { iteration, storyId };
const hash = fc.constantFrom('a', 'b', 'c');
const stories = { done: 0, total: IDS.length };

/** What the queue and its agents write, in whatever order. */
const events = fc.array(
  fc.oneof(
    fc.record({
      ...{ type: fc.constant('iteration.started'), ...about, lane: iteration },
      ...{ maxIterations: fc.constant(50), stories: fc.constant(stories) },
      ...{ promptBytes: fc.constant(1), handoffBytes: fc.constant(1), stuckFor: fc.constant(0) },
    }),
    fc.record({
      ...{ type: fc.constant('work.kept'), ...about, base: hash, head: hash },
      commits: fc.nat(2),
    }),
    fc.record({ type: fc.constant('landing.queued'), ...about, base: hash, head: hash }),
    fc.record({ type: fc.constant('landing.candidate'), ...about, commit: hash, onto: hash }),
    fc.record({ type: fc.constant('landing.landed'), ...about, commit: hash, onto: hash }),
    fc.record({
      ...{ type: fc.constant('landing.returned'), ...about, base: hash, head: hash, onto: hash },
      reason: fc.constantFrom(...RETURN_REASONS),
    }),
    fc.record({
      ...{ type: fc.constant('iteration.ended'), ...about },
      outcome: fc.constantFrom('storyDone', 'rejected', 'progress', 'stopped'),
      ...{ durationMs: fc.constant(1), commits: fc.nat(1), stories: fc.constant(stories) },
    }),
    fc.record({ type: fc.constant('gate.ended'), ...about, green: fc.boolean() }),
    fc.constant({ type: 'run.ended', outcome: 'stopped', exitCode: 130, stories, iterations: 1 }),
  ),
  { maxLength: 40 },
) as fc.Arbitrary<RunEventBody[]>;

const journalOf = (bodies: readonly RunEventBody[]): RunEvent[] =>
  [runStarted({ lanes: 3, isolated: true, stories }), ...bodies].map(
    (body, index) => ({ ...body, seq: index + 1, at: '2026-01-01T00:00:00Z' }) as RunEvent,
  );

describe('for any events of agents and the queue', () => {
  test('the journal can be folded, and a landed story is never started again', () => {
    fc.assert(
      fc.property(events, bodies => {
        const state = foldRun(journalOf(bodies));
        const landed = bodies.flatMap(body =>
          body.type === 'landing.landed' ? [body.storyId] : [],
        );
        for (const id of landed) {
          assert.equal(state.storyRecords.get(id)?.landed, true);
        }
        const decision = decide({
          state: { ...state, running: [], phase: 'running', iteration: 6 },
          // The file could not be ticked, or is that of another branch.
          stories: IDS.map(id => aStory({ id, done: false })),
          config: { ...DEFAULT_CONFIG, maxIterations: 50 },
          stopRequested: false,
          freeLanes: 3,
        });
        const started =
          decision.kind === 'start' ? decision.starts.flatMap(start => start.story?.id ?? []) : [];
        assert.deepEqual(
          started.filter(id => landed.includes(id)),
          [],
        );
      }),
      { numRuns: 1_000 },
    );
  });
});
