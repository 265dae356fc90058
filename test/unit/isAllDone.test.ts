import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  INITIAL_RUN_STATE,
  type RunState,
  storyRecord,
} from '../../src/orchestrator/run/runState.ts';
import type { StoryRecord } from '../../src/orchestrator/run/storyRecord.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { isAllDone } from '../../src/views/run/isAllDone.ts';
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

test('only a living run has a story at work, also while it waits', () => {
  const waiting = { kind: 'pause', reason: 'stuck', storyId: 'US-2' } as const;
  const state: RunState = { ...INITIAL_RUN_STATE, phase: 'running', waiting };
  assert.equal(storyAtWork({ alive: true, state }), 'US-2');
  assert.equal(storyAtWork({ alive: false, state }), undefined);
});
