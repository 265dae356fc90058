import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TARGETS, type Target } from '../../src/orchestrator/stories/convert/conversion.ts';
import { convertStories } from '../../src/orchestrator/stories/convert/convertStories.ts';
import { packFolder } from '../../src/orchestrator/stories/formats/folderText.ts';
import { parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';
import { lossLines, MOST_IN_DIALOG } from '../../src/presentation/conversionLosses.ts';
import { english } from '../../src/presentation/translate.ts';

/** The keys that a conversion names as lost, and the lines that it counts, as people read them. */
function lostKeys(path: string, source: unknown, target: Target): string[] {
  const text = typeof source === 'string' ? source : JSON.stringify(source);
  const parsed = parseStoryText(path, text);
  const { file } = parsed;
  assert.ok(file.kind === 'stories', JSON.stringify(file.problems));
  const { losses } = convertStories({ ...parsed, file }, target, new Date(0));
  return lossLines(
    losses.filter(
      loss =>
        loss.kind === 'fileKeys' ||
        loss.kind === 'files' ||
        loss.kind === 'lines' ||
        ('fact' in loss && loss.fact === 'keys'),
    ),
    english,
  );
}

function everywhere(path: string, source: unknown, lines: readonly string[]): void {
  for (const target of TARGETS) {
    assert.deepEqual(lostKeys(path, source, target), lines, target);
  }
}

describe('keys of phases', () => {
  test('that its tasks do not say are named, and so is a second list', () => {
    const yaml = `phases:
  - id: P1
    name: One
    number: 1
    status: pending
    gate: All tests pass
    owner: bob
    notes: ''
    tasks:
      - {id: a, name: A, status: pending}
    review:
      - {id: RV, name: Review, status: pending}
  - phase: P2
    description: |
      Words.
    depends_on: [P1]
    status: in_progress
    tasks:
      - {id: b, name: B, status: pending}
`;
    everywhere('p.yaml', yaml, [
      'keys of the file: phases.id, phases.gate, phases.owner, phases.review, phases.description, phases.status',
    ]);
  });

  test('are none if the tasks say them', () => {
    const yaml = `phases:
  - id: P1
    name: One
    number: 1
    status: completed
    tasks:
      - {id: a, name: A, status: completed}
  - id: P2
    name: Two
    depends_on: P1
    status: pending
    tasks:
      - {id: b, name: B, status: pending}
`;
    // What waits for a phase is written with the ids of its tasks, and nothing else says its id.
    everywhere('p.yaml', yaml, ['keys of the file: phases.id']);
    const named = yaml.replaceAll(/ {2}- id: P\d\n {4}/g, '  - ').replace('on: P1', 'on: One');
    everywhere('p.yaml', named, []);
    everywhere('p.yaml', 'tasks:\n  - {id: b, name: B, status: pending}\n', []);
  });

  test('are all named if nothing of the phase is left', () => {
    const yaml = `phases:
  - name: One
    tasks:
      - {id: a, name: A, status: pending}
  - name: Later
    tasks: []
`;
    everywhere('p.yaml', yaml, ['keys of the file: phases.name']);
  });
});

describe('a value that is not read', () => {
  test('is named with its key in a prd.json', () => {
    const story = {
      ...{ id: 'A', title: 'A', acceptanceCriteria: ['x'], priority: 'urgent', effort: 'S' },
      ...{ model: 'gpt 4', maxTurns: 'many', passes: 'yes' },
    };
    everywhere('prd.json', { userStories: [story] }, [
      'other keys (priority, effort, model, maxTurns, passes): A',
    ]);
    const others = { dependsOn: [{ name: 'B' }], discoveredFrom: ['B'], parked: 'true', id: true };
    everywhere(
      'prd.json',
      [{ title: 'A', passes: false, ...others }],
      ['other keys (dependsOn, discoveredFrom, parked, id): #1'],
    );
  });

  test('is named with its key in YAML', () => {
    const yaml = `phases:
  - name: One
    tasks:
      - id: T1
        name: A
        priority: urgent
        model: "gpt 4"
        effort: 3
        passes: yes
        blocked_by: [{task: T2}]
      - {id: T2, name: B, status: pending}
`;
    everywhere('p.yaml', yaml, ['other keys (priority, model, effort, passes, blocked_by): T1']);
  });

  test('is none if it was read, or says nothing', () => {
    const read = {
      ...{ id: 'A', title: 'A', priority: 'P1', effort: ' High', model: 'opus', maxTurns: 4 },
      ...{ passes: false, status: 'pending', dependsOn: ['B', null], discoveredFrom: 'B' },
    };
    const empty = {
      ...{ id: 'B', title: 'B', priority: null, effort: '', model: ' ', maxTurns: null },
      ...{ passes: null, status: 'in_progress', dependsOn: [], discoveredFrom: '', notes: ' ' },
    };
    const done = { id: 'C', title: 'C', passes: true, status: 'done', parked: true, priority: 2 };
    everywhere('prd.json', { userStories: [read, empty, done] }, []);
    const yaml = `tasks:
  - {id: "1.10", name: 1.10, priority: high, effort: low, max_turns: 5, completed: false}
  - {id: 2.0, name: B, priority: 3, model: ~, status: blocked, depends_on: 1.10}
`;
    everywhere('p.yaml', yaml, []);
  });

  test('is the second one of keys that decide alone', () => {
    const story = { id: 'A', title: 'A', passes: false, tested: true, maxTurns: 3, max_turns: 4 };
    everywhere('prd.json', [story], ['other keys (tested, max_turns): A']);
  });

  test('is the priority of Backlog.md where the place on the board is read', () => {
    const folder = (ordinal: string) =>
      packFolder({
        files: new Map([
          [
            'tasks/task-1 - T.md',
            Buffer.from(
              `---\nid: task-1\ntitle: T\nstatus: To Do\npriority: high\n${ordinal}dependencies: []\n---\n`,
            ),
          ],
        ]),
        ...{ completed: [], unread: [] },
      }).toString();
    assert.deepEqual(lostKeys('backlog', folder(''), 'prd'), []);
    assert.deepEqual(lostKeys('backlog', folder('ordinal: 1000\n'), 'prd'), [
      'other keys (priority): task-1',
    ]);
  });
});

test('what a task in YAML has from an anchor elsewhere hides no other key of it', () => {
  const task = 'owner: bob\n        commits: ["abc1234567"]\n';
  const yaml = `defaults: &d {model: opus, team: red}
phases:
  - name: One
    tasks:
      - id: T1
        name: A
        <<: *d
        ${task}      - id: T2
        name: B
        model: opus
        ${task}`;
  everywhere('p.yaml', yaml, [
    'other keys (team, owner, commits): T1, T2',
    'keys of the file: defaults',
  ]);
});

test('a task of Task Master has its description from two keys, and its other keys are named also above subtasks', () => {
  const subtask = {
    ...{ id: 1, title: 'Draw', status: 'pending', description: 'Why.', details: 'How.' },
    ...{ testStrategy: 'Look', dependencies: [], owner: 'bob', acceptanceCriteria: ['x'] },
  };
  const task = {
    ...{ id: 1, title: 'Shop', status: 'pending', priority: 'high', description: 'What.' },
    ...{ details: 'So.', testStrategy: 'Try', dependencies: [], passes: false },
  };
  const path = '.taskmaster/tasks/tasks.json';
  everywhere(path, { tasks: [{ ...task, subtasks: [subtask] }] }, [
    'other keys (owner, acceptanceCriteria): 1.1',
  ]);
  const rated = { complexityScore: 7, recommendedSubtasks: 4, expansionPrompt: '' };
  everywhere(path, { tasks: [{ ...task, ...rated, subtasks: [{ id: 1, title: 'Draw' }] }] }, [
    'other keys (complexityScore, recommendedSubtasks): 1',
  ]);
});

describe('keys of criteria', () => {
  const lost = (...acceptanceCriteria: unknown[]) =>
    lostKeys('prd.json', [{ id: 'A', title: 'A', acceptanceCriteria, passes: false }], 'yaml');

  test('besides the text and the state are named', () => {
    assert.deepEqual(lost('s', { text: 't', verify: 'npm run e2e', done: true }), [
      'other keys (acceptanceCriteria.verify): A',
    ]);
    assert.deepEqual(lost({ id: 'AC-7', text: 't', status: 'in_progress' }), [
      'other keys (acceptanceCriteria.id, acceptanceCriteria.status): A',
    ]);
    assert.deepEqual(lost('s', { given: null }), ['other keys (acceptanceCriteria): A']);
  });

  test('are none if they say nothing more', () => {
    assert.deepEqual(
      lost(
        { step: 1, description: 's', passes: null },
        { id: 'AC-2', text: 't', done: false, status: 'pending', verify: '' },
        { criterion: 'u', status: 'done' },
        { given: 'a', result: ['b', 1] },
        null,
      ),
      [],
    );
  });
});

describe('a sprint of BMAD', () => {
  const sprint = (...lines: string[]) => `development_status:\n  ${lines.join('\n  ')}\n`;

  test('loses further keys of a story, also in place of its status', () => {
    everywhere(
      'sprint-status.yaml',
      sprint(
        '1-1-login: {status: done, points: 3, title: Log in, owner: ""}',
        '1-2-cart: backlog',
        '1-3-till: [backlog]',
        '1-4-pay: 3',
      ),
      ['other keys (points, title, status): 1-1-login, 1-3-till'],
    );
  });

  test('loses its settings', () => {
    everywhere(
      'sprint-status.yaml',
      `project: Shop\nproject_key: NOKEY\ntracking_system: file-system\nstory_location: stories\nempty:\nbranch: b\n${sprint('1-1-login: done')}`,
      ['keys of the file: project_key, tracking_system, story_location, branch'],
    );
  });

  test('loses retrospectives, epics without stories, and states that the stories of an epic do not say', () => {
    everywhere(
      'sprint-status.yaml',
      sprint(
        'epic-1: in-progress',
        '1-1-login: done',
        '1-2-cart: backlog',
        'epic-1-retrospective: optional',
        'epic-2: in-progress',
        '2-1-till: backlog',
        'epic-3: {status: done, goal: Sell}',
        '3-1-pay: done',
        'epic-4: backlog',
        'epic-5: done',
        '5-1-ship: done',
        'epic-5-retrospective:',
        'epic-6: backlog',
        '6-1-send: backlog',
      ),
      [
        `keys of the file: ${['epic-1-retrospective', 'epic-2', 'epic-3', 'epic-4'].map(key => `development_status.${key}`).join(', ')}`,
      ],
    );
  });

  test('loses its comments', () => {
    const parsed = parseStoryText('sprint-status.yaml', `# One\n${sprint('1-1-a: done # Two')}`);
    const { file } = parsed;
    assert.ok(file.kind === 'stories');
    const { losses } = convertStories({ ...parsed, file }, 'yaml', new Date(0));
    assert.deepEqual(
      losses.filter(({ kind }) => kind === 'lines'),
      [{ kind: 'lines', count: 2 }],
    );
  });
});

describe('keys of what is waited for, besides the id,', () => {
  const needs = [{ id: 'A', type: 'soft', note: '' }, 'B'];
  const others = [
    { id: 'A', title: 'A', status: 'pending' },
    { id: 'B', title: 'B', status: 'pending' },
  ];

  test('are named in JSON and YAML', () => {
    const story = { id: 'C', title: 'C', status: 'pending' };
    const lines = (key: string) => [`other keys (${key}.type): C`];
    everywhere('prd.json', [...others, { ...story, dependencies: needs }], lines('dependencies'));
    everywhere(
      'p.yaml',
      JSON.stringify({ tasks: [...others, { ...story, depends_on: needs }] }),
      lines('depends_on'),
    );
    everywhere(
      'tasks.jsonl',
      [...others, { ...story, blockedBy: needs }].map(line => JSON.stringify(line)).join('\n'),
      lines('blockedBy'),
    );
    everywhere(
      '.taskmaster/tasks/tasks.json',
      {
        tasks: [...others, { ...story, subtasks: [], dependencies: needs }],
      },
      lines('dependencies'),
    );
  });

  test('are named in a phase and in an epic', () => {
    const yaml = {
      phases: [
        { name: 'A', tasks: [others[0]] },
        { name: 'B', depends_on: [{ id: 'A', type: 'soft' }], tasks: [others[1]] },
      ],
    };
    everywhere('p.yaml', JSON.stringify(yaml), ['keys of the file: phases.depends_on.type']);
    const epic = { id: 'E', title: 'Shop', dependsOn: [{ id: 'A', type: 'soft' }] };
    const story = { id: 'C', title: 'C', passes: false, parentEpic: 'E' };
    everywhere('prd.json', { epics: [epic], userStories: [...others, story] }, [
      'keys of the file: epics.id, epics.dependsOn.type',
    ]);
    const unread = { ...epic, dependsOn: [{ name: 'A' }] };
    everywhere('prd.json', { epics: [unread], userStories: [...others, story] }, [
      'keys of the file: epics.id, epics.dependsOn',
    ]);
  });

  test('and relations that are no dependency are named in Beads', () => {
    const issue = (id: string, ...dependencies: object[]) =>
      JSON.stringify({
        id,
        title: id,
        issue_type: 'task',
        status: 'open',
        priority: 1,
        dependencies,
      });
    const link = (to: string, type: string, rest: object = {}) => ({
      ...{ issue_id: 'C', depends_on_id: to, type, metadata: '{}', ...rest },
    });
    const losses = (...dependencies: object[]) =>
      lostKeys(
        'issues.jsonl',
        [issue('A'), issue('B'), issue('C', ...dependencies)].join('\n'),
        'prd',
      )
        .map(line => /\((.*)\)/.exec(line)?.[1]?.replace(/(?:, )?issue_type/, ''))
        .join();
    assert.equal(losses(link('A', 'blocks'), link('B', 'parent-child')), '');
    assert.equal(
      losses(link('A', 'blocks', { created_by: 'bob', metadata: '{"x":1}' })).replace(/^, /, ''),
      'dependencies.metadata, dependencies.created_by',
    );
    assert.match(losses(link('A', 'related')), /dependencies/);
    assert.match(losses(link('A', 'conditional-blocks')), /dependencies.type/);
    assert.match(losses(link('A', 'parent-child'), link('B', 'parent-child')), /dependencies/);
  });
});

describe('a key with the name of a heading', () => {
  const tasks = [{ id: 'A', title: 'A', status: 'pending' }];

  test('is named if the heading does not say it', () => {
    const heading = {
      ...{ name: 'Shop', title: 'Another', project: 'Shop', productName: ['x'] },
      ...{ description: ['Words'], branch: 'b', branch_name: 'c' },
    };
    const lines = ['keys of the file: title, productName, description, branch'];
    everywhere('p.yaml', JSON.stringify({ ...heading, tasks }), [
      'keys of the file: title, productName, description, branch',
    ]);
    everywhere('prd.json', { ...heading, userStories: tasks }, lines);
    everywhere(
      '.taskmaster/tasks/tasks.json',
      { ...heading, tasks: [{ ...tasks[0], subtasks: [] }] },
      ['keys of the file: title, productName, description, branch, branch_name'],
    );
  });

  test('is named if it is a second list, or none', () => {
    everywhere('p.yaml', JSON.stringify({ phases: 'Two', tasks }), ['keys of the file: phases']);
    everywhere('p.yaml', JSON.stringify({ phases: [{ name: 'P', tasks }], tasks: 'Later' }), [
      'keys of the file: tasks',
    ]);
    everywhere('prd.json', { userStories: tasks, phases: ['One'], tasks: 'Later' }, [
      'keys of the file: phases, tasks',
    ]);
  });

  test('is an object of which only that is named which the heading does not say', () => {
    everywhere(
      'prd.json',
      {
        ...{ project: { name: 'Shop', owner: 'bob' }, meta: { description: 'Words' } },
        ...{ metadata: { description: 'Others', version: 1, empty: '' }, userStories: tasks },
      },
      ['keys of the file: project.owner, metadata.description, metadata.version'],
    );
  });

  test('is none if it has no value, or one that the heading says', () => {
    everywhere(
      'p.yaml',
      'name: Shop\ntitle: " Shop "\nproject:\ndescription: |\n  Words.\ntasks:\n  - {id: A, name: A, status: pending}\n',
      [],
    );
  });
});

test('lines of a task graph that are no tasks are named by their keys', () => {
  const lines = [
    { type: 'graph', project: 'Shop', imported: '2026-01-01', qualityGates: ['x'] },
    { type: 'compacted', ids: ['T-1'], archive: 'old.jsonl' },
    { type: 'graph', project: 'Another' },
    { id: 'T-2', title: 'Two', status: 'ready', blockedBy: ['T-1'] },
  ];
  everywhere('tasks.jsonl', lines.map(line => JSON.stringify(line)).join('\n'), [
    'keys of the file: imported, qualityGates, project, compacted.ids, compacted.archive',
  ]);
});

describe('a dependency that the reader leaves out', () => {
  test('is named, because the new file does not say it either', () => {
    const aside = { id: 'A', name: 'A', status: 'skipped' };
    const story = { id: 'B', name: 'B', status: 'pending', depends_on: ['A'] };
    everywhere('p.yaml', JSON.stringify({ tasks: [aside, story] }), ['other keys (depends_on): B']);
    const byTitle = { ...story, depends_on: ['First'] };
    everywhere('p.yaml', JSON.stringify({ tasks: [{ ...aside, name: 'First' }, byTitle] }), [
      'other keys (depends_on): B',
    ]);
    const byNumber = [
      { name: 'A', status: 'skipped' },
      { ...story, depends_on: [1] },
    ];
    everywhere('p.yaml', JSON.stringify({ tasks: byNumber }), ['other keys (depends_on): B']);
    everywhere('p.yaml', JSON.stringify({ tasks: [{ ...aside, status: 'pending' }, story] }), []);
  });

  test('is named also if its phase is, and if a phase waits for it', () => {
    const file = (status: string, needs: readonly unknown[]) => ({
      phases: [
        { name: 'One', tasks: [{ id: 'A', name: 'A', status }] },
        {
          ...{ name: 'Two', depends_on: needs },
          tasks: [{ id: 'B', name: 'B', status: 'pending', depends_on: needs }],
        },
      ],
    });
    for (const needs of [['One'], [1], ['A']]) {
      everywhere('p.yaml', JSON.stringify(file('pending', needs)), []);
      everywhere('p.yaml', JSON.stringify(file('skipped', needs)), [
        'other keys (depends_on): B',
        'keys of the file: phases.depends_on',
      ]);
    }
  });

  test('is found in Task Master by what its tasks and subtasks are called there', () => {
    const file = (status: string) => ({
      master: {
        tasks: [
          {
            ...{ id: 1, title: 'A', status: 'pending', dependencies: [2] },
            subtasks: [
              { id: 1, title: 'B', status: 'pending', dependencies: [2] },
              { id: 2, title: 'C', status },
            ],
          },
          { id: 2, title: 'D', status: 'pending', dependencies: [], subtasks: [] },
        ],
      },
      shop: {
        tasks: [
          { id: 1, title: 'E', status, subtasks: [] },
          { id: 2, title: 'F', status: 'pending', dependencies: [1], subtasks: [] },
        ],
      },
    });
    const path = '.taskmaster/tasks/tasks.json';
    everywhere(path, file('pending'), []);
    everywhere(path, file('cancelled'), ['other keys (dependencies): 1.1, shop/2']);
  });
});

test('a criterion that is made of all its values names a state that is no text of it', () => {
  everywhere(
    'prd.json',
    [
      {
        ...{ id: 'A', title: 'A', passes: false },
        acceptanceCriteria: [
          { do: 'a', done: 'by bob' },
          { do: 'b', done: true },
        ],
      },
    ],
    ['other keys (acceptanceCriteria.done): A'],
  );
});

describe('a folder of Backlog.md', () => {
  const folder = (
    task: string,
    config = '',
    completed: readonly string[] = [],
    id = 'id: task-1',
  ) =>
    packFolder({
      files: new Map([
        ['tasks/task-1 - T.md', Buffer.from(`---\n${id}\ntitle: "T"\n${task}---\n`)],
        ['config.yml', Buffer.from(config)],
      ]),
      ...{ completed, unread: [] },
    }).toString();

  test('names the keys of a task also if its head is no YAML as a whole', () => {
    everywhere('backlog', folder('assignee: @anna\nlabels: [a]\nmilestone:\n'), [
      'other keys (assignee, labels): task-1',
    ]);
  });

  test('names an id that is not read, and counts lines above the first key', () => {
    everywhere('backlog', folder('', '', [], '# c\n- a\n\nid: @x'), [
      'other keys (id): task-1',
      '2 lines of comments or other text',
    ]);
  });

  test('names its settings and the tasks that were put away', () => {
    everywhere('backlog', folder('', 'project_name: Shop\nlabels: []\n'), []);
    everywhere('backlog', folder('', 'project_name: Shop\nlabels: [a]\n', ['task-2 - U.md']), [
      'files next to the tasks: completed, config.yml',
    ]);
  });

  test('names settings that cannot be read as a whole, and counts their comments', () => {
    everywhere('backlog', folder('', 'project_name: x\nfoo: @bar\n'), [
      'files next to the tasks: config.yml',
    ]);
    everywhere('backlog', folder('', '# One\nproject_name: Shop # two\n'), [
      '2 lines of comments or other text',
    ]);
  });
});

test('a line of losses names all that a person agrees to, within bounds', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
  const both = (count: number, most?: number) =>
    lossLines(
      [
        { kind: 'story', fact: 'keys', storyIds: names(count), names: names(count) },
        { kind: 'fileKeys', names: names(count) },
        { kind: 'notRead', lines: names(count).map(() => 7), files: names(count) },
      ],
      english,
      most,
    );
  const all = names(50).join(', ');
  const places = names(50).map(name => `${name}:7`);
  assert.deepEqual(both(50), [
    `other keys (${all}): ${all}`,
    `keys of the file: ${all}`,
    `entries that are not read as stories: ${places.join(', ')}`,
  ]);
  assert.deepEqual(both(53), [
    `other keys (${all} and 3 more): ${all} and 3 more`,
    `keys of the file: ${all} and 3 more`,
    `entries that are not read as stories: ${places.join(', ')} and 3 more`,
  ]);
  const few = names(8).join(', ');
  assert.equal(both(15, MOST_IN_DIALOG)[0], `other keys (${few} and 7 more): ${few} and 7 more`);
});

test('a key that an object has twice is named by its line at any depth, unless it is a comment', () => {
  const lost = (path: string, text: string) => {
    const parsed = parseStoryText(path, text);
    const { file } = parsed;
    assert.ok(file.kind === 'stories', JSON.stringify(file.problems));
    const { losses } = convertStories({ ...parsed, file }, 'yaml', new Date(0));
    return lossLines(
      losses.filter(({ kind }) => kind === 'notRead' || kind === 'repeatedKeys'),
      english,
    );
  };
  const prd = `{"name": "One",
"name": "Two", "text": {"text": {}},
"userStories": [{"id": "A",
"title": "A",
"title": "B", "passes": false,
"acceptanceCriteria": [
  {"text": "one", "_note": 1,
   "te\\u0078t": "two", "_note": 2},
  {"text": "three"},
  ["text", "text", {"a": ["b"], "b": "a"}]
]}]}`;
  assert.deepEqual(lost('prd.json', prd), ['keys that are there twice, on the lines 1, 4, 7']);
  const issue = '{"id":"b-1","title":"A","status":"open","metadata":{"a":1,"a":2}}\n';
  assert.deepEqual(lost('.beads/issues.jsonl', `${issue}${issue.replace('b-1', 'b-2')}`), [
    'keys that are there twice, on the lines 1, 2',
  ]);
  // What is said twice is no loss.
  const same = `{"userStories": [{"id": "A", "title": "A",
"acceptanceCriteria": [{"text": "one", "text": "\\u006fne"}], "x": {"b": 1, "c": [1]},
"x" : {"c": [ 1], "b": 1}, "passes": false}]}`;
  assert.deepEqual(lost('prd.json', same), []);
  assert.deepEqual(lost('prd.json', same.replace('{"c": [ 1]', '{"c": [2]')), [
    'a key that is there twice, on line 2',
  ]);
});

test('thousands of epics of a sprint take hardly longer to convert than to read', () => {
  const lines = Array.from(
    { length: 5_000 },
    (_, index) => `  epic-${index}: backlog\n  ${index}-1-a-story: backlog\n`,
  );
  const begun = performance.now();
  const parsed = parseStoryText('sprint-status.yaml', `development_status:\n${lines.join('')}`);
  const { file } = parsed;
  assert.ok(file.kind === 'stories');
  const read = performance.now();
  convertStories({ ...parsed, file }, 'prd', new Date(0));
  const limit = 4 * (read - begun) + 300;
  assert.ok(performance.now() - read < limit, `${performance.now() - read} of ${limit}`);
});

describe('a value in the place of another kind', () => {
  const task = { id: 'A', title: 'A', status: 'pending' };

  test('is named where a phase or an epic has its state or its id', () => {
    const phase = { name: 'One', status: ['x'], passes: { a: 1 }, tasks: [task] };
    everywhere('p.yaml', JSON.stringify({ phases: [phase] }), [
      'keys of the file: phases.status, phases.passes',
    ]);
    const epic = { id: ['E'], title: 'Shop', completed: [1], children: ['A'] };
    everywhere('prd.json', { epics: [epic], userStories: [task] }, [
      'keys of the file: epics.id, epics.completed',
    ]);
  });

  test('is named where the id of a phase is neither its name nor its number', () => {
    const phases = ['P1', 'Before the launch', 'Two', '4'].map((phase, index) => ({
      ...{ phase, name: 'Two', tasks: [{ ...task, id: `A${index}` }] },
    }));
    everywhere('p.yaml', JSON.stringify({ phases }), ['keys of the file: phases.phase']);
    const said = [phases[2], { ...phases[3], phase: '2' }];
    everywhere('p.yaml', JSON.stringify({ phases: said }), []);
    const ids = phases.map(({ phase, ...rest }) => ({ id: phase, ...rest }));
    everywhere('p.yaml', JSON.stringify({ phases: ids }), ['keys of the file: phases.id']);
  });

  test('is named where a story says what it was discovered from, with a second line', () => {
    everywhere(
      'prd.json',
      [{ ...task, discoveredFrom: 'B\nWhile testing' }],
      ['other keys (discoveredFrom): A'],
    );
    everywhere('prd.json', [{ ...task, discoveredFrom: ' B\n' }], []);
  });

  test('is named where a relation of Beads has its type', () => {
    const link = { depends_on_id: 'A', type: ['x'] };
    const lines = [task, { ...task, id: 'B', dependencies: [link] }];
    everywhere('.beads/issues.jsonl', lines.map(line => JSON.stringify(line)).join('\n'), [
      'other keys (dependencies.type): B',
    ]);
  });
});

test('a list without tasks next to the tags of Task Master hides no tag that is read', () => {
  const tasks = [{ id: 1, title: 'A', status: 'pending', subtasks: [] }];
  everywhere('.taskmaster/tasks/tasks.json', { tasks: ['Later'], master: { tasks, note: 'x' } }, [
    'keys of the file: tasks, master.note',
  ]);
});

test('the design of an issue of Beads is in its description, and its notes are named', () => {
  const issue = {
    ...{ id: 'g-1', title: 'T', status: 'open', acceptance_criteria: '1. A\n2. B' },
    ...{ description: 'What.', design: 'How.', notes: 'Why.' },
  };
  const path = '.beads/issues.jsonl';
  everywhere(path, issue, ['other keys (notes): g-1']);
});
