import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { TARGETS, type Target } from '../../src/orchestrator/stories/convert/conversion.ts';
import { convertStories } from '../../src/orchestrator/stories/convert/convertStories.ts';
import { inTurnOrder } from '../../src/orchestrator/stories/edit/workOrder.ts';
import type { Story, StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';
import { lossLines } from '../../src/presentation/conversionLosses.ts';
import { english } from '../../src/presentation/translate.ts';

const PATH = '.taskmaster/tasks/tasks.json';
const NAMES = { prd: 'prd.json', yaml: 'p.yaml', plan: 'PLAN.md', tasks: 'tasks.jsonl' } as const;

function listOf(path: string, text: string): StoryList {
  const { file } = parseStoryText(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file.problems));
  return file;
}

function convert(tags: object, target: Target) {
  const text = JSON.stringify(tags);
  const parsed = { ...parseStoryText(PATH, text), file: listOf(PATH, text) };
  const { losses, text: written } = convertStories(parsed, target, new Date(0));
  return { losses, stories: listOf(NAMES[target], written).stories };
}

const turnsOf = (stories: readonly Story[]) =>
  inTurnOrder(stories.filter(({ done, parked }) => !done && parked !== true)).map(({ title }) =>
    title.replace(/^(?:\w+\/)?\d+: /, ''),
  );

describe('the tags of Task Master', () => {
  const task = (id: number, title: string, rest: object = {}) => ({
    ...{ id, title, status: 'pending', dependencies: [], priority: 'medium', subtasks: [] },
    ...rest,
  });

  test('have their turns one after the other in every other format, and nothing is put aside that was not', () => {
    const tags = {
      auth: { tasks: [task(1, 'Login', { priority: 'high' }), task(2, 'Logout')] },
      master: {
        tasks: [
          task(1, 'One', { priority: 'low' }),
          task(2, 'Two', { status: 'deferred' }),
          task(3, 'Three', { priority: undefined }),
        ],
      },
    };
    for (const target of TARGETS) {
      const { losses, stories } = convert(tags, target);
      assert.deepEqual(turnsOf(stories), ['One', 'Three', 'Login', 'Logout'], target);
      assert.deepEqual(
        stories.filter(({ parked }) => parked).map(({ title }) => title.replace(/^.* /, '')),
        ['Two'],
        target,
      );
      const facts = losses.map(loss => (loss.kind === 'story' ? loss.fact : loss.kind));
      assert.ok(!facts.includes('order'), target);
    }
  });

  test('lose their priorities in a plan, whose order says the same', () => {
    const tags = { master: { tasks: [task(2, 'Two', { priority: 'low' }), task(1, 'One')] } };
    assert.deepEqual(lossLines(convert(tags, 'plan').losses, english), [
      'the priority, which the order in the new file says now: 2, 1',
    ]);
  });

  test('keep their priorities where the order of the file is that of the turns', () => {
    const tags = {
      master: { tasks: [task(1, 'One'), task(2, 'Two', { status: 'done', priority: 'low' })] },
      auth: { tasks: [task(1, 'Login')] },
    };
    assert.deepEqual(
      convert(tags, 'tasks').stories.map(({ priority }) => priority),
      listOf(PATH, JSON.stringify(tags)).stories.map(({ priority }) => priority),
    );
  });

  test('follow each other whatever the priorities of their tasks are', () => {
    const lists = fc.array(
      fc.array(
        fc.record({
          priority: fc.oneof(
            fc.constantFrom('high', 'low', undefined, 2.5),
            fc.integer({ min: -9, max: 9 }),
          ),
          status: fc.constantFrom('pending', 'pending', 'done'),
        }),
        { maxLength: 4 },
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(lists, fc.constantFrom('yaml', 'plan', 'tasks'), (all, target) => {
        const tags = all.map((tasks, tag) => ({
          tasks: tasks.map((rest, index) => task(index + 1, `T${tag} N${index}`, rest)),
        }));
        const open = tags.map(({ tasks }) => {
          const alone = JSON.stringify({ own: { tasks } });
          return tasks.length === 0 ? [] : turnsOf(listOf(PATH, alone).stories);
        });
        fc.pre(tags.some(({ tasks }) => tasks.length > 0));
        const named = Object.fromEntries(tags.map((tag, index) => [`tag${index}`, tag]));
        assert.deepEqual(turnsOf(convert(named, target).stories), open.flat());
      }),
    );
  });
});
