import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { accountState } from '../../src/orchestrator/journal/accountState.ts';
import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { type LaneWork, laneHistory } from '../../src/orchestrator/journal/laneHistory.ts';
import { queueWords } from '../../src/presentation/queueWords.ts';
import { english } from '../../src/presentation/translate.ts';
import { recorded, recordedLong, recordedNames } from '../support/recordedJournals.ts';
import { iterationEnded, iterationStarted, journalOf, runStarted } from '../support/runEvents.ts';

const BEGIN = Date.parse('2026-01-01T10:00:00.000Z');
const stories = { done: 0, total: 9 };
const landing = { base: 'b', head: 'h' };

/** Events, one second after the other. */
const seconds = (...bodies: readonly RunEventBody[]): RunEvent[] =>
  journalOf([runStarted({ stories, isolated: true, lanes: 3 }), ...bodies], index =>
    new Date(BEGIN + index * 1_000).toISOString(),
  );
const begun = (iteration: number, lane: number) =>
  iterationStarted({ iteration, lane, storyId: `US-${iteration}`, stories });
const queued = (iteration: number): RunEventBody => ({
  ...{ type: 'landing.queued', iteration, storyId: `US-${iteration}`, ...landing },
});
const candidate = (iteration: number, commit: string, onto: string): RunEventBody => ({
  ...{ type: 'landing.candidate', iteration, storyId: `US-${iteration}`, commit, onto },
});
const landed = (iteration: number): RunEventBody => ({
  ...{ type: 'landing.landed', iteration, storyId: `US-${iteration}`, onto: 'x' },
});
const second = (at: number | undefined) => (at === undefined ? undefined : (at - BEGIN) / 1_000);
const words = (events: readonly RunEvent[]) => {
  const { queue } = laneHistory(events);
  return queue.map(({ work }) => `${work.storyId} ${queueWords(queue, work.iteration, english)}`);
};

describe('the lane history', () => {
  test('shows work as it begins, waits for a limit, waits to land, is checked and lands', () => {
    const events = seconds(
      begun(1, 1),
      {
        ...{ type: 'limit.waiting', iteration: 1, until: '', remainingMs: 1, known: false },
        message: 'Limit',
      },
      {
        ...{ type: 'limit.waiting', iteration: 1, until: '', remainingMs: 0, known: false },
        message: 'Limit',
      },
      { type: 'limit.ended', iteration: 1, by: 'time' },
      { type: 'work.kept', iteration: 1, commits: 1 },
      queued(1),
      candidate(1, 'c1', 'x'),
      landed(1),
      iterationEnded({ iteration: 1, outcome: 'storyDone', stories }),
    );
    const [work] = laneHistory(events).works;
    assert.deepEqual(
      [work?.from, work?.to, work?.queuedAt, work?.landedAt].map(second),
      [1, 5, 6, 8],
    );
    const stretches = (found: LaneWork['limits'] = []) =>
      found.map(({ from, to }) => [second(from), second(to)]);
    assert.deepEqual(stretches(work?.limits), [[2, 4]]);
    assert.deepEqual(stretches(work?.landings), [[7, 8]]);
  });

  test('is empty without lanes', () => {
    for (const name of recordedNames().filter(name => !name.startsWith('lanes'))) {
      assert.deepEqual(laneHistory(recorded(name)).works, [], name);
    }
  });

  test('returns a conflict without having checked it', () => {
    const { queue, works } = laneHistory(recorded('lanes'));
    assert.deepEqual(
      works.map(({ landedAt, lane, returned }) => [
        lane,
        landedAt !== undefined,
        returned?.reason,
        returned?.files,
      ]),
      [
        [1, true, undefined, undefined],
        [2, false, 'conflict', ['shared.txt']],
        [1, true, undefined, undefined],
      ],
    );
    assert.deepEqual(queue, []);
  });

  test('shows no work while the loop is down, and ends work it interrupted', () => {
    const events = [
      ...seconds(begun(1, 1), begun(2, 2), queued(2), {
        ...{ type: 'run.ended', outcome: 'stopped', exitCode: 130, stories, iterations: 2 },
      }),
    ];
    const resumed: RunEvent = {
      ...{ seq: 100, at: new Date(BEGIN + 1_000_000).toISOString(), type: 'run.resumed' },
      ...{ version: '0', pid: 1, agent: 'claude', maxIterations: 9, stuckThreshold: 3 },
      ...{ stories, isolated: true },
    };
    const { breaks, queue, works } = laneHistory([...events, resumed]);
    assert.deepEqual(
      breaks.map(({ from, to }) => [second(from), second(to)]),
      [[4, 1_000]],
    );
    assert.deepEqual(
      works.map(({ to }) => second(to)),
      [4, 3],
    );
    assert.deepEqual(
      queue.map(({ work }) => work.iteration),
      [2],
    );
  });
});

describe('the landing queue', () => {
  const three = [begun(1, 1), begun(2, 2), begun(3, 3), queued(2), queued(1), queued(3)];

  test('is in the order in which agents finish, and says what each entry waits for', () => {
    assert.deepEqual(words(seconds(...three)), [
      'US-2 is next to land',
      'US-1 waits for US-2',
      'US-3 waits for US-2 and 1 more',
    ]);
    const checked = [...three, candidate(2, 'c2', 'x')];
    assert.deepEqual(words(seconds(...checked)), [
      'US-2 is being checked',
      'US-1 waits for US-2, which is being checked',
      'US-3 waits for US-2 and 1 more',
    ]);
    const review: RunEventBody = { type: 'agent.started', iteration: 2, purpose: 'review', pid: 1 };
    assert.equal(words(seconds(...checked, review))[0], 'US-2 is being reviewed');
    assert.deepEqual(words(seconds(...checked, landed(2), candidate(1, 'c1', 'c2'))), [
      'US-1 is being checked',
      'US-3 waits for US-1, which is being checked',
    ]);
  });

  test('checks only the half of a failed stack that is retried', () => {
    const stack = [candidate(2, 'c2', 'x'), candidate(1, 'c1', 'c2'), candidate(3, 'c3', 'c1')];
    assert.deepEqual(words(seconds(...three, ...stack)), [
      'US-2 is being checked together with US-1 and 1 more',
      'US-1 is being checked together with US-2 and 1 more',
      'US-3 is being checked together with US-2 and 1 more',
    ]);
    const red: RunEventBody = {
      ...{ type: 'stack.checked', commit: 'c3', storyIds: ['US-2', 'US-1', 'US-3'] },
      failed: { command: 'npm test', timedOut: false, durationMs: 1, outputTail: '' },
    };
    assert.equal(words(seconds(...three, ...stack, red))[0], 'US-2 is next to land');
    const again = [candidate(2, 'c2', 'x'), candidate(1, 'c1', 'c2')];
    assert.deepEqual(words(seconds(...three, ...stack, ...again)), [
      'US-2 is being checked together with US-1',
      'US-1 is being checked together with US-2',
      'US-3 waits for US-2 and 1 more',
    ]);
  });
});

describe('a real run of a hundred stories on sixteen lanes', () => {
  const events = recordedLong('manyLanes');

  test('no lane has two agents at once, and all work lands in queue order', () => {
    const { queue, works } = laneHistory(events);
    assert.equal(works.length, 107);
    assert.deepEqual(queue, []);
    assert.equal(new Set(works.map(({ lane }) => lane)).size, 16);
    for (const [index, work] of works.entries()) {
      const next = works.find((other, at) => at > index && other.lane === work.lane);
      assert.ok(work.to !== undefined && (next === undefined || next.from >= work.to));
    }
    const settledAt = ({ landedAt, returned }: LaneWork) => landedAt ?? returned?.at ?? 0;
    const inQueue = works.toSorted((a, b) => (a.queuedAt ?? 0) - (b.queuedAt ?? 0));
    assert.deepEqual(
      inQueue.map(({ iteration }) => iteration),
      works.toSorted((a, b) => settledAt(a) - settledAt(b)).map(({ iteration }) => iteration),
    );
    assert.equal(works.filter(({ returned }) => returned !== undefined).length, 7);
  });

  test('at most the first entry of the queue is checked at any time', () => {
    for (let end = 1; end <= events.length; end += 7) {
      const { queue } = laneHistory(events.slice(0, end));
      assert.ok(queue.every(({ isLanding }, index) => !isLanding || index === 0));
    }
  });

  test('missing, repeated or reordered events do no harm', () => {
    const shuffled = fc.shuffledSubarray([...events.slice(0, 400)], { minLength: 300 });
    fc.assert(
      fc.property(shuffled, some => {
        const renumbered = some.map((event, index) => ({ ...event, seq: index + 1 }));
        const { queue } = laneHistory([...renumbered, ...renumbered.slice(-9)]);
        assert.ok(accountState(renumbered).reservedUsd >= 0);
        assert.equal(new Set(queue.map(({ work }) => work.iteration)).size, queue.length);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the account state of a run', () => {
  const started = (iteration: number, budgetUsd?: number): RunEventBody => ({
    ...{ type: 'agent.started', iteration, pid: 1, budgetUsd },
  });
  const ended = (iteration: number): RunEventBody => ({
    ...{ type: 'agent.ended', iteration, reason: 'exited', durationMs: 1, leftovers: 0 },
  });
  const fewer = (lanes: number): RunEventBody => ({
    ...{ type: 'warning', code: 'fewerLanes', detail: `${lanes}` },
  });

  test('sums what open calls have reserved, even in a real run', () => {
    assert.equal(accountState(seconds(started(1, 4), started(2, 3))).reservedUsd, 7);
    assert.equal(accountState(seconds(started(1, 4), started(2, 3), ended(1))).reservedUsd, 3);
    assert.equal(accountState(seconds(started(1))).reservedUsd, 0);
    const open = recorded('budget', { type: 'agent.started', iteration: 1 });
    assert.equal(accountState(open).reservedUsd, 0.3);
    assert.equal(accountState(recorded('budget')).reservedUsd, 0);
  });

  test('reduces lanes while requests are rejected, and adds one for each successful call', () => {
    assert.equal(accountState(seconds()).mostLanes, undefined);
    assert.equal(accountState(seconds(fewer(1))).mostLanes, 1);
    assert.equal(accountState(seconds(fewer(1), ended(1))).mostLanes, 2);
    assert.equal(accountState(seconds(fewer(1), ended(1), ended(2))).mostLanes, undefined);
    assert.equal(
      accountState(seconds(fewer(2), { type: 'lanes.changed', lanes: 2 })).mostLanes,
      undefined,
    );
  });
});
