import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { alertsOf, asKnownNow, isPast } from '../../src/views/run/alertOf.ts';
import { type EventMatch, living, over, recorded } from '../support/recordedJournals.ts';

const ended = (iteration: number): EventMatch => ({ type: 'iteration.ended', iteration });
const pause: EventMatch = { type: 'pause.started' };

/** The most urgent one. */
const alertOf = (run: Parameters<typeof alertsOf>[0]) => alertsOf(run)[0];

describe('alertOf', () => {
  test('there is no alert while the run makes progress, stops, or has been stopped', () => {
    assert.equal(alertOf(living('stuck', ended(1))), undefined);
    assert.equal(alertOf(over('stopped')), undefined);
    assert.equal(alertOf(living('stopped', { type: 'stop.requested' })), undefined);
  });

  test('a stuck story raises one alert when its agent is warned', () => {
    const warned = alertOf(living('stuckAsks', ended(2)));
    assert.equal(warned?.kind === 'stuck' && warned.storyId, 'US-001');
    assert.equal(warned?.kind === 'stuck' && warned.waits, false);
    const again = alertOf(living('stuckAsks', ended(3)));
    assert.equal(again?.cause, warned?.cause);
    const waits = alertOf(living('stuckAsks', pause));
    assert.equal(waits?.kind === 'stuck' && waits.waits, true);
    assert.notEqual(waits?.cause, warned?.cause);
    assert.equal(alertOf(living('stuckAsks', { type: 'pause.ended' })), undefined);
    assert.equal(alertOf(living('stuckSkipped', { type: 'story.skipped' })), undefined);
  });

  test('a stuck alert expires when the story advances or is skipped, but not when the run ends', () => {
    const stuck = alertOf(living('stuckLater', ended(3)));
    assert.ok(stuck?.kind === 'stuck');
    assert.equal(isPast(stuck, living('stuckLater', ended(3)), 'r1'), false);
    // Another story has its turn.
    assert.equal(isPast(stuck, living('stuckLater', ended(4)), 'r1'), false);
    assert.equal(isPast(stuck, living('stuckLater', ended(5)), 'r1'), true);
    assert.equal(isPast(stuck, living('stuckLater', ended(3)), 'later'), true);
    const waits = alertOf(living('stuckAsks', pause));
    assert.ok(waits);
    assert.equal(isPast(waits, living('stuckAsks', { type: 'story.skipped' }), 'r1'), true);
    const last = alertOf(living('stuck', ended(3)));
    assert.ok(last);
    assert.equal(isPast(last, over('stuck'), 'r1'), false);
    // Somebody has started it again.
    const killed = alertOf(over('stuckAsks', pause));
    assert.ok(killed?.kind === 'ended');
    assert.equal(isPast(killed, over('stuckAsks', pause), 'r1'), false);
    assert.equal(isPast(killed, living('stuckAsks', pause), 'r1'), true);
  });

  test('a stuck alert is about the same item after its number has changed', () => {
    const events = recorded('stuckLater', ended(3)).map(
      event => JSON.parse(JSON.stringify(event).replaceAll('"US-00', '"#')) as RunEvent,
    );
    const [{ seq = 0, at = '' } = {}] = events.slice(-1);
    const later = (body: object) => [...events, { seq: seq + 1, at, ...body } as RunEvent];
    const moved = later({ type: 'stories.renumbered', moves: [{ from: '#1', to: '#2' }] });
    const removed = later({ type: 'stories.renumbered', moves: [], gone: ['#1'] });
    const run = (state: readonly RunEvent[]) => ({
      ...{ runId: 'r1', state: foldRun(state), alive: true },
    });
    const stuck = alertOf(run(events));
    assert.ok(stuck?.kind === 'stuck');
    assert.equal(stuck.storyId, '#1');
    const now = asKnownNow(stuck, moved);
    assert.ok(now?.kind === 'stuck');
    assert.equal(now.storyId, '#2');
    assert.equal(isPast(now, run(moved), 'r1'), false);
    assert.equal(asKnownNow(stuck, removed), undefined);
  });

  test('a question is alerted when the run waits for it or has ended, until it is answered', () => {
    assert.equal(alertOf(living('questionWaits', ended(1))), undefined);
    assert.deepEqual(alertOf(living('questionWaits', pause)), {
      ...{ kind: 'question', cause: 'question 1', iteration: 1, message: 'Blue or green?' },
      ...{ storyId: 'US-001', ended: false },
    });
    const asks = alertOf(over('question'));
    assert.equal(asks?.kind === 'question' && asks.ended, true);
    assert.equal(alertOf(over('answeredLater')), undefined);
    assert.ok(asks);
    assert.equal(isPast(asks, over('question'), 'r1'), false);
    assert.equal(isPast(asks, over('answeredLater'), 'r1'), true);
  });

  test('each end of a run raises a new alert', () => {
    const done = alertOf(over('severalStories'));
    assert.equal(done?.kind === 'ended' && done.outcome, 'completed');
    assert.notEqual(done?.cause, alertOf(over('twoChecksGreen'))?.cause);
    const killed = alertOf(over('severalStories', { type: 'run.started' }));
    assert.equal(killed?.kind === 'ended' && killed.outcome, 'interrupted');
  });
});
