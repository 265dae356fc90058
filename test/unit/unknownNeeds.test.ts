import assert from 'node:assert/strict';
import { test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { diagnoseStories } from '../../src/orchestrator/stories/diagnosis/diagnose.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { unknownWords, waitsForUnknown } from '../../src/orchestrator/stories/unknownNeeds.ts';

const PATH = '.taskmaster/tasks/tasks.json';

/** What a run says of a file of several lines, and the lines and sentences of its problems. */
function told(root: object, path = PATH) {
  const text = JSON.stringify(root, null, 1);
  const list = parseStoryFile(path, text);
  assert.ok(list.kind === 'stories');
  const { diagnoses } = diagnoseStories(path, Buffer.from(text));
  return {
    run: waitsForUnknown(list.stories, list.problems).map(one =>
      englishOf(unknownWords(one, path)),
    ),
    problems: diagnoses.flatMap(({ code, message, start }) =>
      code !== 'unknownDependency'
        ? []
        : [[text.slice(0, start).split('\n').length, englishOf(message).split(',')[0]]],
    ),
  };
}

const task = (id: number, dependencies: readonly unknown[], subtasks: readonly object[] = []) => ({
  ...{ id, title: `Task ${id}`, status: 'pending', dependencies, subtasks },
});

test('a run names the line on which an unknown id stands, like the list of problems', () => {
  const { problems, run } = told(
    [
      { id: 'A', title: 'a', passes: false, dependsOn: ['B', 'gone'] },
      { id: 'B', title: 'b' },
    ],
    'prd.json',
  );
  assert.deepEqual(problems, [[8, 'A waits for gone']]);
  assert.deepEqual(run, [
    'A waits for gone, which the story file does not have (prd.json:8): correct the id, or remove it.',
  ]);
});

test('a run says of one text with several ids to write a list', () => {
  const { run } = told(
    [
      { id: 'A', title: 'a', passes: false, dependsOn: 'B, C' },
      { id: 'B', title: 'b' },
      { id: 'C', title: 'c' },
    ],
    'prd.json',
  );
  assert.deepEqual(run, [
    'A waits for B, C, which is no id in the story file (prd.json:6): write several ids as a list, or correct it.',
  ]);
});

test('an unknown priority of Task Master is to become a word', () => {
  const root = { master: { tasks: [{ ...task(1, []), priority: 'urgent' }] } };
  const { problems } = parseStoryFile('tasks.json', JSON.stringify(root));
  assert.match(englishOf(problems[0]?.message ?? ''), /write high, medium or low\.$/);
});

test('unknown ids are called as the file of Task Master writes them, all in one sentence', () => {
  const subtasks = [{ ...task(1, []) }, { ...task(2, [1, '1.1', 7]) }];
  const root = {
    master: { tasks: [task(2, [], subtasks)] },
    auth: { tasks: [task(1, []), task(2, ['shop/1', 8], [task(1, [9])])] },
  };
  const { problems, run } = told(root);
  assert.deepEqual(
    problems.map(([, words]) => words),
    [
      ...['2.2 waits for 1.1', '2.2 waits for 7', 'auth/2 waits for shop/1', 'auth/2 waits for 8'],
      ...['auth/2.1 waits for shop/1', 'auth/2.1 waits for 9'],
    ],
  );
  const [line] = problems[0] ?? [];
  assert.deepEqual(run, [
    `2.2 waits for 1.1, 7, which the story file does not have (tasks.json:${line}): correct the id, or remove it.`,
  ]);
});

test('a task of a tag may name another one of its tag by the id that agents know', () => {
  const list = parseStoryFile(
    PATH,
    JSON.stringify({
      master: { tasks: [task(1, [])] },
      auth: { tasks: [task(1, []), task(2, ['auth/1'])] },
    }),
  );
  assert.ok(list.kind === 'stories');
  assert.deepEqual(list.problems, []);
  assert.deepEqual(list.stories[2]?.dependsOn, ['auth/1']);
});
