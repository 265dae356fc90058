import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Loss, Target } from '../../src/orchestrator/stories/convert/conversion.ts';
import { convertStories } from '../../src/orchestrator/stories/convert/convertStories.ts';
import { packFolder } from '../../src/orchestrator/stories/formats/folderText.ts';
import { prdFileText } from '../../src/orchestrator/stories/formats/prdWriter.ts';
import { nextStory } from '../../src/orchestrator/stories/select.ts';
import type { Story, StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';
import { lossLines } from '../../src/presentation/conversionLosses.ts';
import { english } from '../../src/presentation/translate.ts';
import { sameValue } from '../support/sameValue.ts';

const NAMES = { prd: 'prd.json', yaml: 'p.yaml', plan: 'PLAN.md', tasks: 'tasks.jsonl' } as const;

function convert(path: string, text: string, target: Target) {
  const parsed = parseStoryText(path, text);
  const { file } = parsed;
  assert.ok(file.kind === 'stories', JSON.stringify(file.problems));
  return convertStories({ ...parsed, file }, target, new Date('2026-01-02T03:04:05Z'));
}

function listOf(path: string, text: string): StoryList {
  const { file } = parseStoryText(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file.problems));
  return file;
}

/** What a list says, without where it is said. */
function model({ branchName, description, project, stories }: StoryList) {
  return {
    ...{ branchName, description: description.trim(), project },
    stories: stories.map(({ line: _, position: __, ...story }) => story),
  };
}

const lossOf = (losses: readonly Loss[], fact: string) =>
  losses.find(loss => (loss.kind === 'story' || loss.kind === 'heading') && loss.fact === fact);

const PRD = JSON.stringify({
  project: 'Shop',
  branchName: 'ralph/shop',
  description: 'A shop.',
  qualityGates: ['npm test'],
  userStories: [
    {
      id: 'US-1',
      title: 'Basket',
      description: 'As a customer I want a basket.\nIt is kept.',
      acceptanceCriteria: [{ text: 'It is shown', done: true }, 'Tests pass'],
      priority: 2,
      epic: 'Basket',
      passes: true,
      notes: 'Was hard.',
    },
    {
      id: 'US-2',
      title: 'Till',
      priority: 1,
      dependsOn: ['US-1'],
      epic: 'Till',
      model: 'opus',
      effort: 'high',
      maxTurns: 40,
      status: 'in_progress',
      passes: false,
    },
  ],
});

describe('a prd.json', () => {
  test('becomes an equivalent orchestration, except for unknown keys', () => {
    const { losses, stories, text } = convert('prd.json', PRD, 'yaml');
    assert.equal(stories, 2);
    assert.deepEqual(losses, [
      { kind: 'story', fact: 'keys', storyIds: ['US-1'], names: ['notes'] },
      { kind: 'fileKeys', names: ['qualityGates'] },
    ]);
    assert.match(text, /^name: Shop\nbranch: ralph\/shop\n/);
    assert.match(text, /- name: Basket\n {4}tasks:\n {6}- id: US-1\n/);
    const back = convert('p.yaml', text, 'prd');
    assert.deepEqual(back.losses, []);
    // The first has no word but “completed” now, which says what it said.
    const [before, after] = [PRD, back.text].map(one => model(listOf('prd.json', one)));
    sameValue(after, before);
  });

  test('becomes a plan in the order of the turns, and the losses are reported', () => {
    const { losses, text } = convert('prd.json', PRD, 'plan');
    assert.equal(
      text,
      `# Shop

A shop.

## Till

- [ ] US-2: Till

## Basket

- [x] US-1: Basket
  As a customer I want a basket.
  It is kept.
  - It is shown
  - Tests pass
`,
    );
    assert.deepEqual(losses.map(loss => ('fact' in loss ? loss.fact : loss.kind)).sort(), [
      ...['branchName', 'criteriaAsText', 'criteriaStates', 'dependsOn'],
      ...['effort', 'fileKeys', 'keys', 'maxTurns', 'model', 'priority', 'status'],
    ]);
    assert.deepEqual(lossOf(losses, 'dependsOn'), {
      ...{ kind: 'story', fact: 'dependsOn', storyIds: ['US-2'] },
    });
    sameValue(
      listOf('PLAN.md', text).stories.map(({ done, epic, id }) => [id, done, epic]),
      [
        ['US-2', false, 'Till'],
        ['US-1', true, 'Basket'],
      ],
    );
  });
});

describe('a plan', () => {
  const PLAN = `# Shop

Some words.

## Basket
- [x] T001 Show it
  In the header.
- [~] T002 Empty it

## Till
1. [ ] Pay
`;
  test('becomes a prd.json with ids, order, epics and states', () => {
    const { losses, text } = convert('PLAN.md', PLAN, 'prd');
    assert.deepEqual(losses, [{ kind: 'lines', count: 1 }]);
    const { stories, ...heading } = model(listOf('PLAN.md', PLAN));
    const descriptions: Record<string, string> = { T001: 'In the header.' };
    sameValue(model(listOf('prd.json', text)), {
      ...heading,
      // Without the line that is the title already.
      stories: stories.map(story => ({
        ...story,
        // The next id of the file.
        id: story.id === '#3' ? 'T003' : story.id,
        title: story.title.replace(/^T00\d /, ''),
        description: descriptions[story.id] ?? '',
      })),
    });
  });

  test('of Kiro has descriptions without their titles in every other format', () => {
    const kiro = '- [ ] 1. Set up\n  - Write the config\n  - _Requirements: 1.1_\n';
    for (const target of ['prd', 'yaml', 'tasks'] as const) {
      const { losses, text } = convert('tasks.md', kiro, target);
      assert.deepEqual(losses, []);
      const [story] = listOf(NAMES[target], text).stories;
      assert.equal(story?.id, '1');
      assert.equal(story?.title, 'Set up');
      assert.equal(story?.description, '- Write the config\n- _Requirements: 1.1_');
    }
  });

  test('without ids gets some in each format that has ids, and none in a plan', () => {
    for (const [target, ids] of [
      ['prd', ['US-001', 'US-002']],
      ['yaml', ['T-1', 'T-2']],
      ['tasks', ['T-1', 'T-2']],
      ['plan', ['#1', '#2']],
    ] as const) {
      const { losses, text } = convert('PLAN.md', '- [ ] One\n- [ ] Two\n', target);
      assert.deepEqual(losses, []);
      sameValue(
        listOf(NAMES[target], text).stories.map(({ id }) => id),
        ids,
      );
    }
  });

  test('with words that look like Markdown loses no story in a plan', () => {
    const stories = [
      { title: 'One', description: '# Head\n- [ ] box\n```\ncode\n<!-- x\n---' },
      { title: 'Two', description: '' },
    ].map((story, index) => ({
      ...{ ...story, id: `T-${index}`, criteria: [{ text: '[ ] a\nb' }], done: false },
      dependsOn: [],
    }));
    const heading = { project: 'P', branchName: '', description: '- [ ] no story' };
    const { text } = convert('prd.json', prdFileText({ ...heading, stories }), 'plan');
    assert.equal(listOf('PLAN.md', text).stories.length, 2);
  });
});

test('a title is the same after the way through a plan, which has the id in its text', () => {
  const yaml = 'phases:\n  - tasks:\n      - {id: T1, name: first, status: pending}\n';
  const { text } = convert('p.yaml', yaml, 'plan');
  assert.match(text, /^- \[ \] T1: first$/m);
  for (const target of ['prd', 'yaml', 'tasks'] as const) {
    const back = convert('PLAN.md', text, target);
    assert.deepEqual(back.losses, []);
    sameValue(
      listOf(NAMES[target], back.text).stories.map(({ id, title }) => [id, title]),
      [['T1', 'first']],
    );
  }
  assert.equal(convert('PLAN.md', text, 'plan').text, text);
});

test('stories of no epic that follow one get a heading with a name in a plan', () => {
  const tasks = JSON.stringify({
    tasks: [
      { id: 1, title: 'Shop', status: 'pending', subtasks: [{ id: 1, title: 'Basket' }] },
      { id: 2, title: 'Till', status: 'pending', subtasks: [] },
    ],
  });
  const { losses, text } = convert('.taskmaster/tasks/tasks.json', tasks, 'plan');
  assert.deepEqual(text.match(/^#.*/gm)?.at(-1), '## Other stories', text);
  assert.doesNotMatch(text, /^#+\s*$/m);
  assert.equal(lossOf(losses, 'epic'), undefined);
  const added = losses.filter(loss => loss.kind === 'story' && loss.fact === 'otherEpic');
  assert.deepEqual(added, [{ kind: 'story', fact: 'otherEpic', storyIds: ['2'] }]);
  const first = JSON.stringify({ tasks: [{ id: 1, title: 'Shop', status: 'pending' }] });
  assert.deepEqual(convert('tasks.json', first, 'plan').losses, []);
});

describe('an orchestration', () => {
  const YAML = `name: Work
phases:
  - name: One # first
    tasks:
      # the basis
      - {id: a, name: A, status: skipped, estimate: 2h}
      - id: b
        name: B
        status: in_progress
        depends_on: [c]
  - name: Two
    tasks:
      - {id: c, name: C, status: completed}
      - just a text
`;
  test('reports comments, keys, and items that are not read', () => {
    const { losses } = convert('p.yaml', YAML, 'prd');
    assert.deepEqual(losses, [
      { kind: 'story', fact: 'keys', storyIds: ['a'], names: ['estimate'] },
      { kind: 'lines', count: 2 },
      { kind: 'notRead', lines: [14] },
    ]);
    assert.deepEqual(convert('p.yaml', YAML, 'yaml').losses.length, 3);
    assert.equal(
      lossLines(losses, english).at(-1),
      'an item that is not read as a story, on line 14',
    );
  });
});

test('a story without an id gets none that another one waits for', () => {
  const prd = '[{"title": "One", "dependsOn": ["T-1"]}, {"title": "Two", "passes": true}]';
  const { text } = convert('prd.json', prd, 'tasks');
  assert.deepEqual(
    text.split('\n').flatMap(line => (line === '' ? [] : JSON.parse(line).id)),
    ['T-2', 'T-3'],
  );
});

test('a task graph gives ids to stories without one, and their dependents follow', () => {
  const prd =
    '[{"title": "One"}, {"title": "Two", "dependsOn": ["#1"]}, {"id": "T-1", "title": "X"}]';
  const { losses, text } = convert('prd.json', prd, 'tasks');
  assert.deepEqual(losses, []);
  sameValue(
    listOf('tasks.jsonl', text).stories.map(({ dependsOn, id }) => [id, dependsOn]),
    [
      ['T-2', []],
      ['T-3', ['T-2']],
      ['T-1', []],
    ],
  );
  assert.match(
    text,
    /^\{"id":"T-2","title":"One","status":"ready","blockedBy":\[\],"created":"2026-01-02T/,
  );
});

test('a sprint of BMAD keeps its ids, and loses the paths of its story files', () => {
  const text =
    'project: Shop\nstory_location: stories\ndevelopment_status:\n  epic-1: backlog\n  1-1-basket: done\n  1-2-till: backlog\n';
  const { losses } = convert('sprint-status.yaml', text, 'prd');
  assert.deepEqual(lossOf(losses, 'keys'), undefined);
  assert.deepEqual(lossOf(losses, 'details'), {
    ...{ kind: 'story', fact: 'details', storyIds: ['1-1-basket', '1-2-till'] },
  });
  assert.deepEqual(
    lossLines(losses, english).find(line => line.includes('1-1-basket')),
    'what the files of the stories describe; agents would not be led to them: 1-1-basket, 1-2-till',
  );
});

test('sections of Backlog.md besides description and criteria are lost, and so are lines that belong to none', () => {
  const backlog = (...bodies: string[]) => {
    const files = bodies.map((body, index): [string, Buffer] => [
      `tasks/task-${index + 1} - T.md`,
      Buffer.from(`---\nid: task-${index + 1}\ntitle: T${index + 1}\n---\n${body}`),
    ]);
    const folder = packFolder({ files: new Map(files), completed: [], unread: [] });
    return convert('backlog', folder.toString(), 'tasks').losses;
  };
  const read = `
## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
Why.

## Part of the description
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 It works
<!-- AC:END -->

## Implementation Plan
`;
  assert.deepEqual(backlog(read, 'Only text.\n', '## Description\n\nBy hand.\n'), []);
  assert.deepEqual(
    backlog(
      `${read}\n1. Look\n\n## Implementation Notes\n\nDone.\n`,
      `Above.\n${read}\n## Notizen ÄÖ\nx\n`,
      'Only text.\n',
    ),
    [
      {
        ...{ kind: 'story', fact: 'sections', storyIds: ['task-1', 'task-2'] },
        names: ['Implementation Plan', 'Implementation Notes', 'Notizen ÄÖ'],
      },
      { kind: 'lines', count: 1 },
    ],
  );
});

test('what Task Master says about a tag, or about the whole file, is lost', () => {
  const tasks = [{ id: 1, title: 'Shop', status: 'pending', subtasks: [] }];
  // The description is that of the project where there are no tags.
  const metadata = { description: 'Words', version: '1' };
  for (const [file, names] of [
    [{ master: { tasks, metadata }, shop: { tasks, metadata }, version: 1 }, undefined],
    [{ tasks, metadata }, ['metadata.version']],
    [{ tasks }, []],
  ] as const) {
    const { losses } = convert('.taskmaster/tasks/tasks.json', JSON.stringify(file), 'tasks');
    assert.deepEqual(
      losses.flatMap(loss => (loss.kind === 'fileKeys' ? loss.names : [])),
      names ?? ['master.metadata', 'shop.metadata', 'version'],
    );
  }
});

test('that a task of Kiro is optional is lost', () => {
  const text = '- [ ] 1. Set up\n  - [ ] 1.1 Write\n  - [ ]* 1.2 Test\n';
  for (const target of ['prd', 'yaml', 'tasks'] as const) {
    const { losses } = convert('.kiro/specs/a/tasks.md', text, target);
    assert.deepEqual(losses, [
      { kind: 'story', fact: 'nesting', storyIds: ['1.1', '1.2'] },
      { kind: 'story', fact: 'optional', storyIds: ['1.2'] },
    ]);
  }
});

test('issues of Beads keep what a prd.json can hold', () => {
  const text =
    '{"id":"b-1","title":"One","status":"closed","priority":1,"assignee":"me"}\n' +
    '{"id":"b-2","title":"Two","status":"open","priority":2,"dependencies":[{"depends_on_id":"b-1","type":"blocks"}]}\n';
  const { losses } = convert('issues.jsonl', text, 'prd');
  assert.deepEqual(losses, [
    { kind: 'story', fact: 'keys', storyIds: ['b-1'], names: ['assignee'] },
  ]);
});

test('a title that is the id keeps its description below it in an orchestration', () => {
  const { losses } = convert(
    NAMES.prd,
    '[{"id":"1.0","title":"1.0","description":"Why","passes":false}]',
    'yaml',
  );
  assert.deepEqual(losses, []);
});

describe('the order of a plan', () => {
  /** By the last words of the titles. */
  const order = (path: string, stories: unknown) =>
    listOf('PLAN.md', convert(path, JSON.stringify(stories), 'plan').text).stories.map(
      ({ title }) => title.split(' ').at(-1),
    );
  const entry = (
    id: string,
    priority: number,
    dependsOn: readonly string[] = [],
    done = false,
  ) => ({
    ...{ id, title: `Story ${id}`, priority, dependsOn, passes: done },
  });

  test('is that of the turns: what is waited for comes first', () => {
    const stories = [entry('A', 1, ['B']), entry('B', 2), entry('C', 1)];
    assert.deepEqual(order('prd.json', stories), ['C', 'B', 'A']);
    const { losses } = convert('prd.json', JSON.stringify(stories), 'plan');
    assert.ok(!losses.some(({ kind }) => kind === 'order'));
  });

  test('has a task of Task Master behind its open subtasks', () => {
    const subtasks = [
      { id: 1, title: 'Draw', status: 'done', dependencies: [] },
      { id: 2, title: 'Build', status: 'pending', dependencies: [] },
    ];
    const tasks = [
      { id: 1, title: 'Till', status: 'pending', dependencies: [2], subtasks: [] },
      { id: 2, title: 'Basket', status: 'pending', dependencies: [], subtasks },
    ];
    assert.deepEqual(order('.taskmaster/tasks/tasks.json', { master: { tasks } }), [
      ...['Draw', 'Build', 'Basket', 'Till'],
    ]);
  });

  test('keeps done stories where they were, and ends with those that wait for ever', () => {
    const stories = [
      ...[entry('A', 1, ['X']), entry('X', 2, ['A']), entry('B', 3, ['nowhere'])],
      ...[entry('C', 4, [], true), entry('D', 5, ['C', 'F']), entry('E', 6, ['A'], true)],
      ...[entry('F', 7)],
    ];
    assert.deepEqual(order('prd.json', stories), ['C', 'E', 'F', 'D', 'A', 'X', 'B']);
  });

  test('is that in which the source would give its stories their turns', () => {
    /** Each next story, when all before it got done. */
    const turns = (stories: readonly Story[]): string[] => {
      const { story } = nextStory(stories);
      return story === undefined
        ? []
        : [story.id, ...turns(stories.map(one => (one === story ? { ...one, done: true } : one)))];
    };
    const story = fc.record({
      priority: fc.option(fc.nat(3), { nil: undefined }),
      passes: fc.boolean(),
      needs: fc.array(fc.nat(8), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(story, { minLength: 1, maxLength: 8 }), list => {
        const stories = list.map(({ needs, ...one }, index) => ({
          ...{ ...one, id: `S-${index}`, title: `Story ${index}` },
          dependsOn: needs.map(need => `S-${need}`),
        }));
        const text = JSON.stringify(stories);
        const wanted = turns(listOf('prd.json', text).stories);
        const found = turns(listOf('PLAN.md', convert('prd.json', text, 'plan').text).stories);
        assert.deepEqual(found.slice(0, wanted.length), wanted);
      }),
      { numRuns: 500 },
    );
  });
});

test('any prd.json comes back the same from an orchestration', () => {
  const word = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .map(text => text.replaceAll(/[\s\p{C}]+/gu, ' ').trim())
    .filter(text => text !== '' && !/^#\d+$/.test(text));
  const block = fc
    .array(fc.oneof(word, fc.constantFrom('- [ ] x', '# y', '```', '---', 'a: b', '{')), {
      maxLength: 3,
    })
    .map(lines => lines.join('\n'));
  const story = fc.record({
    title: word,
    description: block,
    criteria: fc.array(
      fc.oneof(
        word.map(text => ({ text })),
        fc.record({ text: word, done: fc.boolean() }, { noNullPrototype: true }),
      ),
      { maxLength: 3 },
    ),
    done: fc.boolean(),
    priority: fc.option(fc.integer({ min: -5, max: 99 }), { nil: undefined }),
    epic: fc.option(word, { nil: undefined }),
    model: fc.constantFrom(undefined, 'opus'),
    effort: fc.constantFrom(undefined, 'high'),
    maxTurns: fc.constantFrom(undefined, 7),
    discoveredFrom: fc.constantFrom(undefined, 'S-0'),
    status: fc.constantFrom(undefined, 'in_progress', 'blocked', 'review'),
  });
  const lists = fc
    .tuple(
      fc.array(story, { minLength: 1, maxLength: 6 }),
      fc.array(fc.tuple(fc.nat(5), fc.nat(5))),
      fc.record({ project: word, branchName: word, description: block }),
    )
    .map(([stories, needs, heading]) => ({
      ...heading,
      stories: stories.map((one, index) => ({
        ...one,
        id: `S-${index}`,
        ...(one.done && { status: undefined }),
        dependsOn: [
          ...new Set(needs.flatMap(([a, b]) => (a === index && b < index ? [`S-${b}`] : []))),
        ],
      })),
    }));
  fc.assert(
    fc.property(lists, list => {
      const prd = prdFileText(list, { numbered: false });
      const yaml = convert(NAMES.prd, prd, 'yaml');
      assert.deepEqual(yaml.losses, [], yaml.text);
      const back = convert(NAMES.yaml, yaml.text, 'prd');
      assert.deepEqual(back.losses, [], yaml.text);
      assert.equal(back.text, prd);
      const graph = convert(NAMES.prd, prd, 'tasks');
      const lost = list.stories.some(({ status }) => status === 'blocked') ? ['status'] : [];
      assert.deepEqual(
        graph.losses.map(loss => 'fact' in loss && loss.fact),
        lost,
        graph.text,
      );
      const { text } = convert(NAMES.tasks, graph.text, 'prd');
      assert.equal(text, prd.replaceAll('\n      "status": "blocked",', ''));
      // A plan loses facts, but no story.
      const plan = convert(NAMES.prd, prd, 'plan');
      assert.equal(listOf(NAMES.plan, plan.text).stories.length, list.stories.length);
      assert.equal(lossOf(plan.losses, 'done'), undefined);
      // The description of the project is text there, and lost only where it is not.
      const heading = plan.losses.flatMap(loss => (loss.kind === 'heading' ? [loss.fact] : []));
      const above = plan.text.slice(0, plan.text.search(/^- \[/m)).replaceAll('\\', '');
      const isThere = list.description
        .replaceAll('\\', '')
        .split('\n')
        .every(line => above.split('\n').includes(line.trimEnd()) || line.trim() === '');
      assert.equal(heading.includes('description'), !isThere, plan.text);
      // Nor is anything else of the heading reported that the plan has.
      const { project } = listOf(NAMES.plan, plan.text);
      assert.equal(heading.includes('project'), project !== list.project, plan.text);
      assert.ok(heading.includes('branchName'));
    }),
  );
});

describe('lines that belong to no story', () => {
  const lost = (path: string, text: string, target: Target = 'prd') =>
    convert(path, text, target).losses.flatMap(loss => (loss.kind === 'lines' ? loss.count : []));

  test('are also headings of a plan that are no group of an item', () => {
    const plan =
      '# Shop\n\n## Phase 1\n\n### Tests\n\n- [ ] One\n\n## Phase 2\n\n### Tests\n\n- [ ] Two\n';
    assert.deepEqual(lost('PLAN.md', plan), []);
    assert.deepEqual(
      lost('PLAN.md', `${plan}\n## Risks\n\n## Outer\n\n### Inner\n\n- [ ] Three\n`),
      [2],
    );
  });

  test('are also comments in the head of a task of Backlog.md, and notes among issues of Beads', () => {
    const files = new Map([
      ['tasks/task-1 - T.md', Buffer.from('---\n# Ask bob\nid: task-1\ntitle: T\n---\n')],
    ]);
    const folder = packFolder({ files, completed: [], unread: [] }).toString();
    assert.deepEqual(lost('backlog', folder), [1]);
    const issues =
      '{"_type":"memory","id":"m","title":"Use tabs"}\n{"id":"b-1","title":"memory","status":"open"}\n';
    assert.deepEqual(lost('issues.jsonl', issues), [1]);
  });
});

test('the mark of an item of a plan that is not known is lost', () => {
  const { losses } = convert('PLAN.md', '- [ ] One\n- [?] Two\n- [x] Three\n', 'prd');
  assert.deepEqual(losses, [{ kind: 'story', fact: 'status', storyIds: ['#2'] }]);
});
