import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { diagnoseStories } from '../../src/orchestrator/stories/diagnosis/diagnose.ts';
import { editStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import { nextStory } from '../../src/orchestrator/stories/select.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

function parseList(path: string, content: string | object): StoryList {
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
  const file = parseStoryFile(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file;
}

const needs = ({ stories }: StoryList) =>
  Object.fromEntries(stories.map(({ id, dependsOn }) => [id, dependsOn.join(' ')]));
const codes = ({ problems }: StoryList) => problems.map(({ code, line }) => [code, line]);

describe('ralph-orchestrator', () => {
  const path = '.ralph/agent/tasks.jsonl';
  const task = (n: number, more: object) =>
    JSON.stringify({ id: `task-177026693${n}-0a0${n}`, title: `t${n}`, priority: 1, ...more });
  const text = [
    // What is done waits for nothing: the tool removes old tasks.
    task(1, { status: 'closed', blocked_by: ['task-1770266000-0a00'] }),
    task(2, { status: 'failed', blocked_by: [] }),
    task(3, { status: 'open', blocked_by: ['task-1770266932-0a02'] }),
    task(4, { status: 'in_progress', priority: 2, blocked_by: ['task-1770266931-0a01'] }),
    task(5, { status: 'open', priority: 3, blocked_by: [] }),
    task(6, { status: 'opened', blocked_by: ['Priority: 1'] }),
    '',
  ].join('\n');

  test('has tasks with its own states, which are not those of Beads', () => {
    const list = parseList(path, text);
    assert.equal(list.format, 'ralphOrchestrator');
    assert.equal(parseList('other.jsonl', text).format, 'ralphOrchestrator');
    assert.equal(parseList('other.jsonl', '{"id":"a","title":"t"}').format, 'beads');
    assert.deepEqual(
      list.stories.map(({ done, parked = false, status }) => [status, done, parked]),
      [
        ['closed', true, false],
        ['failed', false, true],
        ['open', false, false],
        ['in_progress', false, false],
        ['open', false, false],
        ['opened', false, false],
      ],
    );
    // What waits for a task that was given up is not ready there either.
    assert.equal(nextStory(list.stories).story?.title, 't4');
    assert.deepEqual(codes(list), [
      ['unknownStatus', 6],
      ['unknownDependency', 6],
    ]);
  });

  test('gets its own status words, and nothing else', () => {
    const tick = (id: string, done: boolean) => editStoryDone(text, { id }, done, path);
    assert.equal(tick('task-1770266934-0a04', true), text.replace('in_progress', 'closed'));
    assert.equal(tick('task-1770266931-0a01', false), text.replace('closed', 'open'));
  });

  test('is done by its status alone, so that a tick changes what is read', () => {
    const others = { passes: true, completed: true, state: 'closed' };
    for (const [more, done] of [
      [{ ...others, status: 'open' }, false],
      [{ ...others, status: null }, false],
      [others, false],
      [{ passes: false, status: 'closed' }, true],
    ] as const) {
      const line = task(1, more);
      const list = parseList(path, line);
      assert.deepEqual(list.problems, []);
      assert.equal(list.stories[0]?.done, done, line);
      const ticked = editStoryDone(line, { id: 'task-1770266931-0a01' }, !done, path);
      assert.equal(parseList(path, ticked).stories[0]?.done, !done, ticked);
      assert.deepEqual(JSON.parse(ticked), {
        ...JSON.parse(line),
        status: done ? 'open' : 'closed',
      });
    }
  });

  test('refuses other lines with the command that adds tasks', () => {
    for (const other of ['', '{"seq":1}', '7']) {
      const file = parseStoryFile(path, other);
      assert.ok(file.kind === 'invalid');
      assert.match(JSON.stringify(file.problems), /ralph tools task add|ralph-orchestrator/);
    }
  });
});

describe('a feature list of a long-running harness', () => {
  test('is read with each of its keys for done', () => {
    for (const [open, done] of [
      [{ passes: false }, { passes: true }],
      [{ passing: false }, { passing: true }],
      [{ passes: 'failing' }, { passes: 'passing' }],
      [{ state: 'not_started' }, { state: 'passing' }],
      [{ status: 'pending' }, { status: 'verified' }],
    ]) {
      const entry = {
        category: 'functional',
        description: 'A user logs in',
        steps: ['Open', 'Log in'],
      };
      for (const root of [
        [
          { ...entry, ...done },
          { ...entry, ...open },
          { ...entry, ...done },
        ],
        {
          features: [
            { ...entry, ...done },
            { ...entry, ...open },
            { ...entry, ...done },
          ],
        },
      ]) {
        const text = JSON.stringify(root, null, 2);
        const { stories } = parseList('feature_list.json', text);
        assert.deepEqual(
          stories.map(story => story.done),
          [true, false, true],
          JSON.stringify(done),
        );
        assert.deepEqual(stories[0]?.criteria, [{ text: 'Open' }, { text: 'Log in' }]);
        assert.equal(stories[1]?.title, 'A user logs in');
        const ticked = editStoryDone(text, { id: '#2', position: 1 }, true, 'feature_list.json');
        const all = Array.isArray(root) ? root : root.features;
        const wanted = all.map(feature => ({ ...feature, ...done }));
        assert.deepEqual(JSON.parse(ticked), Array.isArray(root) ? wanted : { features: wanted });
      }
    }
  });
});

describe('ralphy', () => {
  const text = `tasks:
  - title: Schema
    completed: true
    parallel_group: 1
  - title: Users
    completed: false
    parallel_group: 2
  - title: Posts
    parallel_group: 2
    completed: false
    description: |
      Text
  - title: Docs
    completed: false
    parallel_group: 4
`;
  test('has tasks by title; a parallel group waits for the one before', () => {
    const list = parseList('.ralphy/tasks.yaml', text);
    assert.deepEqual(needs(list), { '#1': '', '#2': '#1', '#3': '#1', '#4': '#2 #3' });
    assert.equal(nextStory(list.stories).story?.title, 'Users');
    assert.deepEqual(list.problems, []);
  });

  test('is ticked in its own key', () => {
    assert.equal(
      editStoryDone(text, { id: '#2', position: 1 }, true, 'tasks.yaml'),
      text.replace('Users\n    completed: false', 'Users\n    completed: true'),
    );
    const passed = 'tasks:\n- name: a\n  passed: false\n';
    assert.equal(
      editStoryDone(passed, { id: '#1', position: 0 }, true, 'tasks.yaml'),
      passed.replace('false', 'true'),
    );
  });
});

describe('dependencies by name', () => {
  test('in a prd.json: titles, numbers, and epics for their stories', () => {
    const list = parseList('prd.json', {
      epics: [
        { id: 'EPIC-1', title: 'Login', children: ['US-1'] },
        { id: 'EPIC-2', title: 'Shop', blockedBy: ['EPIC-1'] },
      ],
      userStories: [
        { id: 'US-1', title: 'Schema', passes: false },
        {
          id: 'US-2',
          title: 'Tokens',
          parentEpic: 'EPIC-1',
          blockedBy: ['schema '],
          passes: false,
        },
        { id: 'US-3', title: 'Cart', parentEpic: 'EPIC-2', passes: false },
        { id: 'US-4', title: 'Mail', blocked_by: ['Login'], parentEpic: 'Letters', passes: false },
      ],
    });
    assert.deepEqual(needs(list), {
      ...{ 'US-1': '', 'US-2': 'US-1', 'US-3': 'US-1 US-2', 'US-4': 'US-1 US-2' },
    });
    assert.deepEqual(
      list.stories.map(({ epic }) => epic),
      ['Login', 'Login', 'Shop', 'Letters'],
    );
    // Its group may be meant, but nothing says what such an epic waits for.
    assert.deepEqual(codes(list), [['unknownEpic', 45]]);
    const numbers = parseList('prd.json', [
      { title: 'a', passes: false },
      { title: 'b', passes: false, dependsOn: [1] },
    ]);
    assert.deepEqual(needs(numbers), { '#1': '', '#2': '#1' });
  });

  test('in an orchestration: phases and tasks by number, title or name', () => {
    const list = parseList(
      'o.yaml',
      `phases:
  - name: "Phase 1: Soil"
    tasks:
      - name: Dig
      - name: Rake
        depends_on: [dig]
  - phase: 2
    name: Plants
    blocked_by: [1]
    tasks:
      - name: Sow
      - name: Water
        depends_on: [3]
  - name: Harvest
    dependencies: ["2"]
    tasks:
      - name: Eat
        depends_on: [Eat, Nothing]
  - name: Rest
`,
    );
    assert.deepEqual(needs(list), {
      ...{ '#1': '', '#2': '#1', '#3': '#1 #2', '#4': '#3 #1 #2', '#5': '#5 Nothing #3 #4' },
    });
    assert.deepEqual(codes(list), [
      ['unknownDependency', 18],
      ['circularDependency', 18],
      ['notAStory', 19],
    ]);
  });

  test('in a list without phases, a number is that of a task or nothing', () => {
    const task = (id: string, more = '') => `  - ${id}name: t\n    status: pending\n${more}`;
    const waits = '    depends_on: [1]\n';
    for (const start of ['', '# Not plain: \n? x\n: y\n']) {
      const list = parseList(
        'o.yaml',
        `${start}tasks:\n${task('id: T1\n    ')}${task('id: T2\n    ', waits)}`,
      );
      assert.deepEqual(needs(list), { T1: '', T2: '1' });
      assert.deepEqual(
        list.problems.map(({ code, subject }) => [code, subject?.ids]),
        [['unknownDependency', ['1']]],
      );
      const numbered = parseList('o.yaml', `${start}tasks:\n${task('')}${task('', waits)}`);
      assert.deepEqual(needs(numbered), { '#1': '', '#2': '#1' });
      assert.deepEqual(numbered.problems, []);
    }
  });

  test('a title that two stories have means neither', () => {
    const list = parseList('prd.json', [
      ...['a', 'b'].map(id => ({ id, title: 'Same', passes: false })),
      { id: 'c', title: 'x', dependsOn: 'Same', passes: false },
    ]);
    assert.deepEqual(list.problems[0]?.subject?.ids, ['Same']);
  });
});

test('an entry that is not an object is a problem with its line', () => {
  const list = parseList('prd.json', '[\n{"id":1,"title":"a","passes":false},\n"b", [],\nnull]');
  assert.deepEqual(codes(list), [
    ['notAStory', 3],
    ['notAStory', 3],
    ['notAStory', 4],
  ]);
});

describe('a second list of stories is a problem with its line and the number of its entries', () => {
  const told = ({ problems }: StoryList) =>
    problems.map(({ code, line, message }) => [
      code,
      line,
      englishOf(message).replace(/ are\. .*/s, ''),
    ]);
  const story = (id: string) => ({ id, title: `Do ${id}`, passes: false });

  test('in a prd.json, also in phases or epics, unless they are the same stories', () => {
    const userStories = [story('a'), story('b')];
    for (const [key, value, line, count] of [
      ['tasks', [story('c'), story('a'), story('d')], 15, 2],
      ['stories', [story('c')], 15, 1],
      ['features', [story('c')], 15, 1],
      ['phases', [{ name: 'One', tasks: [story('b'), { title: 'c', status: 'open' }] }], 23, 1],
      ['epics', [{ id: 'E', stories: [story('c'), story('d')] }], 18, 2],
    ] as const) {
      const text = JSON.stringify({ userStories, [key]: value }, null, 1);
      const list = parseList('prd.json', text);
      const words = `Entries in "${key}" that are not read: ${count}. Only the stories in "userStories"`;
      assert.equal(list.stories.length, 2);
      assert.deepEqual(told(list), [['notAStory', line, words]]);
      assert.deepEqual(
        diagnoseStories('prd.json', text).diagnoses.flatMap(({ code }) =>
          code === 'notAStory' ? code : [],
        ),
        ['notAStory'],
      );
    }
    userStories.push({ ...story('e'), title: ' Do it\nnow' });
    for (const other of [
      {
        tasks: [
          { title: 'Do it', passes: true },
          { title: ' Do it\n', status: 'open' },
        ],
      },
      { tasks: [story('b')], epics: [{ id: 'E', stories: ['a', { id: 'b', title: 'b' }] }] },
      { features: [{ id: 'f', name: 'Fast' }], tasks: ['lint'], phases: [{ name: 'One' }] },
    ]) {
      const list = parseList('prd.json', JSON.stringify({ userStories, ...other }));
      assert.deepEqual(told(list), []);
    }
  });

  test('in a prd.json as an object in the place of a list', () => {
    const [bare, done] = [
      { title: 'b', passes: false },
      { title: 'c', passes: true },
    ];
    for (const [key, value, count] of [
      ['userStories', { b: bare, c: done }, 1],
      ['tasks', { a: bare, b: bare, c: done, note: 'text' }, 1],
      ['features', { login: { status: 'open' } }, 1],
      ['tasks', story('b'), 1],
    ] as const) {
      const text = JSON.stringify({ stories: [story('a')], [key]: value }, null, 1);
      const [told, ...others] = parseList('prd.json', text).problems;
      assert.deepEqual([told?.code, told?.line, others], ['notAStory', 9, []], text);
      assert.equal(
        englishOf(told?.message ?? ''),
        `Stories in "${key}" that are not read, because it is an object: ${count}. Write the stories as a list, in "stories".`,
      );
    }
    for (const value of [{ a: story('a') }, { done: 3, status: 'open' }, { x: { y: 1 } }, {}]) {
      const text = JSON.stringify({ stories: [story('a')], features: value, tasks: value });
      assert.deepEqual(parseList('prd.json', text).problems, []);
    }
    const empty = parseList('prd.json', JSON.stringify({ stories: [], userStories: { b: bare } }));
    assert.deepEqual(codes(empty), [['notAStory', 1]]);
  });

  test('in a prd.json under any key, unless they are groups or finished', () => {
    const bug = { name: 'Crash', status: 'open' };
    for (const [key, value] of [
      ['backlog', [story('c')]],
      ['bugs', [bug, { ...bug, name: 'Fixed', status: 'done' }, 'text', { status: 'open' }]],
      ['cleanup', [{ ...story('c'), passes: true }, story('d')]],
      ['backlog', [{ ...story('c'), tasks: ['lint'] }]],
    ] as const) {
      const text = JSON.stringify({ userStories: [story('a')], [key]: value }, null, 1);
      const words = `Entries in "${key}" that are not read: 1. Only the stories in "userStories"`;
      const line = key === 'cleanup' ? 15 : 10;
      assert.deepEqual(told(parseList('prd.json', text)), [['notAStory', line, words]]);
    }
    for (const other of [
      { archived: [{ ...story('c'), passes: true }], done: [{ title: 'd', status: 'done' }] },
      { backlog: [story('a')], notes: [{ title: 'n' }], log: [{ status: 'open' }] },
      { gates: [{ id: 'g', name: 'Gate', status: 'pending', stories: ['a'] }] },
      { gates: [{ id: 'g', name: 'Gate', status: 'pending' }] },
    ]) {
      const root = { userStories: [{ ...story('a'), gate: 'g' }], ...other };
      assert.deepEqual(told(parseList('prd.json', JSON.stringify(root))), []);
    }
  });

  test('in an orchestration or a list of ralphy under any key, unless they are finished', () => {
    for (const [text, key, line, used] of [
      [
        'tasks:\n- title: a\n  completed: true\nTasks:\n- {title: b, completed: false}\n',
        'Tasks',
        5,
        'tasks',
      ],
      [
        'phases:\n- tasks: [{id: a}]\nphase:\n- tasks: [{id: b, status: pending}]\n',
        'phase',
        4,
        'phases',
      ],
      ['phases:\n- tasks: [{id: a}]\nbugs:\n- {id: b, status: open}\n', 'bugs', 4, 'phases'],
    ] as const) {
      const words = `Entries in "${key}" that are not read: 1. Only the stories in "${used}"`;
      assert.deepEqual(told(parseList('tasks.yaml', text)), [['notAStory', line, words]]);
    }
    const done =
      'tasks:\n- title: a\narchive:\n- {title: b, status: done}\nnotes: [{title: c}]\nagents: [{id: a1, name: coder, status: active}]\nrisks: [{id: R1, title: r, status: open}]\nmilestones: [{id: m, name: n, status: pending, tasks: [t1]}]\n';
    assert.deepEqual(told(parseList('tasks.yaml', done)), []);
  });

  test('in an orchestration under a key that is known for nothing else, in groups and in objects', () => {
    const task = '{id: Z, title: z, status: pending}';
    const group = `{name: Two, tasks: [${task}]}`;
    for (const [key, value, name = key] of [
      ['final_tasks', `[${task}]`],
      ['finalTasks', '[{title: z, status: open}]'],
      ['next_tasks', '[{id: Z, title: z}]'],
      ['cleanup', `[{id: D, title: d, status: done}, ${task}]`],
      ['stages', `[${group}]`],
      ['project', `{name: Shop, phases: [${group}]}`, 'project.phases'],
      ['project', `{tasks: [${task}]}`, 'project.tasks'],
    ] as const) {
      const words = `Entries in "${name}" that are not read: 1. Only the stories in`;
      for (const head of ['phases:\n- tasks: [{id: a}]\n', 'tasks:\n- id: a\n\n']) {
        const found = told(parseList('o.yaml', `${head}${key}: ${value}\n`));
        assert.deepEqual(found.length, 1, key);
        assert.deepEqual(found[0]?.slice(0, 2), ['notAStory', head.split('\n').length]);
        assert.ok(String(found[0]?.[2]).startsWith(words), String(found[0]?.[2]));
      }
      if (key !== 'project') {
        const phase = `phases:\n- tasks: [{id: a}]\n  ${key}: ${value}\n`;
        assert.deepEqual(told(parseList('o.yaml', phase))[0]?.slice(0, 2), ['notAStory', 3]);
      }
    }
    const item = '[{id: x, name: n, status: pending}]';
    const none = `${['agents', 'quality_gates', 'validation_checks', 'risks', 'milestones']
      .map(key => `${key}: ${item}\n`)
      .join(
        '',
      )}notes: [a]\ndone_criteria: [a]\ndecisions: [{id: D, title: d}]\ncompleted_tasks: [{id: D, title: d}]\n`;
    const waves = 'waves: [{name: w, tasks: [{id: a, status: pending}]}]\nproject: {name: n}\n';
    const text = `phases:\n- tasks: [{id: a}]\n${none}${waves}cleanup: [{id: a, name: b, status: pending}]\n`;
    assert.deepEqual(told(parseList('o.yaml', text)), []);
  });

  test('in a story of a prd.json or in a task of an orchestration', () => {
    const part = { title: 'Part', passes: false };
    for (const key of ['subtasks', 'children', 'stories']) {
      const userStories = [
        { ...story('US-001'), [key]: ['step', part, { name: 'x', status: 'todo' }] },
      ];
      const list = parseList('prd.json', JSON.stringify({ userStories }, null, 1));
      const words = `Entries in "${key}" of US-001 that are not read: 2. Write each as a story next to it, or as one of its acceptance criteria.`;
      assert.deepEqual(told(list), [['notAStory', 9, words]]);
    }
    for (const own of [
      { subtasks: ['step', { title: 'Part' }, { passes: false }] },
      { subtasks: [{ ...part, passes: true }] },
      { children: [story('b')] },
    ]) {
      const userStories = [{ ...story('a'), ...own }, story('b')];
      assert.deepEqual(told(parseList('prd.json', JSON.stringify({ userStories }))), []);
    }
    for (const key of ['tasks', 'subtasks']) {
      for (const [head, line] of [
        ['tasks:\n- id: T1\n  title: One\n', 6],
        ['phases:\n- name: P\n  tasks:\n  - id: T1\n', 7],
      ] as const) {
        const indent = head.startsWith('phases') ? '    ' : '  ';
        const yaml = `${head}${indent}acceptance: [ok]\n${indent}${key}:\n${indent}- id: T1.1\n${indent}  status: pending\n`;
        const words = `Entries in "${key}" of T1 that are not read: 1. Write each as a story next to it, or as one of its acceptance criteria.`;
        assert.deepEqual(told(parseList('tasks.yaml', yaml)), [['notAStory', line, words]]);
      }
    }
  });

  test('in a story of JSON Lines, under other keys, and in an object', () => {
    const b = { id: 'B', title: 'b', status: 'pending' };
    for (const [path, id] of [
      ['.ralph/tasks.jsonl', 'A'],
      ['.beads/issues.jsonl', 'A'],
      ['.ralph/agent/tasks.jsonl', 'task-1768000000-ab12'],
    ] as const) {
      for (const [key, value] of [
        ['subtasks', [{ title: 'Done', status: 'done' }, 'step', b]],
        ['childTasks', { B: { title: 'b', passes: false }, C: { title: 'c', passes: true } }],
      ] as const) {
        const text = `\n${JSON.stringify({ id, title: 'a', status: 'open', [key]: value })}\n`;
        const words = `Entries in "${key}" of ${id} that are not read: 1. Write each as a story next to it, or as one of its acceptance criteria.`;
        assert.deepEqual(told(parseList(path, text)), [['notAStory', 2, words]]);
        const column = text.indexOf(key === 'subtasks' ? '{"id":"B"' : '"B"');
        assert.equal(parseList(path, text).problems[0]?.column, column);
        const both = `${text}${JSON.stringify(b)}\n`;
        assert.equal(parseList(path, both).problems.length, 0);
      }
    }
    for (const key of ['subStories', 'sub_tasks', 'childStories']) {
      for (const value of [{ B: { title: 'b', passes: false } }, b]) {
        const userStories = [{ ...story('A'), [key]: value }];
        const list = parseList('prd.json', JSON.stringify({ userStories }, null, 1));
        assert.deepEqual(
          list.problems.map(({ code, line }) => [code, line]),
          [['notAStory', value === b ? 7 : 8]],
        );
        const yaml = `tasks:\n- id: A\n  ${key}:\n    ${JSON.stringify(value)}\n`;
        assert.deepEqual(
          parseList('tasks.yaml', yaml).problems.map(({ code, line }) => [code, line]),
          [['notAStory', value === b ? 3 : 4]],
        );
      }
    }
    for (const tasks of [
      { title: 'Sum', total: 3, completed: 1 },
      { B: { title: 'b', passes: true } },
      { lint: { title: 'Lint' } },
      { A: { title: 'A', passes: false } },
    ]) {
      const userStories = [{ ...story('A'), subtasks: tasks }];
      assert.deepEqual(told(parseList('prd.json', JSON.stringify({ userStories }))), []);
    }
  });

  test('parts that are the criteria of a story are only a hint', () => {
    const tasks = [{ id: 'T1', title: 'Part', passes: false }];
    const text = JSON.stringify({ userStories: [{ ...story('a'), tasks }] }, null, 1);
    const { problems, stories } = parseList('prd.json', text);
    assert.deepEqual(stories[0]?.criteria, [{ text: 'Part', done: false }]);
    assert.deepEqual(
      problems.map(({ code, line, severity }) => [code, line, severity]),
      [['notAStory', 8, 'info']],
    );
  });

  test('next to the phases of an orchestration', () => {
    const phases = 'phases:\n- name: One\n  tasks:\n  - id: a\n';
    const words = 'Entries in "tasks" that are not read: 2. Only the stories in "phases"';
    assert.deepEqual(told(parseList('o.yaml', `${phases}tasks:\n- id: a\n- id: b\n- Test it\n`)), [
      ['notAStory', 7, words],
    ]);
    for (const tasks of ['tasks: []\n', 'tasks:\n- a\n- name: Dig\n- [b]\n-\n']) {
      const named = `${phases}  - name: Dig\n`;
      assert.deepEqual(told(parseList('o.yaml', named + tasks)), []);
    }
  });
});

test('a priority that is no number and no known word is a problem with its line, unless the story is done', () => {
  const told = (path: string, text: string) =>
    parseList(path, text).problems.map(({ code, line }) => [code, line]);
  const yaml =
    'tasks:\n- id: a\n  priority: urgent\n- id: b\n  status: pending\n  priority: high\n';
  assert.deepEqual(told('o.yaml', yaml), [['priorityNotNumber', 3]]);
  assert.match(
    englishOf(parseList('o.yaml', yaml).problems[0]?.message ?? ''),
    /^"urgent" is not a priority, so the story runs after all that have one/,
  );
  const entries = ['urgent', 'P1', '', null, '2', [1]].map((priority, id) => ({
    ...{ id, title: `Do ${id}`, status: 'pending', priority },
  }));
  const done = { ...entries[0], id: 9, status: 'done' };
  const tasks = `[\n${[...entries, done].map(entry => JSON.stringify(entry)).join(',\n')}]`;
  const lines = [2, 7].map(line => ['priorityNotNumber', line]);
  assert.deepEqual(told('prd.json', tasks), lines);
  assert.deepEqual(told('.taskmaster/tasks/tasks.json', `{"tasks":${tasks}}`), lines);
  const graph = entries.map(entry => JSON.stringify({ ...entry, id: `T${entry.id}` })).join('\n');
  assert.deepEqual(told('.ralph/tasks.jsonl', graph), [
    ['priorityNotNumber', 1],
    ['priorityNotNumber', 6],
  ]);
  const orchestrator = [...entries, { ...entries[0], status: 'failed' }]
    .map((entry, at) => JSON.stringify({ ...entry, id: `task-1770266933-000${at}` }))
    .join('\n')
    .replaceAll('pending', 'open');
  assert.deepEqual(told('.ralph/agent/tasks.jsonl', orchestrator), [
    ['priorityNotNumber', 1],
    ['priorityNotNumber', 6],
  ]);
  // What nobody works on does not run after others, and no priority is none.
  const aside = ['skipped', 'deferred', 'cancelled'].map(status => ({ status, priority: 'must' }));
  const none = ['none', '-', ' None', 'N/A', 'P4', 'normal', false].map(priority => ({
    status: 'pending',
    priority,
  }));
  for (const path of ['prd.json', '.taskmaster/tasks/tasks.json', 'o.yaml']) {
    const stories = [...aside, ...none].map((entry, id) => ({ id, title: `Do ${id}`, ...entry }));
    const text = JSON.stringify(path === 'prd.json' ? stories : { tasks: stories }, null, 1);
    assert.deepEqual(told(path, text), [], path);
    const editor = diagnoseStories(path, text).diagnoses.map(({ code }) => code);
    assert.ok(!editor.includes('priorityNotNumber'), path);
  }
  const [list, object] = [['a'], { a: 1 }].map(priority => {
    const text = JSON.stringify([{ id: 'a', title: 'a', passes: false, priority }]);
    return englishOf(parseList('prd.json', text).problems[0]?.message ?? '');
  });
  assert.match(list ?? '', /^A list is not a priority, so /);
  assert.match(object ?? '', /^An object is not a priority, so /);
  // The editor has the same once, with its fix.
  assert.deepEqual(
    diagnoseStories('prd.json', '[{"id":"a","title":"a","priority":"urgent","passes":false}]')
      .diagnoses.map(({ code }) => code)
      .filter(code => code === 'priorityNotNumber'),
    ['priorityNotNumber'],
  );
});

test('what waits for an epic without stories waits, unless the epic is done', () => {
  const userStories = [
    { id: 'a', title: 'Do a', passes: false, blockedBy: ['E1'] },
    { id: 'b', title: 'Do b', passes: false, parentEpic: 'E2' },
  ];
  const waiting = (more: object) => {
    const epics = [
      { id: 'E1', title: 'Login', ...more },
      { id: 'E2', title: 'Shop', blockedBy: ['Login'] },
    ];
    const list = parseList('prd.json', JSON.stringify({ epics, userStories }));
    const known = list.problems.filter(({ code }) => code === 'unknownDependency');
    return [list.stories.map(({ dependsOn }) => dependsOn.join()), known.length];
  };
  assert.deepEqual(waiting({ stories: [{ id: 'x', passes: false }] }), [['E1', 'E1'], 2]);
  assert.deepEqual(waiting({ children: ['gone-1'] }), [['E1', 'E1'], 2]);
  assert.deepEqual(waiting({ status: 'done' }), [['', ''], 0]);
});

test('an epic that the list of epics does not have is a problem with its line', () => {
  const story = (id: string, parentEpic: string) => ({
    id,
    title: `Do ${id}`,
    passes: false,
    parentEpic,
  });
  const userStories = [story('a', 'E1'), story('b', 'E9'), story('c', 'Login')];
  const epics = [{ id: 'E1', title: 'Login' }];
  const list = parseList('prd.json', JSON.stringify({ epics, userStories }, null, 1));
  assert.deepEqual(
    list.problems.map(({ code, line, message }) => [code, line, englishOf(message)]),
    [
      [
        'unknownEpic',
        19,
        'b belongs to the epic E9, which the list "epics" does not have: correct the id, or add the epic there.',
      ],
    ],
  );
  for (const root of [{ userStories }, { userStories, epics: [] }]) {
    assert.deepEqual(codes(parseList('prd.json', JSON.stringify(root))), []);
  }
});

test('epics that cannot be read as they are meant are problems with their lines', () => {
  const told = (root: object) =>
    parseList('prd.json', JSON.stringify(root, null, 1)).problems.map(
      ({ line, message }) => `${line} ${englishOf(message)}`,
    );
  const story = { id: 'US-1', title: 'Do it', passes: false, acceptanceCriteria: ['a'] };
  const epic = { id: 'E1', title: 'Login' };
  assert.deepEqual(told({ epics: { E1: { title: 'Login' } }, userStories: [story] }), [
    '2 Epics are only read from a list: "epics": [{"id": "…", "title": "…"}].',
  ]);
  assert.deepEqual(told({ epics: [epic, { ...epic, title: 'Shop' }], userStories: [story] }), [
    '7 The id E1 is that of another epic above, too, so what waits for it waits for that one: give this epic an id of its own.',
  ]);
  assert.deepEqual(
    told({
      epics: [epic],
      userStories: [
        { ...story, parentEpic: ['E1'] },
        { ...story, id: 'B' },
      ],
    }),
    ['16 The value of "parentEpic" is not read: write the id of one epic, in quotes.'],
  );
  // The epic waits for it, and not the story.
  assert.deepEqual(
    told({
      epics: [{ ...epic, blockedBy: ['gone'] }],
      userStories: [{ ...story, parentEpic: 'E1' }],
    }),
    [
      '6 US-1 waits for gone, which this file does not have: correct the id, or remove it when that story is done elsewhere.',
    ],
  );
  for (const epics of [null, {}, { total: 3 }, 'docs/epics.md', [epic, { title: 'No id' }]]) {
    for (const parentEpic of [null, []]) {
      assert.deepEqual(told({ epics, userStories: [{ ...story, parentEpic }] }), []);
    }
  }
  for (const odd of [{ parentEpic: null, epicId: ['E1'] }, { epicId: true }]) {
    assert.match(told({ epics: [epic], userStories: [{ ...story, ...odd }] }).join(), /"epicId"/);
  }
});

test('what an epic waits for in vain is shown at the name in the list of epics', () => {
  const lines = (root: object) =>
    parseList('prd.json', JSON.stringify(root, null, 1)).problems.map(({ line }) => line);
  const story = (id: string, others: object) => ({ id, title: id, passes: false, ...others });
  const epics = [
    'docs\\epics.md',
    { id: 'E1', title: 'Shop', dependsOn: [], blockedBy: ['gone'] },
    { id: 'E2', title: 'Shop', dependsOn: ['B'] },
  ];
  const userStories = [
    story('A', { parentEpic: 'E1', dependsOn: [] }),
    story('B', { dependsOn: ['lost'] }),
    story('C', { parentEpic: 'E1', dependsOn: ['B'] }),
  ];
  assert.deepEqual(lines({ epics, userStories }), [8, 8, 33]);
  // A list without epics, with whatever texts.
  const text = 'Show "{name}" on the page';
  const list = [{ category: 'ui', description: text, ...story('A', { dependsOn: ['gone'] }) }];
  assert.deepEqual(lines(list), [9]);
});

test('hundreds of epics may wait for each other by title, by number or in vain', () => {
  const count = 400;
  for (const name of [(n: number) => `epic ${n}`, (n: number) => n + 1, (n: number) => `no ${n}`]) {
    const epics = Array.from({ length: count }, (_, n) => ({
      ...{ id: `E${n}`, title: `Epic ${n}` },
      blockedBy: Array.from({ length: n }, (_, other) => name(other)),
    }));
    const userStories = epics.map(({ id }, n) => ({
      ...{ id: `S${n}`, title: `Do ${n}`, passes: false, epicId: id },
    }));
    const { stories } = parseList('prd.json', JSON.stringify({ epics, userStories }));
    assert.equal(stories.at(-1)?.dependsOn.length, count - 1);
  }
});

test('a word for put aside in the place of true or false says how to put a story aside', () => {
  const told = (others: object) =>
    parseList('prd.json', JSON.stringify([{ id: 'A', title: 'a', passes: 'deferred', ...others }]))
      .problems.map(({ message }) => englishOf(message))
      .join();
  assert.match(told({}), /agents work on it: write false, and "deferred" as its "status"/);
  assert.match(told({ status: 'skipped' }), /: write true or false without quotes\.$/);
});

test('very long lines and texts with very many lines are read', () => {
  for (const start of ['- ', '> ', '1. ']) {
    const text = `${start.repeat(3_000_000)}\n- [ ] T1 One\n`;
    assert.equal(parseList('PLAN.md', text).stories.length, 1);
  }
  const log = `- [ ] T1 One\n\`\`\`\n${'log\n'.repeat(200_000)}\`\`\`\n- [ ] T2 Two\n`;
  assert.equal(parseList('PLAN.md', log).stories.length, 2);
  const task = '{"id":"a","title":"x","status":"ready","blockedBy":[]}\n';
  assert.equal(parseList('tasks.jsonl', task + '\n'.repeat(2_000_000)).stories.length, 1);
});

test('an id in the list of epics that no story has is a problem with its line', () => {
  const userStories = [
    { id: 'US-1', title: 'Do it', passes: false, subtasks: [{ id: 'US-1.1', title: 'A part' }] },
  ];
  const problems = (epics: readonly object[], others: object = {}) =>
    parseList('prd.json', JSON.stringify({ epics, userStories, ...others }, null, 1))
      .problems.filter(({ code }) => code === 'unknownEpic')
      .map(({ line, message }) => `${line} ${englishOf(message)}`);
  assert.deepEqual(
    problems([
      { id: 'E1', title: 'Login', children: ['US-1', 'gone', 'gone'] },
      { id: 'E2', stories: ['US-7'] },
    ]),
    [
      '8 The epic Login lists ids that no story has: gone. Correct or remove them there.',
      '15 The epic E2 lists ids that no story has: US-7. Correct or remove them there.',
    ],
  );
  // Numbers, ways, steps, parts, other epics and lists, and what may have lost its stories.
  for (const epic of [
    { id: 'E', stories: 2, tasks: 'docs/epic-1.md' },
    { id: 'E', tasks: ['Design', 'Build', 'a text, not an id'] },
    { id: 'E', children: ['US-1.1', 'E', { id: 'US-8' }, 'US-8'] },
    { id: 'E', children: ['US-9'] },
    { id: 'E', status: 'done', children: ['US-7'] },
    { id: 'E', status: 'cancelled', children: ['US-7'] },
    { id: 'E', state: 'deferred', children: ['US-7'] },
    { id: 'E', children: ['US-1', 'US-6'] },
    { id: 'E', tasks: ['api', 'docs'] },
    { id: 'E', children: ['US-1', 'US-5'], completedStories: ['US-5'] },
    { id: 'E', title: 'Checkout', children: ['US-1', 'Checkout', 'US-4'] },
  ]) {
    const others = {
      ...{
        completedStories: [{ id: 'US-9', passes: true }],
        completed: ['US-6'],
        archive: { 'US-4': '2024' },
      },
      labels: [{ id: 'api' }],
    };
    assert.deepEqual(problems([epic], others), []);
  }
  const unnamed = [{ title: 'One' }, { title: 'Two', passes: true }];
  assert.deepEqual(problems([{ id: 'E', children: ['#1'] }], { userStories: unnamed }), []);
  assert.deepEqual(problems([{ id: 'E', children: ['US-7'] }], { userStories: [] }), []);
});

test('a line that is almost a checkbox is a problem with its line', () => {
  const text = [
    ...[
      '# Plan',
      '- [ ] one',
      '- [] two',
      '-[x] three',
      '1. [ ]four',
      '- [x ] five',
      '### [ ] six',
    ],
    ...['- [ ] ', '- [P] legend', '- [](link)', '- [x]: note', '```', '- [] code', '```'],
    ...['> - [ ] nine', '> > 1. [ ] ten', '> - [x] quoted', '> [ ] quoted', '> text'],
    ...['[ ] open', '[x] done', '- [ ] eleven', '  [ ] wrapped'],
    ...[
      '[x]: https://example.org',
      '[x](link)',
      '[P] legend',
      '```',
      '[ ] code',
      '> - [ ] code',
      '```',
    ],
  ].join('\n');
  const list = parseList('openspec/changes/a/tasks.md', text);
  assert.deepEqual(
    codes(list),
    [3, 4, 5, 6, 15, 16, 18].map(line => ['notAStory', line]),
  );
  const file = parseStoryFile('plan.md', '# Plan\n\n- [] two');
  assert.deepEqual([file.problems[0]?.code, file.problems[0]?.line], ['noStories', 3]);
  for (const [text, line] of [
    ['# Plan\n\n> [x] ok\n  [ ] wrapped\n[ ] T009 nine\n[x] T010 ten', 5],
    ['# Plan\n\n> [x] ok\n  [ ] wrapped', 1],
  ] as const) {
    const [problem] = parseStoryFile('plan.md', text).problems;
    assert.deepEqual([problem?.code, problem?.line], ['noStories', line]);
  }
});

test('other spellings of a checkbox are problems with their lines, and legends and tables are none', () => {
  const almost = [
    ...['[ ] a', '- - [ ] b', '* - [ ] c', '1. - [ ] d', 'a. [ ] e', '- ☐ f', '• [ ] g'],
    ...['– [ ] h', '- \\[ \\] i', '- **[ ]** j', '- [ ]\u00A0k', '-\u00A0[ ] l', '☐ m'],
    ...['\u00A0- [ ] a', '\u3000- [-] b', '\u200B[ ] c', '-\u2060[ ] d', '- [ ]\u3000e'],
    ...['1234567890. [ ] f', '12345678901) [✅] g', '>\u00A0- [ ] h', '\f- [ ] **i**'],
    ...['<!-- c --> - [ ] j', '<!-- c --> <!-- - [ ] d -->\u00A0- [x] k', '<!-- --> [ ] l'],
    ...[' b- [x] 7. n', '1- [ ] o', '- [xx] p', '- [✅ ] q', '- [✔️]r'],
    ...['- [ ]: a', '- _[ ]_ b', '- *[ ]* c', '● [ ] d', '· [ ] e', '－ [ ] f', '- ［ ］ g'],
    ...['- ⬜ h', '- □ i', '- 🔲 j', '1. ⬜️ k', '- [TODO] l', '* [done] m', '- [To do] n'],
    ...['1: [ ] o', '(1) [ ] p', '(a) [ ] q', '- T001 [ ] r', 'US-12 [ ] s', '- **1.2** [ ] t'],
    ...['- ［x］\u3000u', '・ [ ] v', '■ ☐ w'],
  ];
  const others = [
    ...[
      '',
      '[ ] open',
      '- **[ ]** Not started',
      '- ☐ = to do',
      '- **[x]** - finished',
      '- `[ ]` x',
      'Use - [ ] for an open item',
      '`- [ ] item`',
      '\\- [ ] item',
      'C++ [x] supported',
      '~~- [ ] struck~~',
      'a- [ ] = open',
      '"- [ ] item"',
      ...['- [xx](link)', '- [✅ ] = done', '### [✅] Part', '- [!!] warning', '- [~/] home'],
      ...['b* [ ] item', 'A+ [ ] mark'],
      ...[
        '- [done](a.md) text',
        '- [todo][1] text',
        '- [todo]: https://a.example',
        '  - [done] note',
      ],
      ...['- [ok] text', '[TODO] text', '- [TODO]', '- [done] = finished', '- [todo]text'],
      ...['- [ ]: https://a.example', '- [ ]: not done', '- [x]: done', '- ［注］ text'],
      ...['⬜⬜⬜ 30%', '⬜ ⬜ 30%', '- ⬜ Not started', '- □', '● [ ] open', '● text', '- ■ text'],
      ...['1: [x] output', '(see) [ ] text', 'T001 [x] text', '- T001 [link](a)', '- x = [ ] + y'],
      ...[
        '(1) [ ] - pending',
        '- "T001 [ ] text"',
        '-',
        '',
        '  [ ] text',
        '-',
        '[ ] open',
        '-',
        '  text',
      ],
      ...['See\u00A0- [ ] item', 'In 1234567890. [ ] item', '<!-- - [ ] a -->', '<!-- c --> text'],
      ...['<!-- c', '- [ ] a', '-->', '```', '<!-- c --> - [ ] b', '```'],
    ],
    ...[
      '',
      '| [ ] a | b |',
      '',
      '[ ] a | b',
      '--- | ---',
      '',
      '```',
      '- ☐ code',
      '[ ] code',
      '```',
    ],
  ];
  const list = parseList('plan.md', ['- [ ] real', ...almost, ...others].join('\n'));
  assert.deepEqual(
    codes(list),
    almost.map((_, index) => ['notAStory', index + 2]),
  );
  assert.equal(list.stories.length, 1);
});

test('a checkbox whose text is below it is a problem with its line, and one without a text is none', () => {
  const list = parseList(
    'plan.md',
    [
      ...['- [ ] one', '- [ ]', '  two', '- [x] ', '    `three`', '- [ ]', '- [ ]', '', '  four'],
      ...['- [ ]', 'five', '- [ ]', '', 'Not its text', '- [ ]', '', '', '  Nor this'],
    ].join('\n'),
  );
  assert.deepEqual(codes(list), [
    ['notAStory', 2],
    ['notAStory', 4],
    ['notAStory', 7],
    ['notAStory', 10],
  ]);
  assert.deepEqual(
    list.stories.map(({ title }) => title),
    ['one'],
  );
  const others = [
    ...['  - two', '  * two', '  1. two', '  2) two', '  • two', '  [ ] two', '  ***'],
    ...['  _ _ _', '  a | b', '  ...', '  {{task}}'],
  ];
  for (const below of [...others, '  ```', '# Part', '  > two', '  <!-- two -->']) {
    assert.deepEqual(codes(parseList('plan.md', `- [ ] one\n- [ ]\n${below}`)), [], below);
  }
  // The next line is one, and named itself.
  assert.deepEqual(codes(parseList('plan.md', '- [ ] one\n- [ ]\n  a. [ ] two')), [
    ['notAStory', 3],
  ]);
  for (const below of ['  #12 two', '  Use `a | b`', '  {id} is two', '  `two']) {
    assert.deepEqual(codes(parseList('plan.md', `- [ ] one\n- [ ]\n${below}`)), [['notAStory', 2]]);
  }
  const [problem] = parseList('plan.md', '- [ ] one\n- [ ]\n  [two](a.md)').problems;
  assert.equal(
    problem && englishOf(problem.message),
    'The text of this checkbox is below it, so it is not read. Write it on this line: "- [ ] …".',
  );
});

test('a checkbox below its bullet is a problem with the line of the bullet', () => {
  const list = parseList('plan.md', '- [ ] one\n-\n  [ ] two\n\n1. \n   [x] three\n- \n[ ] open\n');
  assert.deepEqual(codes(list), [
    ['notAStory', 2],
    ['notAStory', 5],
  ]);
  assert.ok(englishOf(list.problems[1]?.message ?? '').endsWith('"- [x] …".'));
});

test('a line with the id of a task before its box is one problem', () => {
  const text = '- [ ] T001 one\n- T002 [ ] two\n- T003 three\n';
  const { problems } = parseList('specs/001-shop/tasks.md', text);
  assert.deepEqual(
    problems.map(({ line, message }) => [line, englishOf(message).slice(0, 15)]),
    [
      [2, 'This looks like'],
      [3, 'This line begin'],
    ],
  );
});

test('a long line that begins like a checkbox is read', () => {
  const space = ' '.repeat(200_000);
  const many = ['● ', '□', '- T001 ', '1.1', '(1) [', '- [ ]: '].map(part => part.repeat(50_000));
  assert.deepEqual(codes(parseList('plan.md', ['- [ ] one', ...many].join('\n'))), []);
  const lines = [`- [${space}`, `- [${space}x`, `- []${space}`, `>${space}x`];
  assert.deepEqual(codes(parseList('plan.md', ['- [ ] one', ...lines].join('\n'))), []);
});

test('advice names the tool of a file without stories, and never suggests rewriting it', () => {
  for (const [path, text, tool] of [
    ['.taskmaster/config.json', '{}', 'Task Master'],
    ['.kiro/specs/login/requirements.md', '# Requirements', 'Kiro'],
    ['openspec/changes/login/proposal.md', '# Why', 'OpenSpec'],
    ['specs/001-login/spec.md', '# Login', 'Spec Kit'],
    ['feature_list.json', '{"version": 1}', 'feature list'],
    [
      '.harness/feature_list.json',
      '{"version": 1, "scenarios": [{"id": "a", "description": "b", "passes": false}]}',
      'The list "scenarios" of this feature list is not read',
    ],
    [
      'feature_list.json',
      '{"0": {"id": "a", "title": "b", "status": "passing"}}',
      'The features of this list are the values of an object ("0": …)',
    ],
    ['.vscode/tasks.json', '{"version":"2.0.0","tasks":[{"label":"build"}]}', 'VS Code'],
    ['package.json', '{"name":"a","dependencies":{}}', 'npm'],
    ['board.json', '{"cards":[{"idBoard":"1"}]}', 'Trello'],
    ['tasks.yaml', 'apiVersion: tekton.dev/v1\nkind: Task\n---\nkind: Task\n', 'Kubernetes'],
    ['tasks.yaml', '---\n- name: install\n  apt: {name: git}\n', 'Ansible'],
    ['tasks.yaml', 'research:\n  description: x\n  expected_output: y\n', 'CrewAI'],
    ['compose.yaml', 'services:\n  db: {image: postgres}\n', 'Docker Compose'],
    ['log.jsonl', '{"sessionId":"1","type":"user"}', 'Claude Code'],
    ['.ralphy/config.yaml', 'project:\n  name: a\n', '.ralphy/tasks.yaml'],
    ['.beads/config.yaml', '# issue-prefix: ""\n', '.beads/issues.jsonl'],
    ['.beads/metadata.json', '{"database":"beads.db"}', '.beads/issues.jsonl'],
    ['backlog/config.yml', 'statuses: ["To Do"]\n', 'Backlog.md. Its stories are in backlog/:'],
    ['.backlog/config.yml', 'statuses: ["To Do"]\n', 'Its stories are in .backlog/:'],
    ['backlog.config.yml', "backlog_directory: './docs/tracker'\n", ' are in docs/tracker/:'],
    ['backlog.config.yml', 'backlog_directory: ../x\n', 'name the story file instead'],
    ['ralph.yml', 'cli:\n  backend: claude\n', '.ralph/agent/tasks.jsonl'],
    ['web/tsconfig.json', '{\n  // Comment\n  "files": []\n}', 'TypeScript'],
    ['tsconfig.base.json', '{"compilerOptions":{}}', 'TypeScript'],
    ['jsconfig.json', '{}', 'TypeScript'],
    ['composer.json', '{"name":"a/b"}', 'Composer'],
    ['.eslintrc.json', '{"root":true}', 'ESLint'],
    ['deno.json', '{"tasks":{"test":"deno test"}}', 'Deno'],
    ['.omc/state/ralph-state.json', '{"active":true}', 'oh-my-claudecode'],
    ['.omc\\state\\other.json', '{"active":', 'oh-my-claudecode'],
    ['_bmad-output/epics.md', '## Epic 1: Plants\n\n### Story 1.1: Dig\n', 'sprint-status.yaml'],
    ['docs/epics.md', '## Epic 1: Plants\n\n### Story 1.1: Dig\n', 'sprint-status.yaml'],
    ['Taskfile.yml', "version: '3'\ntasks:\n  build: {cmds: [make]}\n", 'taskfile.dev'],
    ['build/tasks.yml', "version: '3'\n\ntasks:\n  build:\n    cmds: [make]\n", 'taskfile.dev'],
    ['_bmad/bmm/config.yaml', 'project_name: a\n', 'sprint-status.yaml'],
    ['openspec/config.yaml', 'schema: spec-driven\n', 'openspec/changes/*/tasks.md'],
    ['openspec/project.md', '# Project\n', 'openspec/changes/*/tasks.md'],
    ['.gitlab-ci.yml', 'stages: [build]\n', 'GitLab CI'],
    ['mkdocs.yml', 'site_name: a\n', 'MkDocs'],
    ['.pre-commit-config.yaml', 'repos: []\n', 'pre-commit'],
    ['pnpm-workspace.yaml', 'packages: ["a"]\n', 'pnpm'],
    ['buildspec.yml', 'version: 0.2\nphases:\n  build:\n    commands: [make]\n', 'CodeBuild'],
    ['chart/values.yaml', 'replicas: 1\n', 'Helm'],
    ['chart/Chart.yaml', 'apiVersion: v2\nname: a\n', 'Helm'],
    ['.mcp.json', '{"mcpServers":{}}', 'MCP'],
    ['.claude/settings.json', '{"permissions":{}}', 'Claude Code'],
    ['.omc/config.json', '{"maxIterations":5}', 'Ralph Fresh'],
    ['.omc/config.json', '{"maxIterations":', 'Ralph Fresh'],
    ['AGENTS.md', '# Rules\n', 'instructions for agents'],
    ['web/CLAUDE.md', '# Rules\n', 'instructions for agents'],
    ['.specify/memory/constitution.md', '# Constitution\n', 'specs/*/tasks.md'],
    ['Cargo.toml', '[package]\nname = "a"\n', 'Cargo'],
    ['.beads/interactions.jsonl', '{"kind":"created"}\n', '.beads/issues.jsonl'],
    ['.ralph/agent/events.jsonl', '{"topic":"a"}\n', '.ralph/agent/tasks.jsonl'],
  ] as const) {
    const file = parseStoryFile(path, text);
    assert.ok(file.kind === 'invalid', path);
    const message = englishOf(file.problems[0].message);
    assert.ok(message.includes(tool), `${path}: ${message}`);
    assert.doesNotMatch(message, /userStories|phases|- \[ \]/);
  }
});

test('stories that cannot be read are not taken for settings, whatever their name', () => {
  const text = 'phases:\n  - name: A\n    tasks:\n      - id: T1\n        name: "One\n';
  const [problem] = parseStoryFile('ralph.yml', text).problems;
  assert.equal(problem?.code, 'invalidYaml');
  assert.doesNotMatch(englishOf(problem.message), /settings/);
  assert.ok(problem.line > 1);
});

test('an item that is almost one is named in a file of any name', () => {
  for (const item of ['- [xx] one', '☐ one', '- - [ ] one', 'a. [ ] one', '- **[ ]** one']) {
    const [problem] = parseStoryFile('notes.md', `# Notes\n\n${item}\n`).problems;
    assert.deepEqual([problem?.code, problem?.line], ['noStories', 3], item);
    assert.match(englishOf(problem?.message ?? ''), /^This looks like a checkbox/, item);
  }
});

test('an empty list of tasks names its tool and the form of a task', () => {
  for (const [path, words] of [
    ['.kiro/specs/login/tasks.md', /Let Kiro write .*"- \[ \] 1\. …"/],
    ['specs/001-login/tasks.md', /Let Spec Kit write .*\/speckit\.tasks.*"- \[ \] T001 …"/],
    ['.specify\\specs\\001-login\\tasks.md', /Let Spec Kit write /],
    ['openspec/changes/login/tasks.md', /Let OpenSpec write .*"- \[ \] 1\.1 …"/],
    ['docs/tasks.md', /Write each story as "- \[ \] …"/],
  ] as const) {
    for (const text of ['', '# Tasks\n']) {
      const file = parseStoryFile(path, text);
      assert.ok(file.kind === 'invalid', path);
      assert.match(englishOf(file.problems[0].message), words);
    }
  }
});

test('a list of stories that is broken is repaired, whatever its text reminds of', () => {
  const file = parseStoryFile('prd.json', '{"userStories": [{"idBoard": "1"}');
  assert.equal(file.problems[0]?.code, 'invalidJson');
  assert.doesNotMatch(englishOf(file.problems[0].message), /Trello/);
});

test('nobody is told to rewrite a file that has nothing like stories', () => {
  for (const [path, text] of [
    ['docs/epics.md', '# Epics\n\nThe big ones.\n'],
    ['login/spec.md', '# Login\n\n- A form\n'],
    ['settings.json', '{"theme":"dark"}'],
    ['data.json', '[{"x":1}]'],
    ['any.yaml', 'a: 1\n'],
    ['any.yml', 'tasks:\n  build: make\n'],
    ['tasks.yaml', 'a: 1\n'],
    ['any.toml', '[a]\nb = 1\n'],
    ['notes.txt', 'Only words\n'],
    ['log.jsonl', '{"level":"info"}\n'],
  ] as const) {
    const file = parseStoryFile(path, text);
    assert.equal(file.problems[0]?.code, 'noStories', path);
    const message = englishOf(file.problems[0].message);
    assert.match(
      message,
      /^This file has no stories of a known format\. Name another one, or /,
      path,
    );
  }
});

test('a list without stories is told what to write into it', () => {
  for (const [path, text, words] of [
    ['empty.yaml', '', /Put the tasks into "phases:"/],
    ['empty.md', ' \n', /Write each story as "- \[ \] …"/],
    ['prd.json', '{}', /Put the stories into a list "userStories"/],
    ['web\\prd.json', '[1]', /Put the stories into a list "userStories"/],
    ['a.json', '{"userStories":{}}', /Put the stories into a list "userStories"/],
    ['a.json', '{"phases":[{"tasks":[]}]}', /nested in "phases"/],
    ['a.yaml', 'tasks:\n', /Put the tasks into "phases:"/],
    ['.ralphy/tasks.yaml', 'tasks:\n', /^This list of ralphy has no tasks that can be read\. /],
    [
      '.ralphy/tasks.yaml',
      'task:\n- title: a\n',
      /^The list "task" is not read: rename it to "tasks"/,
    ],
    ['a.yaml', 'phases:\n  one:\n    tasks:\n      - id: T1\n', /Put the tasks into "phases:"/],
    ['.claude/orchestration/a.yaml', 'name: a\n', /Put the tasks into "phases:"/],
    ['PLAN.md', '# Plan\n', /Write each story as "- \[ \] …"/],
    ['a.md', '```\n- [ ] example\n```\n', /Write each story as "- \[ \] …"/],
    ['a.md', '# Tasks\n~~~md\n- [ ] T001 a\n- [x] T002 b\n~~~\n', /fence, .*: 2\. If /],
    ['a.md', '<!--\n- [ ] a\n-->\n', /in a comment, so they are not read: 1\./],
    ['.beads/issues.jsonl', '{"kind":"created"}\n', /each needs an id and a title/],
  ] as const) {
    const file = parseStoryFile(path, text);
    assert.equal(file.problems[0]?.code, 'noStories', path);
    assert.match(englishOf(file.problems[0].message), words, `${path} ${text}`);
  }
});

test('a mark that is not known is a problem, and counts as not done', () => {
  const list = parseList(
    '.kiro/specs/a/tasks.md',
    '- [x] 1. a\n- [-] 2. b\n- [>] 3. c\n- [\u00a0] 4. d',
  );
  assert.deepEqual(
    list.stories.map(({ done, status }) => [done, status]),
    [
      [true, undefined],
      [false, 'in_progress'],
      [false, undefined],
      [false, undefined],
    ],
  );
  assert.deepEqual(codes(list), [['unknownStatus', 3]]);
});
