import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asideStories } from '../../src/orchestrator/stories/asideReason.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const COUNT = 30_000;
/** In ms: what looks through all for each one takes more than ten times as long. */
const LIMIT = 4_000;

const each = <Item>(item: (index: number) => Item) =>
  Array.from({ length: COUNT }, (_, index) => item(index));

function listOf(path: string, content: unknown): StoryList {
  const file = parseStoryFile(path, JSON.stringify(content));
  assert.ok(file.kind === 'stories', JSON.stringify(file.problems.slice(0, 3)));
  return file;
}

describe('thousands of stories', () => {
  for (const kind of ['parentEpic', 'children'] as const) {
    test(`in thousands of epics are read quickly (${kind})`, () => {
      const content = {
        epics: each(index => ({
          ...{ id: `E${index}`, title: `Epic ${index}` },
          ...(kind === 'children' && { children: [`S${index}`] }),
        })),
        userStories: each(index => ({
          ...{ id: `S${index}`, title: `Story ${index}`, passes: false },
          ...(kind === 'parentEpic' && { parentEpic: `E${index}` }),
        })),
      };
      const begun = performance.now();
      const { stories } = listOf('prd.json', content);
      assert.ok(performance.now() - begun < LIMIT);
      assert.equal(stories.at(-1)?.epic, `Epic ${COUNT - 1}`);
    });
  }

  test('below thousands of tasks that are put aside are named quickly', () => {
    const subtasks = [{ id: 1, title: 'Part', status: 'pending' }];
    const list = listOf('.taskmaster/tasks/tasks.json', {
      master: {
        tasks: each(index => ({ id: index + 1, title: 'Task', status: 'deferred', subtasks })),
      },
    });
    const begun = performance.now();
    const found = asideStories(list);
    assert.ok(performance.now() - begun < LIMIT / 10);
    const last = { id: `${COUNT}.1`, status: 'pending', task: String(COUNT) };
    assert.deepEqual(
      found.find(({ id }) => id === last.id),
      last,
    );
  });
});

test('an epic has its stories once, in the order of the file, however they are named', () => {
  const story = (id: string, more = {}) => ({ id, title: id, passes: false, ...more });
  const { stories } = listOf('prd.json', {
    epics: [{ id: 'E', title: 'Base', children: ['C', 'A'] }],
    userStories: [
      story('D', { dependsOn: ['Base'] }),
      story('A', { parentEpic: 'E' }),
      story('B', { parentEpic: 'Base' }),
      story('C'),
    ],
  });
  assert.deepEqual(stories[0]?.dependsOn, ['A', 'B', 'C']);
});
