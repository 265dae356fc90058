import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { iterationRows } from '../../src/orchestrator/journal/iterationRows.ts';
import {
  AT,
  iterationEnded,
  iterationStarted,
  journalOf,
  runStarted,
} from '../support/runEvents.ts';

const stories = { done: 0, total: 3 };

function journal(...bodies: readonly RunEventBody[]): RunEvent[] {
  return journalOf(bodies);
}

const firstEvent = runStarted({ agent: 'demo', stories });

function started(iteration: number, storyId?: string): RunEventBody {
  return iterationStarted({
    iteration,
    ...(storyId !== undefined && { storyId, storyTitle: `Title of ${storyId}` }),
    stories,
  });
}

function agentEnded(
  iteration: number,
  fields: Partial<Extract<RunEventBody, { type: 'agent.ended' }>> = {},
): RunEventBody {
  return {
    type: 'agent.ended',
    iteration,
    reason: 'exited',
    exitCode: 0,
    durationMs: 1_000,
    leftovers: 0,
    ...fields,
  };
}

function ended(
  iteration: number,
  outcome: Extract<RunEventBody, { type: 'iteration.ended' }>['outcome'],
  costUsd?: number,
): RunEventBody {
  return iterationEnded({ iteration, outcome, ...(costUsd !== undefined && { costUsd }), stories });
}

function commit(iteration: number, hash: string): RunEventBody {
  return { type: 'commit.recorded', iteration, hash, subject: `Commit ${hash}` };
}

const runEnded: RunEventBody = {
  type: 'run.ended',
  outcome: 'stopped',
  exitCode: 130,
  stories,
  iterations: 1,
};

describe('iterationRows', () => {
  it('tells of a cost whether it is an estimate', () => {
    const estimated = iterationEnded({
      ...{ iteration: 2, outcome: 'stopped', stories },
      ...{ costUsd: 0.5, costEstimated: true },
    });
    const rows = iterationRows(
      journal(firstEvent, started(1), ended(1, 'progress', 0.25), started(2), estimated),
      { alive: true },
    );
    assert.deepEqual(
      rows.map(({ costEstimated, costUsd }) => [costUsd, costEstimated]),
      [
        [0.25, undefined],
        [0.5, true],
      ],
    );
  });

  it('tells of each iteration what came of it', () => {
    const rows = iterationRows(
      journal(
        firstEvent,
        started(1, 'US-001'),
        agentEnded(1),
        commit(1, 'a1'),
        commit(1, 'a2'),
        ended(1, 'storyDone', 0.25),
        started(2, 'US-002'),
      ),
      { alive: true },
    );
    assert.deepEqual(rows, [
      {
        number: 1,
        storyId: 'US-001',
        storyTitle: 'Title of US-001',
        outcome: 'storyDone',
        startedAt: AT,
        durationMs: 1_000,
        costUsd: 0.25,
        commits: [
          { hash: 'a1', subject: 'Commit a1' },
          { hash: 'a2', subject: 'Commit a2' },
        ],
      },
      {
        number: 2,
        storyId: 'US-002',
        storyTitle: 'Title of US-002',
        outcome: 'running',
        startedAt: AT,
        commits: [],
      },
    ]);
  });

  it('leaves out what is not known: story in a free task, cost', () => {
    const [row] = iterationRows(journal(firstEvent, started(1), ended(1, 'progress')), {
      alive: true,
    });
    assert.ok(row);
    assert.deepEqual(Object.keys(row).sort(), [
      'commits',
      'durationMs',
      'number',
      'outcome',
      'startedAt',
    ]);
  });

  it('calls the iteration of a dead loop interrupted', () => {
    const events = journal(firstEvent, started(1, 'US-001'));
    assert.equal(iterationRows(events, { alive: false })[0]?.outcome, 'interrupted');
  });

  it('calls an iteration without an end interrupted when the run has ended or gone on', () => {
    const beforeEnd = journal(firstEvent, started(1), runEnded);
    assert.equal(iterationRows(beforeEnd, { alive: true })[0]?.outcome, 'interrupted');
    const beforeNext = iterationRows(journal(firstEvent, started(1), started(2)), { alive: true });
    assert.deepEqual(
      beforeNext.map(row => row.outcome),
      ['interrupted', 'running'],
    );
  });

  it('shows two iterations under way where there are two lanes', () => {
    const events = journal({ ...firstEvent, lanes: 2 }, started(1, 'A'), started(2, 'B'));
    assert.deepEqual(
      iterationRows(events, { alive: true }).map(({ outcome }) => outcome),
      ['running', 'running'],
    );
  });

  it('gives the reason in data', () => {
    const error = { kind: 'other', message: 'Overloaded' };
    const reasons = iterationRows(
      journal(
        firstEvent,
        started(1),
        agentEnded(1, { reason: 'hardLimit', error: { kind: 'hardLimit', message: '' } }),
        started(2),
        agentEnded(2, { reason: 'notStarted', error: { kind: 'notStarted', message: 'ENOENT' } }),
        started(3),
        agentEnded(3, { exitCode: 1, error }),
        started(4),
        agentEnded(4, { error }),
        started(5),
        agentEnded(5),
        {
          type: 'promise.seen',
          iteration: 5,
          signal: 'blocked',
          message: 'No key',
          accepted: true,
        },
        started(6),
        agentEnded(6),
        { type: 'promise.seen', iteration: 6, signal: 'complete', message: '', accepted: false },
        started(7),
        agentEnded(7),
        { type: 'promise.seen', iteration: 7, signal: 'complete', message: '', accepted: true },
      ),
      { alive: true },
    ).map(row => row.reason);
    assert.deepEqual(reasons, [
      { kind: 'hardLimit' },
      { kind: 'notStarted', message: 'ENOENT' },
      { kind: 'error', message: 'Overloaded', exit: 1 },
      { kind: 'error', message: 'Overloaded' },
      { kind: 'blocked', message: 'No key' },
      { kind: 'refusedPromise' },
      undefined,
    ]);
  });

  it("forgets a call's failure when the next call went well, and a reviewer's", () => {
    const error = { kind: 'overloaded', message: 'Overloaded' };
    const [first, second] = iterationRows(
      journal(
        firstEvent,
        started(1),
        agentEnded(1, { exitCode: 1, error }),
        agentEnded(1),
        ended(1, 'progress'),
        started(2),
        agentEnded(2),
        agentEnded(2, { purpose: 'review', exitCode: 1, error }),
        ended(2, 'storyDone'),
      ),
      { alive: true },
    );
    assert.deepEqual([first?.reason, second?.reason], [undefined, undefined]);
  });

  it('goes on with the iteration that was cut off when the run is resumed', () => {
    const resumed: RunEventBody = {
      type: 'run.resumed',
      version: '0.2.0',
      pid: 2,
      agent: 'demo',
      maxIterations: 20,
      stuckThreshold: 3,
      stories,
    };
    const rows = iterationRows(
      journal(firstEvent, started(1), runEnded, resumed, ended(1, 'progress'), started(2)),
      { alive: true },
    );
    assert.deepEqual(
      rows.map(({ outcome }) => outcome),
      ['progress', 'running'],
    );
  });

  it('changes nothing for events that are repeated or belong to no iteration', () => {
    const events = journal(firstEvent, started(1, 'US-001'), commit(1, 'a1'), ended(1, 'progress'));
    const strays = [commit(8, 'b1'), ended(9, 'failed')].map(
      (body, index) => ({ ...body, seq: 10 + index, at: AT }) as RunEvent,
    );
    assert.deepEqual(
      iterationRows([...events, ...events, ...strays], { alive: true }),
      iterationRows(events, { alive: true }),
    );
  });

  it('has no rows without iterations', () => {
    assert.deepEqual(iterationRows([], { alive: false }), []);
    assert.deepEqual(iterationRows(journal(firstEvent), { alive: true }), []);
  });
});
