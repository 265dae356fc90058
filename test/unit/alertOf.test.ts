import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { alertOf, isPast } from '../../src/views/run/alertOf.ts';
import { journalOf, runStarted } from '../support/runEvents.ts';

const stories = { done: 0, total: 2 };
const started = runStarted({ runId: 'r', stories });
const iteration = (number: number, storyId: string, more: readonly RunEventBody[] = []) => [
  {
    ...{ type: 'iteration.started', iteration: number, maxIterations: 20, storyId, stories },
    ...{ promptBytes: 1, handoffBytes: 1, stuckFor: 0 },
  } as RunEventBody,
  ...more,
  {
    ...{ type: 'iteration.ended', iteration: number, storyId, outcome: 'noProgress' },
    ...{ durationMs: 1, commits: 0, progress: false, stories },
  } as RunEventBody,
];
const asks: RunEventBody = {
  ...{ type: 'promise.seen', iteration: 1, signal: 'needsHuman', message: 'Blue?', accepted: true },
};
const end = (outcome: 'stopped' | 'completed' | 'needsHuman'): RunEventBody => ({
  ...{ type: 'run.ended', outcome, exitCode: 0, stories, iterations: 1 },
});

function watched(alive: boolean, ...bodies: readonly RunEventBody[]) {
  const events = journalOf(bodies, index => `2026-03-01T12:00:0${index}.000Z`);
  return { runId: 'r', alive, state: foldRun(events) };
}

describe('alertOf', () => {
  test('says nothing while the run gets on, stops, or has been stopped', () => {
    assert.equal(alertOf(watched(true, started, ...iteration(1, 'S1'))), undefined);
    assert.equal(alertOf(watched(false, started, end('stopped'))), undefined);
    const stop: RunEventBody = { type: 'stop.requested', by: 'inbox', mode: 'end' };
    assert.equal(alertOf(watched(true, started, stop)), undefined);
  });

  test('a story that is stuck is told once when it is warned', () => {
    const three = [1, 2, 3].flatMap(n => iteration(n, 'S1'));
    const warned = alertOf(watched(true, started, ...three));
    assert.equal(warned?.kind === 'stuck' && warned.storyId, 'S1');
    assert.equal(warned?.kind === 'stuck' && warned.waits, false);
    const again = alertOf(watched(true, started, ...three, ...iteration(4, 'S1')));
    assert.equal(again?.cause, warned?.cause);
    const paused: RunEventBody = { type: 'pause.started', reason: 'stuck', storyId: 'S1' };
    const waits = alertOf(watched(true, started, ...three, ...iteration(4, 'S1'), paused));
    assert.equal(waits?.kind === 'stuck' && waits.waits, true);
    assert.notEqual(waits?.cause, warned?.cause);
    const skipped: RunEventBody = { type: 'story.skipped', storyId: 'S1', by: 'person' };
    assert.equal(alertOf(watched(true, started, ...three, skipped)), undefined);
  });

  test('a story that got on since, or was skipped, is past; one that is still stuck after the end is not', () => {
    const three = [1, 2, 3].flatMap(n => iteration(n, 'S1'));
    const stuck = alertOf(watched(true, started, ...three));
    assert.ok(stuck);
    const isPastIn = (alive: boolean, ...more: readonly RunEventBody[]) =>
      isPast(stuck, watched(alive, started, ...three, ...more), 'r');
    assert.equal(isPastIn(true), false);
    assert.equal(isPastIn(true, ...iteration(4, 'S2')), false);
    assert.equal(isPastIn(false, end('stopped')), false);
    const [begun, ended] = iteration(4, 'S1');
    assert.ok(begun && ended);
    const gotOn = { ...ended, outcome: 'progress', progress: true } as RunEventBody;
    assert.equal(isPastIn(true, begun, gotOn), true);
    assert.equal(isPastIn(true, { type: 'story.skipped', storyId: 'S1', by: 'person' }), true);
    assert.equal(isPast(stuck, watched(true, started, ...three), 'later'), true);
  });

  test('a question counts when the run waits or has ended for it, and until it is answered', () => {
    const asked = [started, ...iteration(1, 'S1', [asks])];
    assert.equal(alertOf(watched(true, ...asked)), undefined);
    const paused: RunEventBody = { type: 'pause.started', reason: 'question', detail: 'Blue?' };
    const waits = alertOf(watched(true, ...asked, paused));
    assert.deepEqual(waits, {
      ...{ kind: 'question', cause: 'question 1', iteration: 1, message: 'Blue?' },
      ...{ storyId: 'S1', ended: false },
    });
    const over = alertOf(watched(false, ...asked, end('needsHuman')));
    assert.equal(over?.kind === 'question' && over.ended, true);
    const answered: RunEventBody = { type: 'question.answered', question: 'Blue?', answer: 'Yes' };
    assert.equal(alertOf(watched(false, ...asked, end('needsHuman'), answered)), undefined);
  });

  test('an end is another one each time', () => {
    const done = alertOf(watched(false, started, end('completed')));
    assert.equal(done?.kind === 'ended' && done.outcome, 'completed');
    const later = alertOf(watched(false, started, asks, end('completed')));
    assert.notEqual(done?.cause, later?.cause);
    const killed = alertOf(watched(false, started));
    assert.equal(killed?.kind === 'ended' && killed.outcome, 'interrupted');
  });
});
