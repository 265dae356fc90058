import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import { englishOf } from '../../src/base/say.ts';
import { editStoryDone, tickText } from '../../src/orchestrator/stories/edit/edit.ts';
import { isTickDifference } from '../../src/orchestrator/stories/edit/tickDifference.ts';
import { nextStory } from '../../src/orchestrator/stories/select.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile, parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';

const path = '.taskmaster/tasks/tasks.json';
const fixture = await readFile(
  join(import.meta.dirname, '../fixtures/stories/taskMaster.json'),
  'utf8',
);

function parseList(text: string, at = path): StoryList {
  const file = parseStoryFile(at, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file;
}

describe('the tasks of Task Master', () => {
  const list = parseList(fixture);

  test('are stories, and so are their subtasks, in the group of their task', () => {
    assert.equal(list.format, 'taskMaster');
    assert.deepEqual(
      list.stories.map(({ id, title, epic, done, parked = false, line }) => [
        ...[id, title, epic, done, parked, line],
      ]),
      [
        ['1', 'Dig the beds', undefined, true, false, 4],
        ['2', 'Plant', 'Plant', false, false, 15],
        ['2.1', 'Beans', 'Plant', true, false, 22],
        ['2.2', 'Peas', 'Plant', false, false, 23],
        ['2.3', 'Corn', 'Plant', false, true, 24],
        ['3', 'Fence', 'Fence', false, true, 27],
        ['3.1', 'Posts', 'Fence', false, true, 32],
        ['4', 'Water', 'Water', false, false, 34],
        ['4.1', 'Hose', 'Water', false, false, 37],
        ['5', 'Sell', undefined, false, false, 41],
        ['shop/1', 'Rent', 'shop', false, true, 46],
      ],
    );
    const [first] = list.stories;
    assert.equal(first?.description, 'Three of them.\n\n20 cm deep,\nwithout stones.');
    assert.deepEqual(first?.criteria, [{ text: 'A stick goes in' }]);
    assert.deepEqual(
      list.stories.map(({ priority }) => priority),
      [1, 2, 2, 2, 2, ...Array.from({ length: 6 }, () => undefined)],
    );
  });

  test('wait for their subtasks, subtasks for siblings and for what their task waits for', () => {
    assert.deepEqual(
      Object.fromEntries(list.stories.map(({ id, dependsOn }) => [id, dependsOn.join(' ')])),
      {
        ...{ '1': '', '2': '1 2.1 2.2', '2.1': '1', '2.2': '2.1 1', '2.3': '2.1 1' },
        ...{ '3': '3.1', '3.1': '2 9', '4': '2 2.2 4.1', '4.1': '2 2.2', '5': '5 7' },
        'shop/1': 'shop/2',
      },
    );
    assert.equal(nextStory(list.stories).story?.id, '2.2');
  });

  test('wait for tasks that are put aside, but not for such subtasks of their own', () => {
    const later = { title: 'b', status: 'deferred' };
    const { stories } = parseList(
      JSON.stringify({
        tasks: [
          { id: 1, title: 'a', status: 'pending', subtasks: [{ id: 1, ...later }] },
          { id: 2, ...later },
          { id: 3, title: 'c', status: 'pending', dependencies: [2] },
        ],
      }),
    );
    assert.deepEqual(
      stories.map(({ dependsOn, id }) => [id, dependsOn]),
      [
        ['1', []],
        ['1.1', []],
        ['2', []],
        ['3', ['2']],
      ],
    );
    assert.equal(nextStory(stories).story?.id, '1');
  });

  test('without a tag hide tags, which are problems with their lines, and an empty list hides none', () => {
    const master = { tasks: [{ id: 1, title: 'a', status: 'pending' }] };
    const told = (root: unknown) => {
      const { problems, stories } = parseList(JSON.stringify(root, null, 1));
      return {
        ids: stories.map(({ id }) => id),
        problems: problems.map(({ line, message }) => [line, englishOf(message).slice(0, 46)]),
      };
    };
    const archive = { tasks: ['a', { id: 1, status: 'done' }, { id: 2, status: 'done' }] };
    assert.deepEqual(
      told({ tasks: [{ id: 7 }, { id: 8 }], archive, master, other: { tasks: [] } }),
      {
        ids: ['7', '8'],
        problems: [[25, 'Entries in "master.tasks" that are not read: 1']],
      },
    );
    assert.deepEqual(told({ tasks: [], master }), { ids: ['1'], problems: [] });
    assert.deepEqual(told({ tasks: ['b'], master }), {
      ids: ['1'],
      problems: [[3, 'This entry is not a task, so it is not read: a']],
    });
    assert.deepEqual(told({ tasks: [{ id: 7 }], master: { tasks: [] } }), {
      ids: ['7'],
      problems: [],
    });
  });

  test('that are no lists of tasks in a tag are problems with their lines', () => {
    const task = { id: 1, title: 'a', status: 'pending' };
    const done = { ...task, status: 'done' };
    const master = { tasks: [task] };
    const [b, c] = [
      { ...task, title: 'b' },
      { ...task, title: 'c' },
    ];
    for (const [root, name, line] of [
      [{ master, other: [task, b, done, c] }, 'other', 17],
      [{ master, other: { tasks: { x: {}, b: task, c } } }, 'other.tasks', 12],
      [{ master, tasks: { x: {}, y: {} } }, 'tasks', 11],
    ] as const) {
      const { problems, stories } = parseList(JSON.stringify(root, null, 1));
      assert.equal(stories.length, 1);
      assert.deepEqual(
        problems.map(found => [found.code, found.line, englishOf(found.message)]),
        [
          [
            'notAStory',
            line,
            `Entries in "${name}" that are not read: 2. Task Master has its tasks in the list "tasks" of a tag: add them with "task-master add-task", and remove them here.`,
          ],
        ],
      );
    }
    const none = { master, archive: [done], notes: [{ title: 'n' }], other: { tasks: {} } };
    assert.deepEqual(parseList(JSON.stringify(none)).problems, []);
  });

  test('under another key of a tag, below "tags", or without a list are problems with their lines', () => {
    const task = { id: 1, title: 'a', status: 'pending', testStrategy: 'run it' };
    const bare = { id: 2, title: 'b', dependencies: [] };
    const master = { tasks: [{ id: 1, title: 'z', status: 'pending' }] };
    const v2 = { tasks: [task] };
    const told = (root: object) => {
      const { kind, problems } = parseStoryFile(path, JSON.stringify(root, null, 1));
      return [
        kind,
        ...problems.map(
          ({ line, message }) => `${line} ${englishOf(message).replace(/\. Task .*/s, '')}`,
        ),
      ];
    };
    for (const [key, value, name, line, count] of [
      ['v2', { items: [task, bare] }, 'v2.items', 4, 2],
      ['v2', { a: task, metadata: { name: 'x', status: 'active' } }, 'v2', 2, 1],
      ['v2', [bare], 'v2', 3, 1],
      ['tags', { v2, v3: { tasks: [{ ...task, status: 'done' }] } }, 'tags.v2.tasks', 5, 1],
      ['data', { tags: { v2 } }, 'data.tags.v2.tasks', 6, 1],
      ['phases', [{ name: 'One', ...v2 }], 'phases', 6, 1],
      ['2', task, '2', 2, 1],
    ] as const) {
      const words = `Entries in "${name}" that are not read: ${count}`;
      assert.equal(told({ master, [key]: value }).length, 2, name);
      assert.ok(told({ master, [key]: value })[1]?.endsWith(words), name);
      // Alone, they are no empty list.
      assert.deepEqual(told({ [key]: value }), ['invalid', `${line} ${words}`]);
    }
    assert.deepEqual(told({ master: { ...master, backlog: [task] } }), [
      'stories',
      '11 Entries in "master.backlog" that are not read: 1',
    ]);
    const children = [{ ...task, title: 'b' }];
    assert.deepEqual(told({ master: { tasks: [{ ...task, children }] } }), [
      'stories',
      '9 Entries in "children" of 1 that are not read: 1',
    ]);
    const metadata = { id: 'p', name: 'x', status: 'active', owner: { name: 'o', status: 'busy' } };
    const archive = { items: [{ ...task, status: 'done' }] };
    assert.deepEqual(told({ metadata, master: { ...master, metadata }, archive }), ['stories']);
  });

  test('have problems with their lines', () => {
    assert.deepEqual(
      list.problems.map(({ code, line, subject }) => [code, line, subject?.ids]),
      [
        ['unknownDependency', 32, ['9']],
        ['unknownStatus', 41, ['status']],
        ['unknownDependency', 41, ['7']],
        ['circularDependency', 41, ['5']],
        ['notAStory', 42, undefined],
        ['unknownDependency', 46, ['shop/2']],
      ],
    );
  });

  test('that have a key twice are problems with their lines', () => {
    const { problems } = parseStoryFile(
      '.taskmaster/tasks/tasks.json',
      '{"master":{"tasks":[{"id":1,"title":"a",\n"status":"done",\n"status":"pending","subtasks":[]}]}}',
    );
    assert.deepEqual(
      problems.map(({ code, line }) => [code, line]),
      [['repeatedKey', 2]],
    );
    const lists = parseStoryFile(
      '.taskmaster/tasks/tasks.json',
      '{"master":{\n"tasks":[{"id":1,"title":"a","subtasks":[]}],\n"tasks":[{"id":2,"title":"b","subtasks":[]}]}}',
    );
    assert.deepEqual(
      lists.problems.map(({ code, line }) => [code, line]),
      [['repeatedKey', 2]],
    );
  });

  test('that have subtasks, or a tag that has tasks, under another key are problems with their lines', () => {
    const open = '[{"id":1,"title":"p","status":"pending"}]';
    const { problems } = parseStoryFile(
      '.taskmaster/tasks/tasks.json',
      `{"master":{"tasks":[{"id":1,"title":"a","subtasks":[],"testCases":${open}},\n{"id":2,"title":"b","subtask":${open}},\n{"id":3,"title":"c","subtasks":{"1":{"id":1,"title":"p","status":"pending"}}}]},\n"v2":{"task":${open}},"v3":{"metadata":{"reports":${open}}}}`,
    );
    assert.deepEqual(
      problems.map(({ code, line }) => [code, line]),
      [
        ['notAStory', 2],
        ['notAStory', 3],
        ['notAStory', 4],
      ],
    );
  });

  test('a subtask of a subtask is not read, and is reported with its line', () => {
    const inner = { id: 1, title: 'Inner', status: 'pending' };
    const sub = { id: 3, title: 'Sub', status: 'pending', subtasks: [inner] };
    const { problems, stories } = parseList(
      JSON.stringify({ tasks: [{ id: 2, title: 'Task', subtasks: [sub] }] }, null, 1),
    );

    assert.deepEqual(
      stories.map(({ id }) => id),
      ['2', '2.3'],
    );
    assert.deepEqual(
      problems.map(({ code, line, message }) => [code, line, englishOf(message).slice(0, 40)]),
      [['notAStory', 12, 'This is a subtask of the subtask 2.3, so']],
    );
    // As in other places, only what is left counts.
    const states = ['done', 'cancelled', 'deferred', 'pending'];
    const subtasks = states.map((status, id) => ({ ...inner, id, status }));
    for (const [status, count] of [
      ['pending', 1],
      ['done', 0],
      ['cancelled', 0],
    ] as const) {
      const text = JSON.stringify({ tasks: [{ id: 2, subtasks: [{ ...sub, status, subtasks }] }] });
      assert.equal(parseList(text).problems.length, count, status);
    }
  });

  test('are read quickly also if one has thousands of subtasks, or the file thousands of tags', () => {
    const count = 20_000;
    const numbered = (id: number) => ({ id, title: `T${id}`, status: 'pending' });
    const subtasks = Array.from({ length: count }, (_, at) => numbered(at + 1));
    const tags = subtasks.map(({ title }) => [title, { tasks: [numbered(1)] }]);
    const started = performance.now();
    parseList(JSON.stringify({ tasks: [{ ...numbered(1), subtasks }] }));
    parseList(JSON.stringify(Object.fromEntries(tags)));
    // Going through all of them for each of them takes a quarter of a minute.
    assert.ok(performance.now() - started < 5_000);
  });

  test('are read from a file without tags, too, and the first tag with tasks is used as “master”', () => {
    const flat = parseList(
      '{"meta":{"projectName":"Garden"},"tasks":[{"id":1,"title":"a","subtasks":[]}]}',
      'tasks/tasks.json',
    );
    assert.deepEqual([flat.format, flat.project], ['taskMaster', 'Garden']);
    const tagged = parseList('{"master":{"tasks":[]},"api":{"tasks":[{"id":1,"title":"a"}]}}');
    assert.deepEqual([tagged.stories[0]?.id, tagged.stories[0]?.parked], ['1', undefined]);
  });

  test('that are something else are refused with the command that writes them', () => {
    for (const text of ['{}', '[]', '3', '{"master":{}}']) {
      const file = parseStoryFile(path, text);
      assert.ok(file.kind === 'invalid');
      assert.equal(file.problems[0].code, 'noStories');
      assert.match(englishOf(file.problems[0].message), /task-master parse-prd/);
    }
    assert.equal(parseStoryFile(path, '{').problems[0]?.code, 'invalidJson');
  });
});

describe('a tick in Task Master', () => {
  const tick = (id: string, done: boolean) => editStoryDone(fixture, { id }, done, path);

  test('writes its words', () => {
    assert.equal(tick('2.2', true), fixture.replace('"review"', '"done"'));
    assert.equal(tick('2', true), fixture.replace('"in-progress"', '"done"'));
    assert.equal(tick('1', false), fixture.replace('"done"', '"pending"'));
    const none = '{"tasks":[{"id":1,"title":"a","subtasks":[]}]}';
    assert.equal(
      editStoryDone(none, { id: '1' }, true, path),
      '{"tasks":[{"id":1,"title":"a","subtasks":[],"status":"done"}]}',
    );
  });

  test('of a task can be taken back after its subtasks were ticked', () => {
    const task = tickText(fixture, { id: '2' }, true, { path });
    const both = tickText(task.text, { id: '2.2' }, true, { path });
    assert.ok(task.undo);
    const back = tickText(both.text, { id: '2' }, false, { path, undos: [task.undo] });
    assert.equal(back.text, tick('2.2', true));
    assert.ok(isTickDifference(path, fixture, both.text));
  });
});

test('each entry of a test strategy that is a list is a criterion', () => {
  const criteria = (testStrategy: string) =>
    parseList(JSON.stringify({ tasks: [{ id: 1, title: 'A', testStrategy, subtasks: [] }] }))
      .stories[0]?.criteria;
  assert.deepEqual(criteria('- Run it\n- Look at it'), [
    { text: 'Run it' },
    { text: 'Look at it' },
  ]);
  assert.deepEqual(criteria('Run it.\nLook at it.'), [{ text: 'Run it.\nLook at it.' }]);
});

describe('a move in Task Master', () => {
  const move = (id: string, target: string, side: 'before' | 'after') => {
    const { file, move: moved } = parseStoryText(path, fixture);
    const stories = file.kind === 'stories' ? file.stories : [];
    const [story, other] = [id, target].map(wanted => stories.find(one => one.id === wanted));
    assert.ok(story && other);
    return parseList(moved(story, other, side)).stories.map(one => one.id);
  };

  test('stays within its list, and takes subtasks along', () => {
    assert.deepEqual(move('2.2', '2.1', 'before').slice(1, 5), ['2', '2.2', '2.1', '2.3']);
    assert.deepEqual(move('4', '3', 'before').slice(5, 9), ['4', '4.1', '3', '3.1']);
    assert.throws(() => move('2.2', '4', 'before'), HumanError);
    assert.throws(() => move('1', 'shop/1', 'before'), HumanError);
  });
});
