import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { say } from '../../src/base/say.ts';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import {
  type IterationReason,
  iterationRows,
} from '../../src/orchestrator/journal/iterationRows.ts';
import { type EventMatch, recorded } from '../support/recordedJournals.ts';
import { sameValue } from '../support/sameValue.ts';

const begun = (iteration: number): EventMatch => ({ type: 'iteration.started', iteration });

/** Of a loop that lives, unless said otherwise. */
function rowsOf(name: string, until?: EventMatch, alive = true) {
  return iterationRows(recorded(name, until), { alive });
}

describe('iterationRows', () => {
  it('marks an estimated cost', () => {
    sameValue(
      rowsOf('stopped').map(({ costEstimated, costUsd }) => [costUsd, costEstimated]),
      [
        [0.25, undefined],
        [0.5, true],
      ],
    );
  });

  it('knows no duration of an iteration that was interrupted before anything was recorded', () => {
    const events = recorded('stopped').map(event =>
      event.type === 'iteration.ended' ? { ...event, durationMs: 0 } : event,
    );
    const durations = iterationRows(events, { alive: false }).map(row => row.durationMs);
    sameValue(durations, [undefined, undefined]);
  });

  it('shows the result of each iteration', () => {
    const events = recorded('maxIterations', begun(3));
    const hashes = events.flatMap(event => (event.type === 'commit.recorded' ? [event.hash] : []));
    assert.equal(hashes.length, 3);
    sameValue(iterationRows(events, { alive: true }), [
      {
        number: 1,
        storyId: 'US-001',
        storyTitle: 'Story number 1',
        outcome: 'storyDone',
        startedAt: '2026-01-01T10:00:01.000Z',
        durationMs: 1_000,
        costUsd: 0.25,
        commits: [{ hash: hashes[0], subject: 'feat: US-001' }],
      },
      {
        number: 2,
        storyId: 'US-002',
        storyTitle: 'Story number 2',
        outcome: 'storyDone',
        startedAt: '2026-01-01T10:00:10.000Z',
        durationMs: 1_000,
        costUsd: 0.5,
        commits: [
          { hash: hashes[1], subject: 'test: US-002' },
          { hash: hashes[2], subject: 'feat: US-002' },
        ],
      },
      {
        number: 3,
        storyId: 'US-003',
        storyTitle: 'Story number 3',
        outcome: 'running',
        startedAt: '2026-01-01T10:00:18.000Z',
        commits: [],
      },
    ]);
  });

  it('omits unknown values: the story of a free task, the cost', () => {
    const [row] = rowsOf('freeTask', { type: 'iteration.ended', iteration: 1 });
    assert.ok(row);
    const known = Object.entries(row).filter(([, value]) => value !== undefined);
    sameValue(known.map(([name]) => name).sort(), [
      'commits',
      'durationMs',
      'number',
      'outcome',
      'startedAt',
    ]);
  });

  it('shows the iteration of a killed loop as interrupted', () => {
    assert.equal(rowsOf('severalStories', begun(1), false)[0]?.outcome, 'interrupted');
  });

  it('shows an iteration without an end as interrupted if the run has ended or continued', () => {
    assert.equal(rowsOf('stoppedInCheck')[0]?.outcome, 'interrupted');
    // A loop of today judges what was cut off before it continues; a journal may have lost that event.
    const goneOn = recorded('killedAndResumed', begun(3)).filter(
      event => !(event.type === 'iteration.ended' && event.iteration === 2),
    );
    sameValue(
      iterationRows(goneOn, { alive: true }).map(row => row.outcome),
      ['storyDone', 'interrupted', 'running'],
    );
  });

  it('shows two running iterations in a run with two lanes', () => {
    // No run has several lanes yet: one of today, in which the first iteration continues while the second begins.
    const events = recorded('severalStories', begun(2))
      .filter(({ type }) => type !== 'iteration.ended')
      .map(event =>
        event.type === 'run.started' ? { ...event, lanes: 2, isolated: true } : event,
      );
    sameValue(
      iterationRows(events, { alive: true }).map(({ outcome }) => outcome),
      ['running', 'running'],
    );
  });

  it('returns the reason as data', () => {
    const first = (name: string) => rowsOf(name, { type: 'iteration.ended', iteration: 1 })[0];
    const reasons: Readonly<Record<string, IterationReason | undefined>> = {
      timeLimit: { kind: 'hardLimit' },
      notStarted: {
        kind: 'notStarted',
        message: say(
          'The program that the first line of {0} names (after "#!") was not found. Correct that line; its end must not be a Windows line break.',
          '/home/person/notes/agent',
        ),
      },
      exitCode: { kind: 'error', message: 'Out of order', exit: 3 },
      failed: { kind: 'error', message: 'prompt is too long' },
      blocked: { kind: 'blocked', message: 'No key' },
      question: { kind: 'needsHuman', message: 'Blue or green?' },
      refusedPromise: { kind: 'refusedPromise' },
      twoChecksGreen: undefined,
    };
    for (const [name, reason] of Object.entries(reasons)) {
      sameValue(first(name)?.reason, reason, name);
    }
  });

  it('drops the failure of a call, or of a reviewer, if the next call succeeds', () => {
    for (const name of ['retry', 'reviewRetried']) {
      const events = recorded(name);
      assert.ok(events.some(event => event.type === 'agent.ended' && event.error !== undefined));
      const [row] = iterationRows(events, { alive: false });
      sameValue([row?.outcome, row?.reason], ['storyDone', undefined], name);
    }
  });

  it('resumes the interrupted iteration when the run is resumed', () => {
    const outcomes = (until?: EventMatch) =>
      rowsOf('checkedAgain', until).map(({ outcome }) => outcome);
    sameValue(outcomes({ type: 'run.ended', outcome: 'stopped' }), ['interrupted']);
    sameValue(outcomes({ type: 'run.resumed' }), ['running']);
    sameValue(outcomes(), ['storyDone']);
  });

  it('ignores events that are repeated or belong to no iteration', () => {
    const events = recorded('severalStories');
    // Of a damaged journal: they tell of iterations that it does not have.
    const strays = events
      .filter(({ type }) => type === 'commit.recorded' || type === 'iteration.ended')
      .map((event, index) => ({ ...event, iteration: 9, seq: 1_000 + index }) as RunEvent);
    assert.ok(strays.length > 3);
    sameValue(
      iterationRows([...events, ...events, ...strays], { alive: true }),
      iterationRows(events, { alive: true }),
    );
  });

  it('is empty without iterations', () => {
    sameValue(iterationRows([], { alive: false }), []);
    sameValue(rowsOf('severalStories', { type: 'run.started' }), []);
  });
});
