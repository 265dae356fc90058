import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import { englishOf } from '../../src/base/say.ts';
import { diagnoseStories } from '../../src/orchestrator/stories/diagnosis/diagnose.ts';
import { editStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import {
  findStoryFile,
  readUsedFile,
  usedVersion,
} from '../../src/orchestrator/stories/knownSources.ts';
import type { StoryList, StoryProblem } from '../../src/orchestrator/stories/story.ts';
import {
  MAX_STORY_FILE_BYTES,
  parseStoryFile,
  readStoryFile,
  readStoryFileOrThrow,
} from '../../src/orchestrator/stories/storyFile.ts';
import { STORY_FILE_PLACES } from '../../src/orchestrator/stories/storyPlaces.ts';
import { sameValue } from '../support/sameValue.ts';

const fixtures = join(import.meta.dirname, '../fixtures/stories');

function parseList(content: string | Uint8Array): StoryList {
  const file = parseStoryFile('prd.json', content);
  assert.equal(file.kind, 'stories', JSON.stringify(file));
  return file as StoryList;
}

function parseProblem(content: string | Uint8Array): StoryProblem {
  const file = parseStoryFile('prd.json', content);
  assert.equal(file.kind, 'invalid');
  const [problem] = file.problems;
  assert.ok(problem);
  return problem;
}

async function fixture(name: string): Promise<StoryList> {
  return parseList(await readFile(join(fixtures, name)));
}

describe('the dialects', () => {
  test('userStories with passes are read', async () => {
    const list = await fixture('userStories.json');
    assert.equal(list.project, 'Bird Diary');
    assert.equal(list.branchName, 'ralph/bird-diary');
    assert.equal(list.description, 'Keep a diary of the birds in the garden');
    const [first, second, third] = list.stories;
    sameValue(first, {
      id: 'US-001',
      title: 'Add a sighting',
      description: 'As a watcher, I want to note a bird, so that I remember it.',
      criteria: [{ text: 'A form takes name and time' }, { text: 'Typecheck passes' }],
      done: true,
      priority: 2,
      dependsOn: [],
      position: 0,
      line: 6,
    });
    sameValue(second?.criteria, [
      { text: 'Newest first', done: true },
      { text: 'Empty state', done: false },
      { text: 'Not run yet' },
    ]);
    assert.equal(third?.priority, 31.8);
    sameValue(third?.dependsOn, ['US-002']);
    sameValue(
      list.stories.map(story => story.line),
      [6, 15, 28],
    );
  });

  test('a root array without ids gets #n as ids and the first line of the description as title', async () => {
    const { stories } = await fixture('rootArray.json');
    sameValue(
      stories.map(({ id, title, done, epic, line }) => ({ id, title, done, epic, line })),
      [
        { id: '#1', title: 'The list opens', done: true, epic: 'ui', line: 2 },
        { id: '#2', title: 'A long press deletes', done: false, epic: 'ui', line: 8 },
      ],
    );
    assert.equal(stories[0]?.description, 'The list opens\nwith the newest entry');
  });

  test('tasks with a status, priorities in words and dependencies under two keys are read', async () => {
    const { stories } = await fixture('statusTasks.json');
    sameValue(
      stories.map(({ status, done, priority, dependsOn }) => [status, done, priority, dependsOn]),
      [
        ['done', true, 1, []],
        ['in_progress', false, 2, ['T1']],
        ['todo', false, 0, ['T2']],
        ['todo', false, 1, []],
      ],
    );
  });

  test('passes takes precedence over status', async () => {
    const { stories } = await fixture('alwaysActive.json');
    sameValue(
      stories.map(story => story.done),
      [true, false],
    );
    const list = parseList('[{"id":1,"title":"x","passes":false,"status":"done"}]');
    assert.equal(list.stories[0]?.done, false);
  });

  test('items with heading, tested and numeric ids are read; done means literally true', async () => {
    const { stories } = await fixture('items.json');
    sameValue(
      stories.map(({ id, title, done, dependsOn }) => [id, title, done, dependsOn]),
      [
        ['1', 'Log in', true, []],
        ['2', 'Log out', false, ['1']],
        ['#3', 'Reset', false, []],
      ],
    );
  });

  test('features, a project in meta and a missing done key are read', async () => {
    const features = await fixture('features.json');
    assert.equal(features.project, 'Two Thousand');
    assert.equal(features.stories[0]?.title, 'Grid');
    const none = await fixture('noDoneKey.json');
    sameValue(
      none.stories.map(story => story.done),
      [false, false],
    );
  });

  test('every status word for done is recognized in any case', () => {
    for (const status of ['done', 'Completed', 'COMPLETE', 'closed', 'verified', 'Passed']) {
      assert.equal(
        parseList(JSON.stringify([{ id: 1, title: 't', status }])).stories[0]?.done,
        true,
      );
    }
    for (const status of ['waiting_approval', 'tombstone', 'in_progress', '', 'not done']) {
      assert.equal(
        parseList(JSON.stringify([{ id: 1, title: 't', status }])).stories[0]?.done,
        false,
      );
    }
  });

  test('an empty list is a story file; the first list that looks like stories wins', () => {
    sameValue(parseList('[]').stories, []);
    sameValue(parseList('{"project":"x","items":[]}').stories, []);
    const list = parseList('{"stories":[],"features":["fast"],"tasks":[{"id":1,"title":"t"}]}');
    assert.equal(list.stories.length, 1);
  });

  test('entries that are not objects count for the position', () => {
    const list = parseList('{"stories":["a note", null, {"title":"Third"}]}');
    sameValue(
      list.stories.map(({ id, position }) => [id, position]),
      [['#3', 2]],
    );
  });

  test('BOM, CRLF and escaped keys change only the bytes', async () => {
    const text = await readFile(join(fixtures, 'userStories.json'), 'utf8');
    const plain = parseList(text);
    const variants = [
      `\uFEFF${text}`,
      text.replaceAll('\n', '\r\n'),
      text.replaceAll('"passes"', '"p\\u0061sses"'),
      text.replaceAll('"userStories"', '"user\\u0053tories"'),
    ];
    for (const variant of variants) {
      sameValue(parseList(Buffer.from(variant)).stories, plain.stories);
    }
    sameValue(
      parseList(text.replaceAll('\n', '\r')).stories.map(story => story.line),
      [6, 15, 28],
    );
  });

  test('a repeated key counts as in JSON.parse, for values and lines', () => {
    const list = parseList(
      '{"stories":[{"id":"old","title":"x"}],\n"stories":[\n{"id":"new","title":"y"}]}',
    );
    sameValue(
      list.stories.map(({ id, line }) => [id, line]),
      [['new', 3]],
    );
  });

  test('a repeated key is a problem in JSON Lines', () => {
    for (const path of ['.ralph/tasks.jsonl', '.beads/issues.jsonl', '.ralph/agent/tasks.jsonl']) {
      const text =
        '{"id":"a-1","title":"a","status":"open"}\n{"id":"a-2","title":"b","status":"open","status":"closed"}\n';
      const { problems } = parseStoryFile(path, text);
      sameValue(
        problems.map(({ code, line }) => [code, line]),
        [['repeatedKey', 2]],
        path,
      );
    }
  });

  test('a repeated key is a problem where it does not count, and so is a repeated list', () => {
    for (const [text, found] of [
      [
        '[\n{"id":"A","title":"a","passes":true,\n"passes":false},\n{"id":"B","title":"b"}]',
        ['repeatedKey', 2, 23, 'The key "passes" is there again below, and only the last one'],
      ],
      [
        '{"stories":[{"id":"A","title":"a"}],\n"stories":[{"id":"B","title":"b"}]}',
        ['repeatedKey', 1, 2, 'The key "stories" is there again below, and only the last one'],
      ],
      [
        '{"userStories":[{"id":"A","title":"a"}],"userStories":[],\n"stories":[{"id":"B","title":"b","//":1,"//":2}]}',
        ['repeatedKey', 1, 2, 'The key "userStories" is there again below, and only the last one'],
      ],
    ] as const) {
      const told = parseList(text).problems.map(({ code, column, line, message }) => [
        ...[code, line, column, englishOf(message).replace(/ counts: .*/, '')],
      ]);
      sameValue(told, [found]);
    }
    const none = parseStoryFile('prd.json', '{"userStories":[{"id":"A"}],"userStories":"none"}');
    sameValue([none.problems[0]?.code, none.problems[0]?.column], ['noStories', 2]);
    assert.match(
      englishOf(none.problems[0]?.message ?? ''),
      /^The key "userStories" is there again/,
    );
  });
});

describe('problems that do not hide stories', () => {
  test('a repeated id is reported at the line of that id, not of its story', () => {
    const { problems } = parseList(
      '{"userStories": [\n  {\n    "title": "One",\n    "id": "A", "passes": false },\n  {"id": "A", "title": "Two", "passes": false}]}',
    );
    assert.match(englishOf(problems[0]?.message ?? ''), /^The id A is already used on line 4:/);
  });

  test('a number too large to be told from the next one is no id, and is reported on its line', () => {
    const { problems, stories } = parseList(
      '[\n{"id": 1234567890123456789, "title": "One"},\n{"id": 1234567890123456788, "title": "Two"},\n{"id": 1e400, "title": "Three"},\n{"id": 9007199254740991, "title": "Four"}]',
    );
    sameValue(
      stories.map(({ id }) => id),
      ['#1', '#2', '#3', '9007199254740991'],
    );
    sameValue(
      problems.map(({ code, line, column }) => [code, line, column]),
      [
        ['inexactId', 2, 2],
        ['inexactId', 3, 2],
        ['inexactId', 4, 2],
      ],
    );
    assert.match(englishOf(problems[0]?.message ?? ''), /called #1: write its id in quotes\.$/);
  });

  test('repeated ids, unknown dependencies and cycles are reported on their lines', async () => {
    const { problems } = await fixture('duplicates.json');
    sameValue(
      problems.map(({ code, line, column }) => [code, line, column]),
      [
        ['duplicateId', 4, 7],
        ['circularDependency', 4, 56],
        ['unknownDependency', 6, 49],
        ['circularDependency', 7, 49],
      ],
    );
    assert.match(englishOf(problems[1]?.message ?? ''), /A → B → A\. Remove one/);
    assert.match(englishOf(problems[2]?.message ?? ''), /C waits for Z-9/);
    assert.match(englishOf(problems[3]?.message ?? ''), /D → D/);
  });

  test('a title of several stories is said to be one, and not to be missing', () => {
    const { problems } = parseList(
      '[{"id":"A","title":"Set up"},\n{"id":"B","title":"set  up"},\n{"id":"C","title":"Log in","dependsOn":["Set up","X-9"]}]',
    );
    sameValue(
      problems.map(({ code, line, message }) => [code, line, englishOf(message)]),
      [
        [
          'unknownDependency',
          3,
          'C waits for "Set up", which is the title of several stories: write the id of the one that is meant.',
        ],
        [
          'unknownDependency',
          3,
          'C waits for X-9, which this file does not have: correct the id, or remove it when that story is done elsewhere.',
        ],
      ],
    );
  });

  test('a chain and a cycle of 5,000 stories are distinguished without recursion', () => {
    const story = (i: number, next: number) => ({ id: `${i}`, title: 't', dependsOn: [`${next}`] });
    const chain = Array.from({ length: 5000 }, (_, i) => story(i, i + 1));
    chain.push({ id: '5000', title: 't', dependsOn: [] });
    sameValue(parseList(JSON.stringify(chain)).problems, []);
    const circle = Array.from({ length: 5000 }, (_, i) => story(i, (i + 1) % 5000));
    sameValue(
      parseList(JSON.stringify(circle)).problems.map(problem => problem.code),
      ['circularDependency'],
    );
  });
});

describe('unusable files', () => {
  const cases: readonly (readonly [string, string, number, number, RegExp])[] = [
    ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', 3, 3, /comma is missing on line 2/],
    ['a trailing comma', '{\n  "a": 1,\n}', 3, 1, /comma on line 2.*remove it/],
    ['a trailing comma in a list', '[1,\n]', 2, 1, /remove that comma/],
    ['a file cut off', '{\n  "a": [\n    1', 3, 6, /\[ of line 2 is closed/],
    ['a file cut off at the end of a line', '{"a": [\n', 1, 8, /\[ of line 1 is closed/],
    ['a text cut off', '{\n  "a": "b', 2, 10, /no closing quote/],
    ['a line break in a text', '["a\nb"]', 1, 4, /no closing quote/],
    ['a tab in a text', '["a\tb"]', 1, 4, /control character/],
    ['a lone backslash', '["C:\\dir"]', 1, 6, /written twice/],
    ['a comment', '[ // note\n]', 1, 3, /no comments/],
    ['single quotes', "[{'id': 1}]", 1, 3, /double quotes/],
    ['a word of Python', '{"passes": True}', 1, 12, /true, false or null/],
    ['a Markdown fence', '```json\n[]\n```', 1, 1, /Markdown fence/],
    ['a merge conflict', '[\n<<<<<<< HEAD\n]', 2, 1, /merge conflict/],
    ['text after the end', '[]\nDone!', 2, 1, /"Done!" is not JSON/],
    ['two documents', '[] []', 1, 4, /complete before/],
    ['nothing', '', 1, 1, /empty/],
    ['only space', ' \n ', 1, 1, /empty/],
    ['a key without a value', '{"a", "b": 1}', 1, 5, /colon/],
    ['an unfinished number', '[1.]', 1, 2, /complete number/],
  ];
  for (const [name, text, line, column, message] of cases) {
    test(name, () => {
      const problem = parseProblem(text);
      assert.equal(problem.code, 'invalidJson');
      sameValue([problem.line, problem.column], [line, column], englishOf(problem.message));
      assert.match(englishOf(problem.message), message);
    });
  }

  test('fixtures are reported with the line of the mistake', async () => {
    const place = async (name: string) => {
      const { line, column } = parseProblem(await readFile(join(fixtures, name)));
      return [line, column];
    };
    sameValue(await place('missingComma.json'), [4, 5]);
    sameValue(await place('trailingComma.json'), [3, 55]);
    sameValue(await place('cutOff.json'), [3, 43]);
  });

  test('other JSON is never read as an empty list', async () => {
    for (const [name, message] of [
      ['phases.json', /nested in "phases"/],
      ['schema.json', /JSON schema/],
      ['specification.json', /no list of stories/],
      ['cards.json', /do not look like stories/],
    ] as const) {
      const problem = parseProblem(await readFile(join(fixtures, name)));
      assert.equal(problem.code, 'noStories', name);
      assert.match(englishOf(problem.message), message);
    }
    for (const text of ['null', '7', '"stories"', '{}', '[1]', '{"stories":{"a":1}}']) {
      assert.equal(parseProblem(text).code, 'noStories', text);
    }
  });

  test('a list of stories under a misspelled key is named with its line', () => {
    const stories = JSON.stringify([{ id: 'a', title: 't', passes: false }]);
    for (const [key, meant] of [
      ['userstories', 'userStories'],
      ['user-stories', 'userStories'],
      ['Stories', 'stories'],
      ['feature', 'features'],
    ]) {
      const problem = parseProblem(`{"project": "x",\n "${key}": ${stories}}`);
      sameValue([problem.code, problem.line, problem.column], ['noStories', 2, 2]);
      assert.equal(
        englishOf(problem.message),
        `The list "${key}" is not read: rename it to "${meant}".`,
      );
    }
  });

  test('several ids in one text are to be a list', () => {
    for (const [path, text, list] of [
      [
        'prd.json',
        '[{"id":"P1"},{"id":"P2",\n"dependsOn":"P1, P3"},{"id":"P3"}]',
        'P2 waits for "P1, P3", which is one text with several ids. Write a list: ["P1", "P3"]',
      ],
      [
        'prd.json',
        '[{"id":"A 1"},{"id":"B",\n"dependsOn":["A 1;C"]},{"id":"C"}]',
        'B waits for "A 1;C", which is one text with several ids. Write a list: ["A 1", "C"]',
      ],
      [
        'tasks.yaml',
        'tasks:\n  - {id: T2, title: b, depends_on: "T1 T3"}\n  - {id: T1, title: a}\n  - {id: T3, title: c}\n',
        'T2 waits for "T1 T3", which is one text with several ids. Write a list: ["T1", "T3"]',
      ],
      [
        '.taskmaster/tasks/tasks.json',
        '{"tasks":[{"id":1,"title":"a","subtasks":[]},{"id":2,"title":"b"},{"id":3,"title":"c",\n"dependencies":"1, 2"}]}',
        '3 waits for "1, 2", which is one text with several ids. Write a list: [1, 2]',
      ],
    ] as const) {
      const [problem, ...others] = parseStoryFile(path, text).problems;
      sameValue([problem?.code, problem?.line, others], ['unknownDependency', 2, []], text);
      sameValue(englishOf(problem?.message ?? ''), list);
      const { diagnoses } = diagnoseStories(path, text);
      assert.ok(diagnoses.some(({ message }) => englishOf(message) === list));
    }
    for (const needs of ['P1, P4', 'P1,', 'P1 P2x']) {
      const text = `[{"id":"P1"},{"id":"P2","dependsOn":"${needs}"},{"id":"P3"}]`;
      const [problem] = parseStoryFile('prd.json', text).problems;
      assert.match(englishOf(problem?.message ?? ''), /does not have: correct the id/);
    }
  });

  test('what a story waits for in another form than ids is a problem with its line', () => {
    for (const needs of ['[["A"]]', '[{"task":"A"}]', '{"A":true}', '[true]', 'true']) {
      for (const [path, text, key] of [
        ['prd.json', `[{"id":"A"},\n{"id":"B","dependsOn":${needs}}]`, 'dependsOn'],
        ['.ralph/tasks.jsonl', `{"id":"A"}\n{"id":"B","blockedBy":${needs}}\n`, 'blockedBy'],
        ['tasks.yaml', `tasks:\n- {id: B, title: b, depends_on: ${needs}}\n`, 'depends_on'],
        [
          'tasks.yaml',
          `phases:\n- {name: P, depends_on: ${needs}, tasks: [{id: B}]}\n`.replace(
            '{name',
            '\n  {name',
          ),
          'depends_on',
        ],
        [
          '.taskmaster/tasks/tasks.json',
          `{"tasks":[{"id":1,"title":"a","subtasks":[]},\n{"id":2,"title":"b","dependencies":${needs}}]}`,
          'dependencies',
        ],
      ] as const) {
        const list = parseStoryFile(path, text);
        sameValue(
          list.problems.map(({ code, line, message }) => [code, line, englishOf(message)]),
          [
            [
              'unreadDependency',
              path === 'tasks.yaml' && text.startsWith('phases') ? 3 : 2,
              `"${key}" must be a list of ids; the value here is ignored.`,
            ],
          ],
          text,
        );
      }
    }
    const done = parseStoryFile('prd.json', '[{"id":"B","passes":true,"dependsOn":[["A"]]}]');
    sameValue(done.problems, []);
    for (const needs of ['[{id: A}]', '{id: A}', 'A', '[A]', '[null, A]']) {
      const text = `tasks:\n- {id: A}\n- {id: B, depends_on: ${needs}}\n`;
      const list = parseStoryFile('tasks.yaml', text);
      assert.ok(list.kind === 'stories');
      sameValue([list.stories[1]?.dependsOn, list.problems], [['A'], []], text);
    }
  });

  test('the parallel group of a task is a whole number', () => {
    for (const group of ['one', '1.5', '-1', 'true', '[1]', '{a: 1}']) {
      const text = `tasks:\n- {id: A, parallel_group: 1}\n- {id: B, parallel_group: ${group}}\n`;
      sameValue(
        parseStoryFile('tasks.yaml', text).problems.map(({ code, line, message }) => [
          ...[code, line, englishOf(message)],
        ]),
        [
          [
            ...['unreadDependency', 3],
            '"parallel_group" must be a whole number from 1; the value here is ignored.',
          ],
        ],
        group,
      );
    }
    const text =
      'tasks:\n- {id: C, parallel_group: 3}\n- {id: A, parallel_group: 1}\n- {id: B, parallel_group: 2, status: skipped}\n- {id: Z, parallel_group: 0}\n';
    const list = parseStoryFile('tasks.yaml', text);
    assert.ok(list.kind === 'stories');
    sameValue(
      [list.stories.map(({ dependsOn }) => dependsOn), list.problems],
      [[['A'], [], ['A'], []], []],
    );
  });

  test('a name of several phases or epics means all of them', () => {
    for (const [path, text] of [
      [
        'tasks.yaml',
        'phases:\n- {name: Build, tasks: [{id: A}]}\n- {name: Build, tasks: [{id: B}]}\n- {name: Go, depends_on: Build, tasks: [{id: C}]}\n',
      ],
      [
        'prd.json',
        '{"epics":[{"id":"E1","title":"Build","stories":["A"]},{"id":"E2","title":"Build","stories":["B"]}],"userStories":[{"id":"A","passes":false},{"id":"B","passes":false},{"id":"C","passes":false,"dependsOn":["Build"]}]}',
      ],
    ] as const) {
      const list = parseStoryFile(path, text);
      assert.ok(list.kind === 'stories');
      sameValue(list.stories[2]?.dependsOn, ['A', 'B'], path);
    }
  });

  test('criteria that YAML reads as maps or lists become texts', () => {
    const text =
      'tasks:\n- id: A\n  validation: [{command: npm test}]\n  done_criteria:\n  - Schema migrates\n  - POST /todos: answers 201\n  - {given: a, when: b, passes: true}\n  - [p, [q, 1]]\n  - true\n  - null\n  - {}\n- {id: B, steps: [{given: a}], tests: true}\n- {id: C, validation: [{command: npm test}], steps: [real]}\n';
    const list = parseStoryFile('tasks.yaml', text);
    assert.ok(list.kind === 'stories');
    sameValue(
      list.stories.map(({ criteria }) => criteria),
      [
        [
          { text: 'Schema migrates' },
          { text: 'POST /todos: answers 201' },
          { text: 'given: a, when: b', done: true },
          { text: 'p, q, 1' },
        ],
        [{ text: 'given: a' }],
        [{ text: 'real' }],
      ],
    );
  });

  test('what is called criteria counts before other keys, and blank ones and aliases of themselves do not', () => {
    const text =
      'tasks:\n- {id: A, steps: [s], done_criteria: [{POST /todos: 201}, " ", true]}\n- id: B\n  acceptance_criteria: &a\n  - *a\n  - {x: y}\n';
    const list = parseStoryFile('tasks.yaml', text);
    assert.ok(list.kind === 'stories');
    sameValue(
      list.stories.map(({ criteria }) => criteria),
      [[{ text: 'POST /todos: 201' }], [{ text: 'x: y' }, { text: 'x: y' }]],
    );
    const blank = '[{"id":"A","passes":false,"acceptanceCriteria":["a"," ","\\n",{"note":" "}]}]';
    const prd = parseStoryFile('prd.json', blank);
    sameValue(prd.kind === 'stories' && prd.stories[0]?.criteria, [{ text: 'a' }]);
  });

  test('of groups with one name, a group of that name waits for those before it', () => {
    const text =
      'phases:\n- {name: Build, tasks: [{id: A}]}\n- {name: Test, depends_on: [Build], tasks: [{id: B}]}\n- {name: Build, depends_on: [Test], tasks: [{id: C, depends_on: [Build]}]}\n- {name: Test, depends_on: [Build], tasks: [{id: D}]}\n';
    const epics =
      '{"epics":[{"id":"E1","title":"X","stories":["A"]},{"id":"E2","title":"X","stories":["B"],"dependsOn":["X"]}],"userStories":[{"id":"A"},{"id":"B","dependsOn":["X"]}]}';
    for (const [path, content, needs] of [
      ['tasks.yaml', text, [[], ['A'], ['A', 'B'], ['A', 'C']]],
      ['prd.json', epics, [[], ['A']]],
    ] as const) {
      const list = parseStoryFile(path, content);
      assert.ok(list.kind === 'stories');
      sameValue([list.stories.map(({ dependsOn }) => dependsOn), list.problems], [needs, []]);
    }
  });

  test('values that say nothing, or something else, are no problem', () => {
    for (const [path, text] of [
      ['prd.json', '[{"id":"A","dependsOn":false,"blockedBy":[""],"needs":"node"}]'],
      [
        'tasks.yaml',
        'phases:\n- {name: P, blockers: [], after: launch, needs: ~, tasks: [{id: A, parallel_group: false, blocked_by: false}]}\n',
      ],
      [
        'prd.json',
        '{"tasks":{"total":12,"completed":5,"summary":"5 of 12"},"userStories":[{"id":"A","title":"a"}]}',
      ],
      ['PLAN.md', '- [ ] UTF-8 names\n- [ ] UTF-8 titles\n- [ ] SHA-256 a\n- [x] SHA-256 b\n'],
      [
        '.ralph/tasks.jsonl',
        '{"type":"graph","id":"prd-1","project":"P","status":"active"}\n{"id":"A","title":"a"}\n',
      ],
    ] as const) {
      const list = parseStoryFile(path, text);
      sameValue(list.problems, [], text);
      assert.ok(list.kind === 'stories');
      assert.ok(list.stories.every(({ id }) => id !== 'prd-1'));
    }
  });

  test('a quote that is closed is not told as open, and a comment stays one', () => {
    for (const text of ['tasks:\n- name: "Fix"# c\n', '{"tasks": [{"id": 1}], "x": "abc"']) {
      const [problem] = parseStoryFile('tasks.yaml', text).problems;
      assert.doesNotMatch(englishOf(problem?.message ?? ''), /never closed/);
    }
    const [problem] = parseStoryFile('tasks.yaml', 'tasks:\n- name: Fix: it # c\n').problems;
    assert.ok(englishOf(problem?.message ?? '').endsWith('- name: "Fix: it" # c'));
  });

  test('hundreds of aliases, and brackets in texts, do not keep an orchestration from being read', () => {
    const tasks = (count: number, fields: string) =>
      Array.from({ length: count }, (_, index) => `  - {id: T${index}, ${fields}}\n`).join('');
    const aliases = `x: &p pending\nphases:\n- tasks:\n${tasks(500, 'status: *p')}`;
    const brackets = `tasks:\n${tasks(1, 'status: pending').replace('}', ', title: "[ i"}')}${Array.from({ length: 300 }, (_, index) => `  - id: B${index}\n    title: interval [i, j)\n    status: pending\n`).join('')}`;
    for (const [text, count] of [
      [aliases, 500],
      [brackets, 301],
    ] as const) {
      const list = parseStoryFile('tasks.yaml', text);
      assert.ok(list.kind === 'stories');
      sameValue([list.stories.length, list.problems], [count, []]);
    }
    assert.equal(
      editStoryDone(brackets, { id: 'B7', position: 8 }, true, 'tasks.yaml'),
      brackets.replace(/(id: B7\n.*\n +status: )pending/, '$1completed'),
    );
  });

  test('other lists of a phase, and phases that are a map, are problems with their lines', () => {
    for (const [text, line, key] of [
      [
        'phases:\n- name: Q\n  Tasks:\n  - {id: B, status: pending}\n  tasks:\n  - {id: A, status: completed}\n',
        ...[4, 'Tasks'],
      ],
      [
        'phases:\n  one:\n    tasks:\n    - {id: A, title: a, status: pending}\ntasks:\n- {id: B, status: completed}\n',
        ...[4, 'phases.one.tasks'],
      ],
    ] as const) {
      const [problem, ...others] = parseStoryFile('tasks.yaml', text).problems;
      sameValue([problem?.code, problem?.line, others], ['notAStory', line, []], text);
      assert.ok(englishOf(problem?.message ?? '').startsWith(`Entries in "${key}"`));
    }
  });

  test('other words for what a story waits for are problems with their lines if they name stories', () => {
    const files = [
      [
        'prd.json',
        (b: string) => `[{"id":"A","title":"a","passes":false},\n{"id":"B","title":"b",${b}}]`,
      ],
      [
        'tasks.yaml',
        (b: string) =>
          `tasks: [{id: A, title: a},\n  {"id": "B", "title": "b",${b.replaceAll('":', '": ')}}]\n`,
      ],
      [
        '.ralph/tasks.jsonl',
        (b: string) => `{"id":"A","title":"a","blockedBy":[]}\n{"id":"B","title":"b",${b}}\n`,
      ],
      [
        '.taskmaster/tasks/tasks.json',
        (b: string) =>
          `{"tasks":[{"id":"A","title":"a","subtasks":[]},\n{"id":"B","title":"b",${b}}]}`,
      ],
      [
        '.beads/issues.jsonl',
        (b: string) => `{"id":"A","title":"a"}\n{"id":"B","title":"b",${b}}\n`,
      ],
    ] as const;
    for (const [path, text] of files) {
      for (const field of [
        ...[
          '"deps":["A"]',
          '"prereqs":["A"]',
          '"prereq":"A"',
          '"predecessors":["a"]',
          '"waitsOn":"A"',
        ],
        ...['"waits_on":["A"]', '"runAfter":"A"', '"run_after":["A"]', '"dependsUpon":["A"]'],
        ...['"dependencyIds":["A"]', '"dependsOnIds":["A"]', '"requiredStories":["A"]'],
        ...[
          '"blocker":"A"',
          '"upstream":["A"]',
          '"follows":"A"',
          '"after":["A"]',
          '"DependsOn":["A"]',
        ],
        ...['"depends-on":"A"', '"dependson":["A"]', '"Dependencies":["A"]', '"requires":["A"]'],
      ]) {
        const found = parseStoryFile(path, text(field)).problems.map(({ code, line }) => [
          code,
          line,
        ]);
        sameValue(found, [['misspelledDependency', 2]], `${path} ${field}`);
      }
      for (const field of [
        ...['"deps":["react"]', '"deps":["A","react"]', '"upstream":"origin"', '"follows":true'],
        ...[
          '"blocks":["A"]',
          '"parent":"A"',
          '"required":true',
          '"related":["A"]',
          '"blocker":null',
        ],
        ...['"blocker":true', '"runAfter":[]'],
      ]) {
        sameValue(parseStoryFile(path, text(field)).problems, [], `${path} ${field}`);
      }
    }
    for (const key of ['dependsOn', 'depends_on', 'blockedBy', 'blocked_by']) {
      const text = `{"id":"A","title":"a"}\n{"id":"B","title":"b","${key}":["A"]}\n`;
      const [problem] = parseStoryFile('.beads/issues.jsonl', text).problems;
      sameValue([problem?.code, problem?.line, problem?.column], ['misspelledDependency', 2, 23]);
      const linked = text.replace(']}', '],"dependencies":[{"issue_id":"B","depends_on_id":"A"}]}');
      for (const type of ['related', 'parent-child', 'blocks', 'waits-for']) {
        const related = linked.replace('"issue_id"', `"type":"${type}","issue_id"`);
        sameValue(
          parseStoryFile('.beads/issues.jsonl', related).problems.map(({ code }) => code),
          type === 'blocks' || type === 'waits-for' ? [] : ['misspelledDependency'],
          type,
        );
      }
      const done = text.replace('"title":"b"', '"title":"b","status":"closed"');
      for (const other of [linked, done]) {
        sameValue(parseStoryFile('.beads/issues.jsonl', other).problems, [], other);
      }
    }
  });

  test('so are those that name phases, or subtasks with the number of their task', () => {
    const phase = (more: string) =>
      `phases:\n- {id: P1, name: One, tasks: [{id: A, status: pending}]}\n- name: Two\n  ${more}\n  tasks: [{id: B, status: pending}]\n`;
    for (const more of [
      ...['deps: [P1]', 'runAfter: One', 'waits_on: [P1]', 'requires: [1]', 'prerequisites: [A]'],
    ]) {
      const found = parseStoryFile('tasks.yaml', phase(more)).problems;
      sameValue(
        found.map(({ code, line }) => [code, line]),
        [['misspelledDependency', 4]],
        more,
      );
    }
    for (const more of [
      ...['deps: [docker]', 'after: lunch', 'blocker: null', 'depends_on: [P1]'],
      ...['requires: [docker]', 'prerequisites: [Node 20 installed]', 'dependency: the database'],
    ]) {
      sameValue(parseStoryFile('tasks.yaml', phase(more)).problems, [], more);
    }
    const numbered = phase('requires: [Phase 1]').replace('name: One', 'name: "Phase 1: One"');
    sameValue(
      parseStoryFile('tasks.yaml', numbered).problems.map(({ line }) => line),
      [4],
    );
    const tasks =
      '{"tasks":[{"id":1,"title":"a","subtasks":[{"id":1,"title":"b"}]},\n{"id":2,"title":"c","deps":["1.1"]}]}';
    const found = parseStoryFile('.taskmaster/tasks/tasks.json', tasks).problems;
    sameValue(
      found.map(({ code, line }) => [code, line]),
      [['misspelledDependency', 2]],
    );
  });

  test('a misspelled key of what a story waits for is a problem with its line', () => {
    for (const [path, text, key, meant] of [
      [
        'tasks.yaml',
        'tasks:\n  - {id: B, title: b, status: pending, depend_on: [A]}\n  - {id: A, title: a}\n',
        ...['depend_on', 'depends_on'],
      ],
      [
        '.ralph/tasks.jsonl',
        '{"id":"A","title":"a","status":"ready"}\n{"id":"B","title":"b","blocekdBy":["a"]}\n',
        ...['blocekdBy', 'blockedBy'],
      ],
      [
        '.taskmaster/tasks/tasks.json',
        '{"tasks":[{"id":1,"title":"a","subtasks":[],\n"depends":[2]},{"id":2,"title":"b"}]}',
        ...['depends', 'dependencies'],
      ],
      [
        '.ralph/agent/tasks.jsonl',
        '{"id":"task-1768000000-ab12","title":"a"}\n{"id":"task-1768000000-ab13","title":"b","bloked_by":["task-1768000000-ab12"]}\n',
        ...['bloked_by', 'blocked_by'],
      ],
      [
        'prd.json',
        '[{"id":"A","title":"a","dependsOn":[],\n"blockedby":["B"]},{"id":"B","title":"b"}]',
        ...['blockedby', 'dependsOn'],
      ],
    ] as const) {
      const [problem, ...others] = parseStoryFile(path, text).problems;
      sameValue([problem?.code, problem?.line], ['misspelledDependency', 2], path);
      sameValue(
        englishOf(problem?.message ?? ''),
        `The key "${key}" is ignored: rename it to "${meant}".`,
      );
      sameValue(others, []);
    }
    for (const dependencies of ['["a-2"]', '{"depends_on_id":"a-2"}', '[{"depends_on":"a-2"}]']) {
      const text = `{"id":"a-1","title":"a","dependencies":${dependencies}}\n{"id":"a-2","title":"b","dependencies":null}\n`;
      const [problem, ...others] = parseStoryFile('.beads/issues.jsonl', text).problems;
      sameValue([problem?.code, problem?.line, others], ['misspelledDependency', 1, []]);
      assert.match(
        englishOf(problem?.message ?? ''),
        /^A dependency of a-1 .*: bd dep add a-1 ID$/,
      );
    }
    const phases =
      'phases:\n- name: Two\n  depends-on: [One]\n  tasks: [{id: B, status: pending}]\n- {name: One, tasks: [{id: A, status: pending}]}\n';
    sameValue(
      parseStoryFile('tasks.yaml', phases).problems.map(({ code, line }) => [code, line]),
      [['misspelledDependency', 3]],
    );
    const none = 'tasks:\n  - {id: B, title: b, requires: [node], dependson: []}\n';
    sameValue(parseStoryFile('tasks.yaml', none).problems, []);
  });

  test('a misspelled key in the place of the status is a problem with its line', () => {
    for (const [path, text, key, meant] of [
      ['tasks.yaml', 'tasks:\n  - id: A\n    title: t\n    staus: done\n', 'staus', 'status'],
      [
        '.beads/issues.jsonl',
        '{"id":"a-1","title":"a","status":"open"}\n\n\n{"id":"a-2","title":"b","Status":"closed"}\n',
        'Status',
        'status',
      ],
      ['tasks.yaml', 'tasks:\n  - id: A\n    title: t\n    stauts: done\n', 'stauts', 'status'],
      [
        'tasks.yaml',
        'tasks:\n  - id: A\n    title: t\n    completd: true\n',
        'completd',
        'completed',
      ],
      [
        '.taskmaster/tasks/tasks.json',
        '{"master": {"tasks": [\n{"id": 1, "title": "t",\n\n"staus": "done"}]}}',
        'staus',
        'status',
      ],
    ] as const) {
      const file = parseStoryFile(path, text);
      assert.ok(file.kind === 'stories');
      const [problem, ...others] = file.problems;
      assert.deepEqual(others, []);
      sameValue([problem?.code, problem?.line], ['misspelledStatus', 4]);
      assert.equal(
        englishOf(problem?.message ?? ''),
        `The key "${key}" is ignored: rename it to "${meant}".`,
      );
    }
    for (const text of ['stage: design', 'steps: many', 'stats: good', 'staus: [1]']) {
      const file = parseStoryFile('tasks.yaml', `tasks:\n  - id: A\n    title: t\n    ${text}\n`);
      assert.ok(file.kind === 'stories');
      assert.deepEqual(
        file.problems.filter(({ code }) => code === 'misspelledStatus'),
        [],
      );
    }
  });

  test('a misspelled priority or title is a problem with its line', () => {
    for (const [path, text, key, meant] of [
      [
        'prd.json',
        '[{"id":"A","title":"a",\n"prioritiy":1,"passes":false}]',
        'prioritiy',
        'priority',
      ],
      ['prd.json', '[{"id":"A","title":"a",\n"Priority":"high"}]', 'Priority', 'priority'],
      ['prd.json', '[{"id":"A","description":"a",\n"titel":"b"}]', 'titel', 'title'],
      ['tasks.yaml', 'tasks:\n  - {id: A, title: a, prioirty: P1}\n', 'prioirty', 'priority'],
      ['tasks.yaml', 'tasks:\n  - titel: a\n    completed: false\n', 'titel', 'title'],
      [
        '.ralph/tasks.jsonl',
        '{"id":"A","title":"a","status":"ready"}\n{"id":"B","title":"b","prioritiy":"2"}\n',
        ...['prioritiy', 'priority'],
      ],
      [
        '.taskmaster/tasks/tasks.json',
        '{"master":{"tasks":[{"id":1,"title":"a",\n"Priority":"low"}]}}',
        ...['Priority', 'priority'],
      ],
    ] as const) {
      const [problem, ...others] = parseStoryFile(path, text).problems;
      sameValue([problem?.code, problem?.line], ['misspelledKey', 2], text);
      sameValue(
        englishOf(problem?.message ?? ''),
        `The key "${key}" is ignored: rename it to "${meant}".`,
      );
      sameValue(others, []);
    }
    for (const entry of [
      '"title":"a","priority":2,"Priority":1',
      '"title":"a","priority":null,"Priority":1',
      '"title":"a","priorities":[1]',
      '"title":"a","prioritys":"soon"',
      '"title":"a","prioritiy":1,"passes":true',
      '"title":"a","Title":"b"',
      '"name":"a","titles":"b"',
      '"description":"a","titles":["b"]',
    ]) {
      sameValue(parseStoryFile('prd.json', `[{"id":"A",${entry}}]`).problems, [], entry);
    }
  });

  test('a misspelled list or alias of YAML is named, and nobody is to rewrite the list of BMAD', () => {
    const told = (path: string, text: string) => {
      const file = parseStoryFile(path, text);
      assert.equal(file.kind, 'invalid');
      const [{ line, message }] = file.problems as [StoryProblem];
      return `${line}: ${englishOf(message)}`;
    };
    assert.equal(
      told('.claude/orchestration/plan.yaml', 'name: x\ntask:\n  - id: A\n    title: t\n'),
      '2: The list "task" is not read: rename it to "tasks".',
    );
    assert.match(
      told('.ralphy/tasks.yaml', 'tasks:\n  - title: a\n  - title: *x\n'),
      /^3: This is not valid YAML: Unresolved alias .*: x\. Correct it here/,
    );
    assert.match(
      told('sprint-status.yaml', 'developement_status:\n  epic-1: backlog\n  1-1-login: backlog\n'),
      /^1: This is the list of BMAD, but it has no key "development_status:"\. If that key is misspelled, correct it/,
    );
  });

  test('invalid UTF-8 and UTF-16 are refused', () => {
    const bad = Buffer.concat([
      Buffer.from('{\n"a": "\uFFFDö'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const problem = parseProblem(bad);
    sameValue([problem.code, problem.line, problem.column], ['unreadable', 2, 9]);
    assert.match(englishOf(parseProblem(Buffer.from('\uFEFF[]', 'utf16le')).message), /UTF-16/);
  });

  test('half a million brackets are refused quickly', () => {
    const deep = '['.repeat(500_000);
    assert.equal(parseStoryFile('p', deep + ']'.repeat(500_000)).kind, 'invalid');
    assert.equal(parseProblem(deep).code, 'unreadable');
    const story = `{"id":"a","title":"t","passes":false,"deep":${deep.slice(0, 150)}${']'.repeat(150)}}`;
    assert.equal(parseList(`[${story}]`).stories.length, 1);
  });

  test('foreign text in a message cannot control the terminal', () => {
    assert.equal(englishOf(parseProblem('[\u001b[31mred]').message).includes('\u001b'), false);
  });
});

describe('files on disk', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ralph-stories-'));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test('known places are searched in order', async () => {
    const workspace = join(folder, 'places');
    await mkdir(workspace);
    assert.equal(await findStoryFile(workspace), undefined);
    for (const place of STORY_FILE_PLACES.toReversed()) {
      const path = join(workspace, place);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, '[]');
      assert.equal(await findStoryFile(workspace), path);
    }
  });

  test('a folder with that name is not a story file', async () => {
    const workspace = join(folder, 'folders');
    await mkdir(join(workspace, '.omc/prd.json'), { recursive: true });
    await writeFile(join(workspace, 'prd.json'), '[]');
    assert.equal(await findStoryFile(workspace), join(workspace, 'prd.json'));
    const file = await readStoryFileOrThrow(join(workspace, '.omc/prd.json'));
    assert.equal(file.kind === 'invalid' && file.problems[0].code, 'unreadable');
  });

  test('the chosen file is used as long as it exists, and its version tells when to read again', async () => {
    const workspace = join(folder, 'used');
    await mkdir(workspace);
    const usual = join(workspace, 'prd.json');
    const chosen = join(workspace, 'other.json');
    assert.equal(await readUsedFile(workspace, chosen), undefined);
    const nothing = await usedVersion(workspace, undefined);
    await writeFile(usual, '[{"id":"A","passes":false}]');
    assert.notEqual(await usedVersion(workspace, undefined), nothing);
    assert.equal((await readUsedFile(workspace, chosen))?.path, usual);
    await writeFile(chosen, '[{"id":"B","passes":false}]');
    assert.equal((await readUsedFile(workspace, chosen))?.path, chosen);
    const version = await usedVersion(workspace, chosen);
    assert.equal(await usedVersion(workspace, chosen), version);
    await writeFile(chosen, '[{"id":"B","passes":true}, {"id":"C","passes":false}]');
    assert.notEqual(await usedVersion(workspace, chosen), version);
  });

  test('a missing file gives an error for people', async () => {
    assert.equal(await readStoryFile(join(folder, 'none.json')), undefined);
    await assert.rejects(readStoryFileOrThrow(join(folder, 'none.json')), HumanError);
  });

  test('an unreadable file gives a result instead of an error', async t => {
    const path = join(folder, 'locked.json');
    await writeFile(path, '[]');
    await chmod(path, 0o000);
    if (await readFile(path).catch(() => undefined)) {
      t.diagnostic('this user may read everything, so only the ordinary answer was checked');
      assert.equal((await readStoryFileOrThrow(path)).kind, 'stories');
      return;
    }
    const file = await readStoryFileOrThrow(path);
    assert.equal(file.kind === 'invalid' && file.problems[0].code, 'unreadable');
  });

  test('the hash is computed from the bytes', async () => {
    const path = join(folder, 'hash.json');
    await writeFile(path, '\uFEFF[]');
    const read = await readStoryFileOrThrow(path);
    assert.equal(read.hash, parseStoryFile(path, '\uFEFF[]').hash);
    assert.notEqual(read.hash, parseStoryFile(path, '[]').hash);
  });
});

describe('files that would block a reader', () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'story-limits-'));
  });
  after(() => rm(dir, { recursive: true }));

  test('are refused for their size', async () => {
    const path = join(dir, 'prd.json');
    await writeFile(path, Buffer.alloc(60 * 1024 * 1024, '['));
    const file = await readStoryFileOrThrow(path);
    assert(file.kind === 'invalid');
    assert.equal(file.problems[0]?.code, 'unreadable');
    assert.match(englishOf(file.problems[0]?.message ?? ''), /prd\.json is larger than 8 MB: move/);
    const docs = await readFile(join(import.meta.dirname, '../../docs/story-files.md'), 'utf8');
    assert.ok(docs.includes(`may have at most ${MAX_STORY_FILE_BYTES / 1024 / 1024} MB`));
  });

  test('are refused for their nesting, in every nested format', () => {
    for (const name of ['prd.json', 'issues.jsonl', 'plan.yaml']) {
      for (const open of ['[', '{"a":']) {
        const file = parseStoryFile(name, `\n${open.repeat(1_000_000)}`);
        assert(file.kind === 'invalid', name);
        const { code, message, line } = file.problems[0] ?? {};
        sameValue([code, line], [name === 'plan.yaml' ? 'invalidYaml' : 'unreadable', 2]);
        assert.match(englishOf(message ?? ''), /nested more than 200 levels deep/);
      }
    }
  });

  test('are accepted with brackets inside texts', () => {
    const title = '[{"'.repeat(1000);
    const list = parseList(JSON.stringify({ userStories: [{ id: 'A', title, passes: false }] }));
    assert.equal(list.stories[0]?.title, title);
  });
});
