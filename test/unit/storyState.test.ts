import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import type { RunState } from '../../src/orchestrator/journal/runState.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import {
  commitsByStory,
  type StoryState,
  storyStates,
} from '../../src/views/stories/storyState.ts';
import { iterationEnded, iterationStarted, journalOf, runStarted } from '../support/runEvents.ts';
import { aStory } from '../support/storyList.ts';

const count = { done: 0, total: 4 };
const started = runStarted({ stuckThreshold: 2, stories: count });

function story(id: string, more: Partial<Story> = {}): Story {
  return aStory({ id, title: id, position: Number(id.slice(1)), ...more });
}

function iteration(
  number: number,
  storyId: string,
  outcome?: 'noProgress' | 'failed' | 'needsHuman' | 'blocked' | 'storyDone',
): RunEventBody[] {
  return [
    iterationStarted({ iteration: number, storyId, stories: count }),
    ...(outcome === undefined
      ? []
      : [iterationEnded({ iteration: number, storyId, outcome, stories: count })]),
  ];
}

function fold(...bodies: RunEventBody[]): RunState {
  return foldRun(journalOf(bodies));
}

function kinds(
  stories: readonly Story[],
  state: RunState,
  { alive = false, earlier = [] as readonly RunState[] } = {},
): StoryState[] {
  const states = storyStates(stories, {
    run: { runId: 'r', state, alive },
    states: [...earlier, state],
  });
  return stories.map(one => states.get(one) as StoryState);
}

describe('the state of a story', () => {
  const open = [story('S1'), story('S2', { dependsOn: ['S1'] }), story('S3')];

  test('without a run: next, waiting, ready, done', () => {
    assert.deepEqual(kinds([...open, story('S4', { done: true })], fold()), [
      { kind: 'next' },
      { kind: 'waiting', for: ['S1'] },
      { kind: 'ready' },
      { kind: 'done' },
    ]);
  });

  test('running only while the loop lives', () => {
    const state = fold(started, ...iteration(1, 'S1'));
    assert.deepEqual(kinds(open, state, { alive: true })[0], { kind: 'running', iteration: 1 });
    assert.deepEqual(kinds(open, state)[0], { kind: 'next' });
  });

  test('while its agent waits for a usage limit', () => {
    const state = fold(started, ...iteration(1, 'S1'), {
      type: 'limit.waiting',
      iteration: 1,
      until: '2026-03-01T13:00:00.000Z',
      remainingMs: 3_600_000,
      known: true,
      message: '',
    });
    assert.deepEqual(kinds(open, state, { alive: true })[0], {
      kind: 'running',
      iteration: 1,
      step: 'limit',
    });
  });

  test('failed, stuck, blocked and waiting for a person', () => {
    const failed = fold(started, ...iteration(1, 'S1', 'failed'));
    assert.deepEqual(kinds(open, failed)[0], { kind: 'failed', times: 1 });
    const stuck = fold(
      started,
      ...iteration(1, 'S1', 'noProgress'),
      ...iteration(2, 'S1', 'noProgress'),
    );
    assert.deepEqual(kinds(open, stuck)[0], { kind: 'stuck', iterations: 2 });
    const [begin, end] = iteration(1, 'S1', 'blocked') as [RunEventBody, RunEventBody];
    const says = (signal: 'blocked' | 'needsHuman', message: string): RunEventBody => ({
      type: 'promise.seen',
      iteration: 1,
      signal,
      message,
      accepted: true,
    });
    const blocked = fold(started, begin, says('blocked', 'no key'), end);
    assert.deepEqual(kinds(open, blocked)[0], { kind: 'blocked', message: 'no key' });
    const asks = fold(started, ...iteration(1, 'S1', 'needsHuman'), {
      type: 'run.ended',
      outcome: 'needsHuman',
      exitCode: 2,
      detail: 'which one?',
      stories: count,
      iterations: 1,
    });
    assert.deepEqual(kinds(open, asks)[0], { kind: 'needsYou', message: 'which one?' });
  });

  test('who made it done is known over several runs; the file decides whether it is', () => {
    const claimed = fold(started, {
      type: 'story.changed',
      storyId: 'S1',
      done: true,
      by: 'agent',
      iteration: 1,
    });
    const ticked = fold({ type: 'story.ticked', storyId: 'S3', done: true });
    const stories = [story('S1', { done: true }), story('S3', { done: true }), story('S4')];
    assert.deepEqual(
      kinds(stories, ticked, { earlier: [claimed] }).map(({ kind }) => kind),
      ['claimed', 'doneByHand', 'next'],
    );
    assert.equal(kinds([story('S1')], claimed)[0]?.kind, 'next');
  });

  test('what checks and reviewer said of a claim is told', () => {
    const claim: RunEventBody = {
      type: 'story.changed',
      storyId: 'S1',
      done: true,
      by: 'agent',
      iteration: 1,
    };
    const green: RunEventBody = { type: 'gate.ended', iteration: 1, green: true, storyId: 'S1' };
    const review: RunEventBody = {
      type: 'review.ended',
      iteration: 1,
      storyId: 'S1',
      approved: true,
      objections: [],
    };
    const kind = (...events: RunEventBody[]) =>
      kinds([story('S1', { done: true })], fold(started, ...events))[0]?.kind;
    assert.equal(kind(claim), 'claimed');
    assert.equal(kind(claim, green), 'verified');
    assert.equal(kind(claim, green, review), 'approved');
    assert.equal(
      kind(claim, green, { type: 'story.ticked', storyId: 'S1', done: true }),
      'doneByHand',
    );
  });

  test('a story that is checked, skipped, or asked about', () => {
    const [begin] = iteration(1, 'S1') as [RunEventBody];
    const checked = fold(started, begin, { type: 'gate.started', iteration: 1, commands: ['x'] });
    assert.deepEqual(kinds(open, checked, { alive: true })[0], {
      kind: 'running',
      iteration: 1,
      step: 'gate',
    });
    const skipped = fold(started, { type: 'story.skipped', storyId: 'S1', by: 'stuck' });
    assert.deepEqual(kinds(open, skipped)[0], { kind: 'skipped', by: 'stuck' });
    const asks = fold(started, {
      type: 'pause.started',
      reason: 'question',
      storyId: 'S1',
      detail: 'which one?',
    });
    assert.deepEqual(kinds(open, asks, { alive: true })[0], {
      kind: 'needsYou',
      message: 'which one?',
    });
  });

  test('commits are found by story, the newest first', () => {
    const commit = (hash: string, storyId: string): RunEventBody => ({
      type: 'commit.recorded',
      iteration: 1,
      storyId,
      hash,
      subject: hash,
    });
    const found = commitsByStory([
      fold(commit('a', 'S1'), commit('b', 'S2')),
      fold(commit('c', 'S1')),
    ]);
    assert.deepEqual(
      found.get('S1')?.map(({ hash }) => hash),
      ['c', 'a'],
    );
    assert.deepEqual(
      found.get('S2')?.map(({ hash }) => hash),
      ['b'],
    );
  });
});
