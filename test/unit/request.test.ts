import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { applyEvent } from '../../src/orchestrator/journal/foldRun.ts';
import { INITIAL_RUN_STATE, type RunState } from '../../src/orchestrator/journal/runState.ts';
import { eventsOfRequest } from '../../src/orchestrator/workspace/request.ts';

const at = '2026-01-01T00:00:00.000Z';

/** The state in an iteration, with a question if there is one. */
function state({ storyId, question }: { storyId?: string; question?: string } = {}): RunState {
  const stories = { done: 0, total: 2 };
  const events: RunEvent[] = [
    {
      ...{ seq: 1, at, type: 'iteration.started', iteration: 1, maxIterations: 20, stories },
      ...{ promptBytes: 0, handoffBytes: 0, stuckFor: 0 },
      ...(storyId === undefined ? {} : { storyId, storyTitle: 'A title' }),
    },
    ...(question === undefined
      ? []
      : [
          {
            ...{ seq: 2, at, type: 'promise.seen' as const, iteration: 1 },
            ...{ signal: 'needsHuman' as const, message: question, accepted: true },
          },
        ]),
  ];
  return events.reduce(applyEvent, INITIAL_RUN_STATE);
}

describe('the journal events of a request', () => {
  test('a tick, a pause, a reset', () => {
    assert.deepEqual(
      [
        eventsOfRequest({ type: 'tick', storyId: 'A', done: false }, state()),
        eventsOfRequest({ type: 'pause' }, state()),
        eventsOfRequest({ type: 'reset', storyId: 'A' }, state()),
      ],
      [
        [{ type: 'story.ticked', storyId: 'A', done: false }],
        [{ type: 'pause.requested' }],
        [{ type: 'story.reset', storyId: 'A' }],
      ],
    );
  });

  test('a skip applies to the named story, otherwise to the current one', () => {
    const current = state({ storyId: 'A' });
    assert.deepEqual(eventsOfRequest({ type: 'skip', storyId: 'B' }, current), [
      { type: 'story.skipped', storyId: 'B', by: 'person' },
    ]);
    assert.deepEqual(eventsOfRequest({ type: 'skip' }, current), [
      { type: 'story.skipped', storyId: 'A', by: 'person' },
    ]);
    assert.deepEqual(eventsOfRequest({ type: 'skip' }, state()), []);
    assert.deepEqual(eventsOfRequest({ type: 'skip' }, INITIAL_RUN_STATE), []);
  });

  test('a hint is for all agents, or for those of one story', () => {
    assert.deepEqual(eventsOfRequest({ type: 'hint', text: 'Use tabs' }, state()), [
      { type: 'hint.given', text: 'Use tabs' },
    ]);
    assert.deepEqual(eventsOfRequest({ type: 'hint', text: 'x', storyId: 'B' }, state()), [
      { type: 'hint.given', text: 'x', storyId: 'B' },
    ]);
  });

  test('an answer is recorded with its question', () => {
    const asked = state({ storyId: 'A', question: 'Blue or green?' });
    const events = eventsOfRequest({ type: 'answer', text: 'Blue' }, asked);
    assert.deepEqual(events, [
      { type: 'question.answered', question: 'Blue or green?', answer: 'Blue', storyId: 'A' },
    ]);
    assert.deepEqual(
      eventsOfRequest({ type: 'answer', text: 'Blue' }, state({ question: 'Blue or green?' })),
      [{ type: 'question.answered', question: 'Blue or green?', answer: 'Blue' }],
    );
  });

  test('an answer to a question that is no longer open is delivered as a hint', () => {
    assert.deepEqual(eventsOfRequest({ type: 'answer', text: 'Blue' }, state({ storyId: 'A' })), [
      { type: 'hint.given', text: 'Blue' },
    ]);
  });

  test('stop and resume write no events', () => {
    assert.deepEqual(eventsOfRequest({ type: 'resume' }, state()), []);
    assert.deepEqual(eventsOfRequest({ type: 'stop', mode: 'end' }, state()), []);
  });
});
