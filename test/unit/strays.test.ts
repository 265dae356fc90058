import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

/** A file in each format that can have other lists, with one story: what more its object, or its phase, has. */
const FILES = {
  prd: (more: object) => [
    'prd.json',
    { userStories: [{ id: 'B', title: 'b', passes: false }], ...more },
  ],
  phase: (more: object) => ['o.yaml', { phases: [{ name: 'P', tasks: [yamlTask], ...more }] }],
  phases: (more: object) => ['o.yaml', { phases: [{ name: 'P', tasks: [yamlTask] }], ...more }],
  tasks: (more: object) => ['o.yaml', { tasks: [yamlTask], ...more }],
  master: (more: object) => [TASK_MASTER, { master: { tasks: [task], ...more } }],
  tags: (more: object) => [TASK_MASTER, { master: { tasks: [task] }, ...more }],
  untagged: (more: object) => [TASK_MASTER, { tasks: [task], ...more }],
} satisfies Record<string, (more: object) => readonly [path: string, root: object]>;
type Kind = keyof typeof FILES;

const TASK_MASTER = '.taskmaster/tasks/tasks.json';
const yamlTask = { id: 't1', title: 'Init', status: 'pending' };
const task = { id: 1, title: 'T1', status: 'pending', dependencies: [], subtasks: [] };
const YAML: readonly Kind[] = ['phase', 'phases', 'tasks'];
const TASKS: readonly Kind[] = ['master', 'tags', 'untagged'];
/** Formats with names in the place of keys. */
const FREE: readonly Kind[] = ['tags', 'untagged'];
const NO_TAGS: readonly Kind[] = ['prd', ...YAML, 'master'];
const ALL: readonly Kind[] = ['prd', ...YAML, ...TASKS];

/** JSON is YAML, too. */
function strays(path: string, root: object): string[] {
  const file = parseStoryFile(path, JSON.stringify(root, null, 1));
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file.problems
    .filter(({ code }) => code === 'notAStory')
    .map(({ message }) => englishOf(message))
    .map(text => /"(.*?)".*?: (\d+)\./.exec(text)?.slice(1).join(' ') ?? text);
}

function told(kind: Kind, more: object): string[] {
  const [path, root] = FILES[kind](more);
  return strays(path, root);
}

const open = (id: string | number, more: object = {}) => ({
  ...{ id, title: `Do ${id}`, status: 'pending' },
  ...more,
});
const unticked = (id: string) => ({ id, title: `Do ${id}`, passes: false });

describe('open stories next to the list that is read', () => {
  test('are named with their list', () => {
    const group = { name: 'Two', tasks: [open('Z')] };
    for (const [kinds, more, words] of [
      [ALL, { sections: [{ title: 'UI', userStories: [unticked('Z')] }] }, 'sections 1'],
      [ALL, { groups: [{ stories: [unticked('Z')] }, { stories: [unticked('Y')] }] }, 'groups 2'],
      [ALL, { forms: [{ tasks: [unticked('Z')] }] }, 'forms 1'],
      [ALL, { epics: [{ name: 'E', stories: [open('Z')] }] }, 'epics 1'],
      [ALL, { stages: { one: group } }, 'stages.one.tasks 1'],
      [ALL, { project: { final_tasks: [open('Z')] } }, 'project.final_tasks 1'],
      [ALL, { project: { phases: [group] } }, 'project.phases 1'],
      [ALL, { final_tasks: { s: { title: 'z', status: 'pending' } } }, 'final_tasks 1'],
      [
        ALL,
        { cleanup: [{ title: 'C', completed: false }, open('D', { status: 'done' })] },
        'cleanup 1',
      ],
      [ALL, { release_tasks: [open('Z')] }, 'release_tasks 1'],
      [ALL, { notDone: [open('Z')] }, 'notDone 1'],
      [ALL, { phase2: [open('Z')] }, 'phase2 1'],
      [ALL, { todo: [{ id: 'Z', title: 'z' }] }, 'todo 1'],
      [ALL, { in_progress: [open('Z', { status: 'doing' })] }, 'in_progress 1'],
      [ALL, { tasksToComplete: [open('Z')] }, 'tasksToComplete 1'],
      [ALL, { back_log: [open('Z')] }, 'back_log 1'],
      [
        ALL,
        {
          backlog: [
            { id: 'Z', title: 'z' },
            { id: 'Y', title: 'y' },
          ],
        },
        'backlog 2',
      ],
      [ALL, { moreStories: { 'test-login': { title: 'z', passes: false } } }, 'moreStories 1'],
      [TASKS, { v2: { items: [open(2, { title: 'x' })] } }, 'v2.items 1'],
      [TASKS, { v2: [{ id: 2, title: 'x', testStrategy: 'y' }] }, 'v2 1'],
      [ALL, { testing: [{ ...unticked('Z'), acceptanceCriteria: ['a'] }] }, 'testing 1'],
      [YAML, { milestones: [{ ...unticked('t9'), acceptanceCriteria: ['a'] }] }, 'milestones 1'],
      [['prd'], { sideQuests: [{ title: 'z', done: false }] }, 'sideQuests 1'],
      [ALL, { audit: { login: { ...unticked('Z'), steps: ['a'] } } }, 'audit 1'],
      [YAML, { deployment: { tasks: [{ id: 't2', name: 'z' }] } }, 'deployment.tasks 1'],
      [NO_TAGS, { deployment: { tasks: [open('Z', { by: 'ops' })] } }, 'deployment.tasks 1'],
      [ALL, { agents: [{ name: 'a', tasks: [open('Z')] }] }, 'agents 1'],
      [YAML, { testing: [{ id: 'Z', name: 'z', depends_on: ['t1'] }] }, 'testing 1'],
      [YAML, { mvp: [{ id: 'T2', name: 'z', owner: 'me' }] }, 'mvp 1'],
      [['prd'], { integration: [{ id: 'Z', title: 'z', dependsOn: ['B'] }] }, 'integration 1'],
      [FREE, { docs: { task: [open(2)] } }, 'docs.task 1'],
      [ALL, { notVerified: [open('Z')] }, 'notVerified 1'],
      [ALL, { second_pass_tasks: [open('Z')] }, 'second_pass_tasks 1'],
      [['tags'], { tags: { v2: { items: [open(2, { title: 'x' })] } } }, 'tags.v2.items 1'],
    ] as const) {
      for (const kind of kinds) {
        const found = told(kind, more).map(text => text.replace(/^master\./, ''));
        assert.deepEqual(found, [words], `${kind}: ${JSON.stringify(more)}`);
      }
    }
    for (const tag of ['release-2', 'ci-pipeline', 'docs', 'auth-service']) {
      const found = told('untagged', { [tag]: { tasks: [open(2)] } });
      assert.deepEqual(found, [`${tag}.tasks 1`]);
    }
    const stories = [{ id: 'US-002', title: 'b', passes: false }];
    const other = { id: 'US-010', title: 'E2E', passes: false };
    for (const key of ['testing', 'documentation', 'deployment', 'build', 'requirements']) {
      assert.deepEqual(strays('prd.json', { [key]: [other], userStories: stories }), [`${key} 1`]);
      assert.deepEqual(strays('prd.json', { [key]: other, userStories: stories }), [`${key} 1`]);
    }
    assert.deepEqual(told('phases', { tasks: ['t1', 'Test it', 'Init', open('Z')] }), ['tasks 2']);
    assert.deepEqual(told('master', { items: [open(2)], bugs: [open(3)] }), [
      'master.items 1',
      'master.bugs 1',
    ]);
  });

  test('and nothing else is', () => {
    const state = (status: string) => ({ id: 'x', title: 'n', name: 'n', status });
    for (const key of [
      ...['agents', 'risks', 'qualityGates', 'tests', 'history', 'sessions', 'decisions'],
      ...['environments', 'dependencies', 'goals', 'deliverables', 'blockers', 'assumptions'],
      ...['prerequisites', 'stakeholders', 'components', 'endpoints', 'integrations', 'releases'],
      ...['changelog', 'roadmap', 'tracks', 'workstreams', 'handoffs', 'documents'],
      ...['pull_requests', 'branches', 'deployments', 'experiments', 'iterations', 'hypotheses'],
      ...['change_requests', 'workflow', 'work_log', 'task_history', 'task_gates', 'story_agents'],
      ...['todo_checks', 'milestones', 'stages', 'members', 'team', 'labels', 'statuses', 'notes'],
      ...['rollback', 'rollback_plan', 'monitoring', 'resources', 'infra', 'fallbacks', 'mcp'],
      ...['contingencies', 'monitors', 'qa', 'entry', 'exit', 'demo', 'context', 'lint'],
      ...['completedTasks', 'taskHistory', 'snapshot', 'example_tasks', 'archived'],
    ]) {
      for (const kind of ALL) {
        for (const status of ['pending', 'planned', 'in_progress', 'open', 'accepted', 'active']) {
          assert.deepEqual(told(kind, { [key]: [state(status)] }), [], `${kind} ${key} ${status}`);
        }
        for (const value of [
          { one: { title: 'n', status: 'planned' } },
          [{ id: 1, name: 'Setup', tasks: [1] }],
          [{ id: 1, title: 'n', complexityScore: 3 }],
        ]) {
          assert.deepEqual(told(kind, { [key]: value }), [], `${kind} ${key}`);
        }
      }
    }
    for (const [kinds, more] of [
      [ALL, { complexityAnalysis: [{ id: 1, title: 'x', complexityScore: 3 }] }],
      [ALL, { meta: { id: 1, title: 'x', status: 'active' } }],
      [ALL, { verification: { name: 'unit', command: 'npm test', passes: false } }],
      [ALL, { ci: { title: 'x', passes: false }, lastRun: unticked('Z') }],
      [ALL, { checks: { typecheck: { name: 'x', passes: false } } }],
      [ALL, { architecture: { decisions: [{ id: 'ADR-1', title: 'x', status: 'accepted' }] } }],
      [ALL, { tracking: { jira: open('J') }, github: { pr: { title: 'x', status: 'open' } } }],
      [NO_TAGS, { deployment: { tasks: [{ id: 'Z', title: 'z' }], stories: ['US-1'] } }],
      [NO_TAGS, { tests: { tasks: [open('Z', { status: 'passed' })], bugs: [{ name: 'z' }] } }],
      [ALL, { deployment: { production: { title: 'x', status: 'pending' } } }],
      [ALL, { linkedTasks: [{ id: 'Z', title: 'z' }], relatedTickets: [{ id: 'Y', title: 'y' }] }],
      [ALL, { templateStories: [{ id: 'Z', title: 'z' }], related_tasks: [open('Z')] }],
      [ALL, { later: [open('Z', { status: 'deferred' }), open('Y', { status: 'cancelled' })] }],
      [ALL, { deferred_tasks: [open('Z', { status: 'deferred' })] }],
      [ALL, { history: [{ tasks: [open('Z')] }], templates: [{ tasks: [open('Y')] }] }],
      [ALL, { backup: { master: { tasks: [open('Z')] } }, archive: { v1: [open('Y')] } }],
      [YAML, { parallel_groups: [{ id: 'g1', tasks: [{ id: 't1', status: 'pending' }] }] }],
      [YAML, { batches: [{ id: 'g1', tasks: [{ id: 't1', title: 'Init' }] }] }],
      [TASKS, { phases: [{ id: 1, tasks: [task] }], copied: { master: { tasks: [task] } } }],
      [TASKS, { phases: [{ id: 1, name: 'Setup', tasks: [{ id: 1 }] }] }],
      [YAML, { milestones: { v1: { id: 't9', title: 'V1', depends_on: ['t1'] } } }],
      [YAML, { coverage: [{ id: 'FR', depends_on: ['t1'] }] }],
      [ALL, { project: { id: 1, name: 'Shop', status: 'in_progress' } }],
      [ALL, { project: { name: 'Shop', completed: false } }],
      [ALL, { feature: { id: 12, name: 'Shop', status: 'planned', owner: state('active') } }],
      [ALL, { currentPhase: { id: 2, name: 'Build', status: 'in_progress' } }],
      [ALL, { currentSprint: { id: 2, name: 'Build', status: 'in_progress' } }],
      [ALL, { milestone: { id: 4, title: 'v1', state: 'open' }, epic: open(1) }],
      [ALL, { mvp: { name: 'MVP', completed: false }, phase: [state('in_progress')] }],
      [ALL, { qa: { title: 'QA', passed: false }, lint: { title: 'x', passed: false } }],
      [ALL, { typecheck: { title: 'x', passed: false } }],
      [ALL, { storyFormat: { id: 'US-XXX', title: '...', passes: false } }],
      [ALL, { cleanup: [{ title: 'C', completed: false, costCenter: 'x' }] }],
      [['phases'], { state: { current_phase: { id: 'x', name: 'P', status: 'in_progress' } } }],
      [['phases'], { execution_plan: [{ id: 'x', name: 'P', status: 'pending' }] }],
      [ALL, { verifiedStories: [{ id: 'a', title: 'x' }], passedTasks: [open('Z')] }],
      [ALL, { passing_tasks: [open('Z')], wontDoTasks: [open('Y')], "won't fix": [open('X')] }],
      [ALL, { wontFixBugs: [open('Z')], discoveredTasks: [open('Y')] }],
      [ALL, { notPlannedStories: [{ id: 'a', title: 'x' }], nonGoals: [open('Z')] }],
      [ALL, { future: [open('Z')], later: { tasks: [open('Y')] }, outOfScope: [open('X')] }],
      [ALL, { icebox: [open('Z')], wishlist: [open('Y')], ideas: [open('X')] }],
      [FREE, { archive: { tasks: [open(2)] }, icebox: { task: [open(3)] } }],
      [ALL, { known_issues: [open('Z')], lastTask: open('Y') }],
    ] as const) {
      for (const kind of kinds) {
        assert.deepEqual(told(kind, more), [], `${kind}: ${JSON.stringify(more)}`);
      }
    }
  });

  test('are named once, however many aliases stand for them', () => {
    const text =
      'tasks:\n- id: a\nfinal_tasks: &more\n- {id: b, status: pending}\nnext_tasks: *more\nwork:\n- &one {id: c, status: todo}\nbugs: [*one]\nfirst_tasks: &all [*one]\n';
    assert.deepEqual(
      parseStoryFile('o.yaml', text).problems.map(({ line }) => line),
      [4, 7],
    );
  });

  test('are named once, where they are written, if their map is merged with the file', () => {
    const work = 'base: &b\n  tasks:\n  - {id: b, status: pending}\n';
    for (const merged of ['*b', '[*b]']) {
      const text = `${work}<<: ${merged}\nphases:\n- tasks: [{id: a}]\n`;
      const { problems } = parseStoryFile('o.yaml', text);
      assert.deepEqual(
        problems.map(({ line }) => line),
        [3],
      );
    }
  });

  test('in parts of a task of Task Master have a state, unless the key says what they are', () => {
    const parts = (more: object) =>
      strays(TASK_MASTER, { tasks: [{ ...task, ...more }, open(2, { title: 'T2' })] });
    for (const more of [
      { items: [{ id: 1, name: 'file.ts' }], stories: [{ id: 1, title: 'As a user' }] },
      { tasks: [{ id: 2, title: 'T2' }], items: [open(2, { title: 'T2' })] },
      { status: 'cancelled', children: [open(3)] },
      { children: [open(3, { status: 'deferred' }), open(4, { status: 'done' })] },
    ]) {
      assert.deepEqual(parts(more), [], JSON.stringify(more));
    }
    for (const more of [{ children: [{ id: 3, title: 'x' }] }, { items: [open(3)] }]) {
      assert.deepEqual(parts(more), [`${Object.keys(more)[0]} 1`]);
    }
  });

  test('in parts of other stories count unless they are put aside or read', () => {
    const parts = (subtasks: readonly object[]) => [
      strays('prd.json', { userStories: [open(1, { subtasks }), open(2)] }),
      strays('o.yaml', { tasks: [open(1, { subtasks }), open(2)] }),
    ];
    for (const part of [open(3, { status: 'deferred' }), open(3, { status: 'done' }), open(2)]) {
      assert.deepEqual(parts([part]), [[], []]);
    }
    const undone = [{ title: 'z', done: false }];
    assert.deepEqual(parts(undone), [['subtasks 1'], ['subtasks 1']]);
    for (const left of [{ remainingTasks: [unticked('Z')] }, { todo: undone }]) {
      const [key = ''] = Object.keys(left);
      const done = { ...open(1, left), status: 'done' };
      assert.deepEqual(strays('prd.json', { userStories: [done, open(2)] }), [`${key} 1`]);
      assert.deepEqual(strays('o.yaml', { tasks: [done, open(2)] }), [`${key} 1`]);
    }
    for (const other of [
      { relatedTasks: [unticked('Z')], blockedStories: [unticked('Y')] },
      { stories: ['US-7'], parentStories: [unticked('X')] },
    ]) {
      assert.deepEqual(strays('prd.json', { userStories: [open(1, other), open(2)] }), []);
    }
    // Parts count from 1, as stories do.
    const own = [open(2, { title: 'x' }), open(3, { status: 'done' })];
    assert.deepEqual(parts(own), [['subtasks 1'], ['subtasks 1']]);
  });

  test('are found quickly also if there are ten thousand lists of them', () => {
    const count = 10_000;
    const lists = (value: (i: number) => object) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value(i)]));
    const started = performance.now();
    for (const [path, root] of [
      FILES.prd({ more: lists(i => ({ tasks: [unticked(`S${i}`)] })) }),
      FILES.prd(lists(i => ({ ...unticked(`S${i}`), steps: ['x'] }))),
      FILES.tags(lists(i => [open(i, { title: `S${i}` })])),
      FILES.tasks(lists(i => [open(`S${i}`)])),
    ] as const) {
      assert.equal(strays(path, root).length, count);
    }
    // Reading the text again for each of them takes a minute.
    assert.ok(performance.now() - started < 10_000);
  });
});

test('a prd.json whose only list is below a key with control characters says its key without them', () => {
  const root = { 'a\u001B[31m': { userStories: [unticked('A')] } };
  const file = parseStoryFile('prd.json', JSON.stringify(root));
  assert.match(englishOf(file.problems[0]?.message ?? ''), /nested in "a\uFFFD\[31m", which/);
});
