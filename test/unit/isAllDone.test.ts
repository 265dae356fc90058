import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  INITIAL_RUN_STATE,
  type RunState,
  storyRecord,
} from '../../src/orchestrator/journal/runState.ts';
import type { StoryRecord } from '../../src/orchestrator/journal/storyRecord.ts';
import { isAllDone } from '../../src/orchestrator/loop/isAllDone.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { english } from '../../src/presentation/sentences.ts';
import { completedWords } from '../../src/views/run/completedWords.ts';
import { storyAtWork } from '../../src/views/run/storyAtWork.ts';

function list(...passes: readonly boolean[]) {
  const userStories = passes.map((done, i) => ({ id: `US-${i + 1}`, title: 'T', passes: done }));
  return parseStoryFile('/w/prd.json', JSON.stringify({ userStories }));
}

function withRecord(record: Partial<StoryRecord>): RunState {
  const state = INITIAL_RUN_STATE;
  const storyRecords = new Map([['US-1', { ...storyRecord(state, 'US-1'), ...record }]]);
  return { ...state, storyRecords };
}

test('a start finds nothing to do when every story is done and no claim is left', () => {
  assert.equal(isAllDone(list(true, true), INITIAL_RUN_STATE), true);
  assert.equal(isAllDone(list(true, true), withRecord({ verified: true })), true);
  assert.equal(isAllDone(list(true, false), INITIAL_RUN_STATE), false);
  assert.equal(isAllDone(list(), INITIAL_RUN_STATE), false);
  assert.equal(isAllDone(undefined, INITIAL_RUN_STATE), false);
  assert.equal(isAllDone(list(true), withRecord({ refused: true })), false);
});

test('a start finds nothing to do when what is left is put aside', () => {
  const file = list(true, false);
  assert.ok(file.kind === 'stories');
  const stories = file.stories.map(story =>
    story.done ? story : { ...story, parked: true as const },
  );
  assert.equal(isAllDone({ ...file, stories }, INITIAL_RUN_STATE), true);
});

test('what a complete run has come to', () => {
  const of = (state: Partial<RunState>) =>
    completedWords({ ...INITIAL_RUN_STATE, iteration: 2, ...state }, english);
  assert.equal(of({ stories: { done: 2, total: 2 } }), 'All stories are done, after 2 iterations.');
  assert.match(of({ stories: { done: 1, total: 2 } }), /but for those that are put aside/);
  assert.equal(
    of({ stories: { done: 1, total: 2 }, onlyStories: ['US-2'] }),
    'Ralph is done with US-2.',
  );
  assert.equal(of({}), 'The task is done, after 2 iterations.');
  assert.match(of({ iteration: 0, stories: { done: 2, total: 2 } }), /nothing to do/);
});

test('only a living run has a story at work, also while it waits', () => {
  const pause = { kind: 'pause', reason: 'stuck', storyId: 'US-2' } as const;
  const state: RunState = { ...INITIAL_RUN_STATE, phase: 'running', pause };
  assert.equal(storyAtWork({ alive: true, state }), 'US-2');
  assert.equal(storyAtWork({ alive: false, state }), undefined);
});
