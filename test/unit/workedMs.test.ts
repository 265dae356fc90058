import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { workedMs } from '../../src/orchestrator/journal/workedMs.ts';

/** @param minutes since ten o'clock */
function at(minutes: number, event: Record<string, unknown>): RunEvent {
  const time = new Date(Date.UTC(2026, 0, 1, 10, minutes)).toISOString();
  return { seq: minutes + 1, at: time, ...event } as unknown as RunEvent;
}

const MINUTE = 60_000;
const began = at(0, { type: 'iteration.started', iteration: 2 });
const agent = at(1, { type: 'agent.started', iteration: 2 });

test('a stopped iteration has worked until its agent was ended', () => {
  const ended = at(5, { type: 'agent.ended', iteration: 2, durationMs: 4 * MINUTE });
  const later = [at(6, { type: 'run.ended' }), at(50, { type: 'work.kept', iteration: 2 })];
  assert.equal(workedMs([began, agent, ended, ...later], 2), 5 * MINUTE);
});

test('events written hours after a kill do not make an iteration longer', () => {
  const closed = [
    at(55, { type: 'agent.ended', iteration: 2, durationMs: 3 * MINUTE }),
    at(56, { type: 'commit.recorded', iteration: 2 }),
    at(57, { type: 'run.ended' }),
  ];
  const other = at(9, { type: 'check.started', iteration: 1 });
  assert.equal(workedMs([began, agent, other, ...closed], 2), 4 * MINUTE);
});

test('nothing is known about an iteration that is not in the journal', () => {
  assert.equal(workedMs([], 2), 0);
  assert.equal(workedMs([began], 3), 0);
});
