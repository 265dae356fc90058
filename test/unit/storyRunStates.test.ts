import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { INITIAL_RUN_STATE, type RunState } from '../../src/orchestrator/journal/runState.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import type { RunPhase } from '../../src/orchestrator/workspace/runPhase.ts';
import { storyRunState } from '../../src/orchestrator/workspace/storyRunStates.ts';
import { type EventMatch, over } from '../support/recordedJournals.ts';
import { aStory } from '../support/storyList.ts';

const story = (done = false, id = 'US-001'): Story => aStory({ id, title: id, done });
const run = (name: string, until?: EventMatch): RunState => over(name, until).state;

function stateOf(done: boolean, phase: RunPhase, ...states: RunState[]): string | undefined {
  return storyRunState(story(done), phase, states);
}

const begun: EventMatch = { type: 'iteration.started', iteration: 1 };
const claimed: EventMatch = { type: 'story.changed', done: true };
const asked: EventMatch = { type: 'promise.seen', iteration: 1 };
const ended: EventMatch = { type: 'iteration.ended', iteration: 1 };

describe('what runs know of a story', () => {
  test('nothing without a run', () => {
    assert.equal(stateOf(false, 'none'), undefined);
    assert.equal(stateOf(true, 'none'), undefined);
  });

  test('it runs while the loop lives', () => {
    const works = run('severalStories', begun);
    assert.equal(stateOf(false, 'running', works), 'running');
    assert.equal(stateOf(false, 'stopping', works), 'running');
    assert.equal(stateOf(false, 'interrupted', works), undefined);
  });

  test('who says that it is done', () => {
    assert.equal(stateOf(true, 'ended', run('checksAndReview', claimed)), 'claimed');
    const green = run('twoChecksGreen', { type: 'gate.ended' });
    assert.equal(stateOf(true, 'ended', green), 'verified');
    const approved = run('checksAndReview', { type: 'review.ended', approved: true });
    assert.equal(stateOf(true, 'ended', approved), 'approved');
    const ticked = run('ticked', { type: 'story.ticked', done: true });
    assert.equal(stateOf(true, 'ended', ticked), undefined);
  });

  test('why it is not', () => {
    assert.equal(stateOf(false, 'ended', run('failed', ended)), 'failed');
    assert.equal(stateOf(false, 'ended', run('stuck', ended)), undefined);
    assert.equal(stateOf(false, 'ended', run('blocked', asked)), 'blocked');
    assert.equal(stateOf(false, 'ended', run('question', asked)), 'blocked');
    assert.equal(stateOf(false, 'ended', run('skip', ended)), 'skipped');
    assert.equal(stateOf(false, 'ended', run('failedThenSkipped')), 'skipped');
    const third = (until: EventMatch) =>
      storyRunState(story(false, 'US-003'), 'ended', [run('steered', until)]);
    assert.equal(third({ type: 'story.skipped', storyId: 'US-003' }), 'skipped');
    assert.equal(third({ type: 'story.reset', storyId: 'US-003' }), undefined);
  });

  test('the file first: done there, it has not failed', () => {
    assert.equal(stateOf(true, 'ended', run('failed')), undefined);
  });

  test('the newest run that knows the story counts', () => {
    const older = run('failed', ended);
    assert.equal(stateOf(false, 'ended', older, INITIAL_RUN_STATE), 'failed');
    assert.equal(
      stateOf(false, 'ended', older, run('severalStories', { type: 'run.started' })),
      'failed',
    );
    assert.equal(stateOf(false, 'ended', older, run('skip')), 'skipped');
  });
});
