import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runStanding } from '../../src/orchestrator/journal/runStanding.ts';
import {
  INITIAL_RUN_STATE,
  type RunState,
  storyRecord,
} from '../../src/orchestrator/journal/runState.ts';
import { storyStatus } from '../../src/presentation/storyState.ts';
import { type EventMatch, over } from '../support/recordedJournals.ts';

const run = (name: string, until?: EventMatch): RunState => over(name, until).state;

function stateOf(done: boolean, alive: boolean, ...states: RunState[]): string | undefined {
  const state = states.at(-1) ?? INITIAL_RUN_STATE;
  return storyStatus({ id: 'US-001', done }, { state, alive }, states)?.kind;
}

const begun: EventMatch = { type: 'iteration.started', iteration: 1 };
const claimed: EventMatch = { type: 'story.changed', done: true };
const asked: EventMatch = { type: 'promise.seen', iteration: 1 };
const ended: EventMatch = { type: 'iteration.ended', iteration: 1 };

describe('the status of a story from its runs', () => {
  test('is unknown without a run', () => {
    assert.equal(stateOf(false, false), undefined);
    assert.equal(stateOf(true, false), 'done');
  });

  test('is running while the loop is alive', () => {
    const works = run('severalStories', begun);
    assert.equal(stateOf(false, true, works), 'running');
    assert.equal(stateOf(false, true, { ...works, phase: 'stopping' }), 'running');
    assert.equal(stateOf(false, false, works), undefined);
  });

  test('names who marked it as done', () => {
    assert.equal(stateOf(true, false, run('severalStories')), 'claimed');
    const green = run('twoChecksGreen', { type: 'gate.ended' });
    assert.equal(stateOf(true, false, green), 'verified');
    const approved = run('checksAndReview', { type: 'review.ended', approved: true });
    assert.equal(stateOf(true, false, approved), 'approved');
    const ticked = run('ticked', { type: 'story.ticked', done: true });
    assert.equal(stateOf(true, false, ticked), 'doneByHand');
  });

  test('is unjudged if the run ended before the checks of a claim, unless a person ticked it since', () => {
    const left = run('stoppedInCheck');
    assert.equal(stateOf(true, false, left), 'unjudged');
    assert.equal(stateOf(false, false, left), undefined);
    const record = { ...storyRecord(left, 'US-001'), doneBy: 'hand' as const };
    const ticked = { ...left, storyRecords: new Map([['US-001', record]]) };
    assert.equal(stateOf(true, false, ticked), 'doneByHand');
    // Without checks, an agent's word counts, but not if the run could not look at its commits.
    const unchecked = { ...left, verify: [] };
    assert.equal(stateOf(true, false, unchecked), 'claimed');
    assert.equal(stateOf(true, false, { ...unchecked, outcome: 'error' }), 'unjudged');
  });

  test('is unjudged as soon as the loop is killed before the checks of a claim', () => {
    assert.equal(stateOf(true, false, run('checksAndReview', claimed)), 'unjudged');
  });

  test('gives the reason why it is not done', () => {
    assert.equal(stateOf(false, false, run('failed', ended)), 'failed');
    assert.equal(stateOf(false, false, run('stuck', ended)), undefined);
    assert.equal(stateOf(false, false, run('blocked', asked)), 'blocked');
    assert.equal(stateOf(false, false, run('question', asked)), 'needsYou');
    assert.equal(stateOf(false, false, run('skip', ended)), 'skipped');
    assert.equal(stateOf(false, false, run('failedThenSkipped')), 'skipped');
    const third = (until: EventMatch) => {
      const state = run('steered', until);
      return storyStatus({ id: 'US-003', done: false }, { state, alive: false }, [state])?.kind;
    };
    assert.equal(third({ type: 'story.skipped', storyId: 'US-003' }), 'skipped');
    assert.equal(third({ type: 'story.reset', storyId: 'US-003' }), undefined);
  });

  test('shows a question until it is answered, even if the loop was killed meanwhile', () => {
    const asks = run('questionWaits', { type: 'pause.started' });
    for (const alive of [true, false]) {
      assert.equal(stateOf(false, alive, asks), 'needsYou');
      assert.equal(runStanding({ state: asks, alive }).question?.message, 'Blue or green?');
    }
    assert.equal(stateOf(false, false, run('answeredLater')), undefined);
    assert.equal(runStanding({ state: run('answeredLater'), alive: false }).question, undefined);
  });

  test('follows the file first: a story done there has not failed', () => {
    assert.equal(stateOf(true, false, run('failed')), 'done');
  });

  test('comes from the newest run that knows the story', () => {
    const older = run('failed', ended);
    assert.equal(stateOf(false, false, older, INITIAL_RUN_STATE), 'failed');
    assert.equal(
      stateOf(false, false, older, run('severalStories', { type: 'run.started' })),
      'failed',
    );
    assert.equal(stateOf(false, false, older, run('skip')), 'skipped');
    // A new run forgets a skip, as `next` says.
    const begun = run('severalStories', { type: 'run.started' });
    assert.equal(stateOf(false, false, run('skip'), begun), undefined);
  });
});
