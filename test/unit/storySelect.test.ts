import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  nextStory,
  readyStories,
  storyKeys,
  waitingFor,
} from '../../src/orchestrator/stories/select.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { proposedLanes } from '../../src/views/run/proposedLanes.ts';
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

describe('stories that can be worked on at once', () => {
  test('are open, not put aside, and wait for nothing', () => {
    const stories = storyList(
      {},
      { dependsOn: ['S1'] },
      { done: true },
      { dependsOn: ['S3'] },
      { parked: true },
      { dependsOn: ['S5'] },
      { dependsOn: ['nowhere'] },
      { dependsOn: ['S9'] },
      { dependsOn: ['S8'] },
    );
    assert.deepEqual(
      readyStories(stories).map(({ id }) => id),
      ['S1', 'S4'],
    );
    assert.equal(proposedLanes(stories), 2);
  });

  test('a chain is work for one agent, and many stories are not proposed to as many', () => {
    assert.equal(proposedLanes(storyList({}, { dependsOn: ['S1'] }, { dependsOn: ['S2'] })), 1);
    assert.equal(proposedLanes([]), 1);
    assert.equal(proposedLanes(storyList({}, {}, {})), 3);
    assert.equal(proposedLanes(storyList(...Array.from({ length: 100 }, () => ({})))), 4);
  });

  test('never two of one chain of dependencies', () => {
    const story = fc.record({
      done: fc.boolean(),
      dependsOn: fc.array(
        fc.integer({ min: 1, max: 8 }).map(n => `S${n}`),
        { maxLength: 3 },
      ),
    });
    fc.assert(
      fc.property(fc.array(story, { maxLength: 8 }), entries => {
        const stories = storyList(...entries);
        const ready = readyStories(stories);
        const below = (id: string, seen = new Set<string>()): ReadonlySet<string> => {
          for (const next of stories.find(one => one.id === id)?.dependsOn ?? []) {
            // What is done separates a chain: nobody waits for it any more.
            if (!seen.has(next) && stories.find(one => one.id === next)?.done !== true) {
              seen.add(next);
              below(next, seen);
            }
          }
          return seen;
        };
        for (const { id } of ready) {
          assert.ok(ready.every(other => !below(other.id).has(id)));
        }
      }),
    );
  });
});
