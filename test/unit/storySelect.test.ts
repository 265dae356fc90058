import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  doneIds,
  nextStory,
  openDependencies,
  readyStories,
  storyKeys,
} from '../../src/orchestrator/stories/select.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import type { StoryState } from '../../src/presentation/storyState.ts';
import { laneChoices, proposedLanes, readyCount } from '../../src/views/run/proposedLanes.ts';
import { storyList } from '../support/storyList.ts';

describe('nextStory', () => {
  test('runs the lowest priority first, ties in file order, and none last', () => {
    assert.equal(nextStory(storyList({}, { priority: 2 }, { priority: 1.5 })).story?.id, 'S3');
    assert.equal(nextStory(storyList({}, { priority: 1 }, { priority: 1 })).story?.id, 'S2');
    assert.equal(nextStory(storyList({}, {})).story?.id, 'S1');
  });

  test('waits until the dependencies of a story are done', () => {
    const stories = storyList({ dependsOn: ['S2'], priority: 0 }, { priority: 9 });
    assert.equal(nextStory(stories).story?.id, 'S2');
    assert.equal(nextStory(storyList({ dependsOn: ['S2'] }, { done: true })).story?.id, 'S1');
  });

  test('gives the reason if there is no next story', () => {
    assert.deepEqual(nextStory([]), { reason: 'empty' });
    assert.deepEqual(nextStory(storyList({ done: true })), { reason: 'allDone' });
    assert.deepEqual(nextStory(storyList({ dependsOn: ['S2'] }, { dependsOn: ['S1'] })), {
      reason: 'waiting',
    });
    assert.deepEqual(nextStory(storyList({}), { skip: new Set(['S1']) }), { reason: 'skipped' });
  });

  test('treats a dependency missing from the file as never done', () => {
    assert.deepEqual(nextStory(storyList({ dependsOn: ['gone'] })), { reason: 'waiting' });
  });

  test('does not run a story that depends on a skipped one', () => {
    const stories = storyList({}, { dependsOn: ['S1'] });
    assert.deepEqual(nextStory(stories, { skip: new Set(['S1']) }), { reason: 'skipped' });
    assert.equal(nextStory(storyList({}, {}), { skip: new Set(['S1']) }).story?.id, 'S2');
  });

  test('puts deferred stories after all others, whatever their priority', () => {
    const stories = storyList({ priority: 1 }, { priority: 2 }, { priority: 3 });
    const last = new Map([
      ['S1', 20],
      ['S2', 10],
    ]);
    assert.equal(nextStory(stories, { last }).story?.id, 'S3');
    assert.equal(nextStory(stories.slice(0, 2), { last }).story?.id, 'S2');
  });

  test('with repeated ids, finds the open story, and one of them can be skipped', () => {
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

describe('openDependencies', () => {
  test('lists open and unknown dependencies in the order of the story', () => {
    const stories = storyList({ done: true }, {}, { dependsOn: ['gone', 'S2', 'S1'] });
    assert.deepEqual(openDependencies(stories[2] as Story, doneIds(stories)), ['gone', 'S2']);
    assert.deepEqual(openDependencies(stories[0] as Story, doneIds(stories)), []);
  });

  test('treats a repeated id as done when all its stories are', () => {
    const stories = storyList({ id: 'A', done: true }, { id: 'A' }, { dependsOn: ['A'] });
    assert.deepEqual(openDependencies(stories[2] as Story, doneIds(stories)), ['A']);
  });
});

test('storyKeys are unique', () => {
  const stories = storyList({ id: 'A' }, { id: 'B' }, { id: 'A' });
  assert.deepEqual([...storyKeys(stories).values()], ['A (#1)', 'B', 'A (#3)']);
});

describe('stories that can be worked on in parallel', () => {
  test('are open, not put aside, and have no open dependencies', () => {
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
    assert.equal(readyCount(stories, new Map()), 2);
  });

  test('in a chain are work for one agent; the number of proposed agents is limited', () => {
    const chain = storyList({}, { dependsOn: ['S1'] }, { dependsOn: ['S2'] });
    assert.equal(readyCount(chain, new Map()), 1);
    assert.deepEqual([0, 1, 3, 100].map(proposedLanes), [1, 1, 3, 4]);
  });

  test('that wait for the person, or only have to land, are not counted', () => {
    const stories = storyList({}, {}, {}, {}, {});
    const kinds: readonly StoryState[] = [
      { kind: 'paused' },
      { kind: 'needsYou', message: 'Blue or green?' },
      { kind: 'queued', iteration: 1, isActive: false },
      { kind: 'running', iteration: 2 },
      { kind: 'next' },
    ];
    const states = new Map(
      stories.flatMap((story, index) => {
        const state = kinds[index];
        return state === undefined ? [] : [[story, state] as const];
      }),
    );
    assert.equal(readyCount(stories, states), 2);
  });

  test('the number in use is one of the choices, and the one to begin with', () => {
    const situation = { ready: 5, proposed: 4, from: 1 };
    const inUse = laneChoices({ ...situation, inUse: 5 });
    assert.deepEqual(inUse, { choices: [1, 2, 3, 4, 5, 6, 8, 12, 16], wanted: 5 });
    assert.equal(laneChoices({ ...situation, last: undefined }).wanted, 4);
    // One agent is what the usual start is for.
    const several = laneChoices({ ...situation, from: 2, last: 1 });
    assert.deepEqual([several.choices[0], several.wanted], [2, 4]);
    assert.equal(laneChoices({ ready: 1, proposed: 1, from: 2, last: undefined }).wanted, 2);
  });

  test('never include two of one dependency chain', () => {
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
