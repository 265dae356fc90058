import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextStory, storyKeys, waitingFor } from '../../src/orchestrator/stories/select.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { storyList } from '../support/storyList.ts';

describe('nextStory', () => {
  test('the lowest priority runs first, ties in file order, none after all numbers', () => {
    assert.equal(nextStory(storyList({}, { priority: 2 }, { priority: 1.5 })).story?.id, 'S3');
    assert.equal(nextStory(storyList({}, { priority: 1 }, { priority: 1 })).story?.id, 'S2');
    assert.equal(nextStory(storyList({}, {})).story?.id, 'S1');
  });

  test('a story waits until its dependencies are done', () => {
    const stories = storyList({ dependsOn: ['S2'], priority: 0 }, { priority: 9 });
    assert.equal(nextStory(stories).story?.id, 'S2');
    assert.equal(nextStory(storyList({ dependsOn: ['S2'] }, { done: true })).story?.id, 'S1');
  });

  test('says why there is none', () => {
    assert.deepEqual(nextStory([]), { reason: 'empty' });
    assert.deepEqual(nextStory(storyList({ done: true })), { reason: 'allDone' });
    assert.deepEqual(nextStory(storyList({ dependsOn: ['S2'] }, { dependsOn: ['S1'] })), {
      reason: 'waiting',
    });
    assert.deepEqual(nextStory(storyList({}), { skip: new Set(['S1']) }), { reason: 'skipped' });
  });

  test('a dependency that the file does not have is never done', () => {
    assert.deepEqual(nextStory(storyList({ dependsOn: ['gone'] })), { reason: 'waiting' });
  });

  test('what waits for a skipped story is not run instead', () => {
    const stories = storyList({}, { dependsOn: ['S1'] });
    assert.deepEqual(nextStory(stories, { skip: new Set(['S1']) }), { reason: 'skipped' });
    assert.equal(nextStory(storyList({}, {}), { skip: new Set(['S1']) }).story?.id, 'S2');
  });

  test('those that come last are behind all others, whatever their priority', () => {
    const stories = storyList({ priority: 1 }, { priority: 2 }, { priority: 3 });
    const last = new Map([
      ['S1', 20],
      ['S2', 10],
    ]);
    assert.equal(nextStory(stories, { last }).story?.id, 'S3');
    assert.equal(nextStory(stories.slice(0, 2), { last }).story?.id, 'S2');
  });

  test('repeated ids: the open one is found, and one of them can be skipped', () => {
    const stories = storyList(
      { id: 'A', done: true },
      { id: 'A' },
      { id: 'A' },
      { id: 'B', dependsOn: ['A'] },
    );
    assert.equal(nextStory(stories).story?.position, 1);
    assert.equal(nextStory(stories, { skip: new Set(['A (#2)']) }).story?.position, 2);
    assert.deepEqual(nextStory(stories, { skip: new Set(['A']) }), { reason: 'skipped' });
  });
});

describe('waitingFor', () => {
  test('names open and unknown dependencies in the order of the story', () => {
    const stories = storyList({ done: true }, {}, { dependsOn: ['gone', 'S2', 'S1'] });
    assert.deepEqual(waitingFor(stories[2] as Story, stories), ['gone', 'S2']);
    assert.deepEqual(waitingFor(stories[0] as Story, stories), []);
  });

  test('a repeated id is done when all its stories are', () => {
    const stories = storyList({ id: 'A', done: true }, { id: 'A' }, { dependsOn: ['A'] });
    assert.deepEqual(waitingFor(stories[2] as Story, stories), ['A']);
  });
});

test('storyKeys are unique', () => {
  const stories = storyList({ id: 'A' }, { id: 'B' }, { id: 'A' });
  assert.deepEqual([...storyKeys(stories).values()], ['A (#1)', 'B', 'A (#3)']);
});
