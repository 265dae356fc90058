import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import type { RunState } from '../../src/orchestrator/journal/runState.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import type { RunPhase } from '../../src/orchestrator/workspace/runPhase.ts';
import { storyRunState } from '../../src/orchestrator/workspace/storyRunStates.ts';
import { journalOf } from '../support/runEvents.ts';
import { aStory } from '../support/storyList.ts';

const stories = { done: 0, total: 1 };

function run(...bodies: RunEventBody[]): RunState {
  return foldRun(journalOf(bodies));
}

const story = (done = false): Story => aStory({ id: 'A', title: 'A', done });

const started: RunEventBody = {
  ...{ type: 'iteration.started', iteration: 1, maxIterations: 9, stories, storyId: 'A' },
  ...{ promptBytes: 1, handoffBytes: 1, stuckFor: 0 },
};
const claimed: RunEventBody = {
  ...{ type: 'story.changed', storyId: 'A', done: true, by: 'agent', iteration: 1 },
};
const green: RunEventBody = { type: 'gate.ended', iteration: 1, green: true, storyId: 'A' };
const approved: RunEventBody = {
  ...{ type: 'review.ended', iteration: 1, storyId: 'A', approved: true, objections: [] },
};
const promise = (signal: 'blocked' | 'needsHuman'): RunEventBody => ({
  ...{ type: 'promise.seen', iteration: 1, signal, message: 'Why?', accepted: true },
});
const ended = (outcome: 'failed' | 'noProgress'): RunEventBody => ({
  ...{ type: 'iteration.ended', iteration: 1, storyId: 'A', outcome, durationMs: 1, commits: 0 },
  stories,
});
const skipped: RunEventBody = { type: 'story.skipped', storyId: 'A', by: 'person' };

function stateOf(done: boolean, phase: RunPhase, ...states: RunState[]): string | undefined {
  return storyRunState(story(done), phase, states);
}

describe('what runs know of a story', () => {
  test('nothing without a run', () => {
    assert.equal(stateOf(false, 'none'), undefined);
    assert.equal(stateOf(true, 'none'), undefined);
  });

  test('it runs while the loop lives', () => {
    assert.equal(stateOf(false, 'running', run(started)), 'running');
    assert.equal(stateOf(false, 'stopping', run(started)), 'running');
    assert.equal(stateOf(false, 'interrupted', run(started)), undefined);
  });

  test('who says that it is done', () => {
    assert.equal(stateOf(true, 'ended', run(started, claimed)), 'claimed');
    assert.equal(stateOf(true, 'ended', run(started, claimed, green)), 'verified');
    assert.equal(stateOf(true, 'ended', run(started, claimed, green, approved)), 'approved');
    assert.equal(
      stateOf(true, 'ended', run({ type: 'story.ticked', storyId: 'A', done: true })),
      undefined,
    );
  });

  test('why it is not', () => {
    assert.equal(stateOf(false, 'ended', run(started, ended('failed'))), 'failed');
    assert.equal(stateOf(false, 'ended', run(started, ended('noProgress'))), undefined);
    assert.equal(stateOf(false, 'ended', run(started, promise('blocked'))), 'blocked');
    assert.equal(stateOf(false, 'ended', run(started, promise('needsHuman'))), 'blocked');
    assert.equal(stateOf(false, 'ended', run(started, ended('failed'), skipped)), 'skipped');
    assert.equal(
      stateOf(false, 'ended', run(skipped, { type: 'story.reset', storyId: 'A' })),
      undefined,
    );
  });

  test('the file first: done there, it has not failed', () => {
    assert.equal(stateOf(true, 'ended', run(started, ended('failed'))), undefined);
  });

  test('the newest run that knows the story tells of it', () => {
    const older = run(started, ended('failed'));
    assert.equal(stateOf(false, 'ended', older, run()), 'failed');
    assert.equal(stateOf(false, 'ended', older, run(skipped)), 'skipped');
  });
});
