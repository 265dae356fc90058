import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type Finished, type RunningCli, type Step, Workspace } from '../support/ralph.ts';
import { variants } from '../support/variants.ts';

/** A file of another tool with two stories that are open, and what its agents replace to tick them. */
interface Source {
  readonly file: string;
  readonly text: string;
  /** By the id of the story. */
  readonly ticks: Readonly<Record<string, readonly [from: string, to: string]>>;
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const task = (n: number, blockedBy: readonly string[]) =>
  `${JSON.stringify({ id: `task-100${n}`, title: `Part ${n}`, status: 'open', priority: 1, blocked_by: blockedBy })}\n`;
const feature = (id: string, description: string) => ({
  ...{ id, category: 'functional', description },
  steps: ['Open it', 'See it'],
  passes: false,
});
const master = (id: number, title: string, dependencies: readonly number[]) => ({
  ...{ id, title, description: `What ${title} means.`, details: '', testStrategy: 'Run it' },
  ...{ priority: 'medium', dependencies, status: `pending`, subtasks: [] },
});

const SOURCES: Readonly<Record<string, Source>> = {
  'Task Master': {
    file: '.taskmaster/tasks/tasks.json',
    text: json({ master: { tasks: [master(1, 'Model', []), master(2, 'Prices', [])] } }),
    ticks: {
      1: [statusOf(1, 'pending'), statusOf(1, 'done')],
      2: [statusOf(2, 'pending'), statusOf(2, 'done')],
    },
  },
  'a feature list': {
    file: 'feature_list.json',
    text: json([feature('F-1', 'A user logs in'), feature('F-2', 'A user leaves')]),
    ticks: { 'F-1': passesOf('A user logs in'), 'F-2': passesOf('A user leaves') },
  },
  'ralph-orchestrator': {
    file: '.ralph/agent/tasks.jsonl',
    text: task(1, []) + task(2, []),
    ticks: {
      'task-1001': ['"Part 1","status":"open"', '"Part 1","status":"closed"'],
      'task-1002': ['"Part 2","status":"open"', '"Part 2","status":"closed"'],
    },
  },
  'Spec Kit': {
    file: 'specs/001-shop/tasks.md',
    text: '# Tasks: Shop\n\n## Phase 1: Setup\n\n- [ ] T001 Create the project\n\n## Phase 2: Prices\n\n- [ ] T002 [P] [US1] Prices in src/prices.ts\n',
    ticks: { T001: ['[ ] T001', '[x] T001'], T002: ['[ ] T002', '[x] T002'] },
  },
  Kiro: {
    file: '.kiro/specs/shop/tasks.md',
    text: '# Implementation Plan\n\n- [ ] 1. The shop\n  - [ ] 1.1 The model\n    - _Requirements: 1.1_\n',
    ticks: { 1.1: ['[ ] 1.1', '[x] 1.1'], 1: ['[ ] 1.', '[x] 1.'] },
  },
  'a Markdown plan': {
    file: 'IMPLEMENTATION_PLAN.md',
    text: '# Shop\n\n- [ ] T1: The model\n- [ ] T2: The sums\n',
    ticks: { T1: ['[ ] T1', '[x] T1'], T2: ['[ ] T2', '[x] T2'] },
  },
  'our task graph': {
    file: '.ralph/tasks.jsonl',
    text: ['A', 'B'].map(id => `{"id":"T-${id}","status":"ready","title":"${id}"}\n`).join(''),
    ticks: {
      'T-A': ['T-A","status":"ready"', 'T-A","status":"done"'],
      'T-B': ['T-B","status":"ready"', 'T-B","status":"done"'],
    },
  },
  Beads: {
    file: '.beads/issues.jsonl',
    text: ['a', 'b'].map(id => `{"id":"bd-${id}","status":"open","title":"${id}"}\n`).join(''),
    ticks: {
      'bd-a': ['bd-a","status":"open"', 'bd-a","status":"closed"'],
      'bd-b': ['bd-b","status":"open"', 'bd-b","status":"closed"'],
    },
  },
  OpenSpec: {
    file: 'openspec/changes/add-prices/tasks.md',
    text: '## 1. Prices\n- [ ] 1.1 The model\n- [ ] 1.2 The sums\n',
    ticks: { 1.1: ['[ ] 1.1', '[x] 1.1'], 1.2: ['[ ] 1.2', '[x] 1.2'] },
  },
  ralphy: {
    file: '.ralphy/tasks.yaml',
    text: 'tasks:\n  - title: Schema\n    completed: false\n  - title: Users\n    completed: false # later\n',
    ticks: {
      '#1': ['Schema\n    completed: false', 'Schema\n    completed: true'],
      '#2': ['Users\n    completed: false', 'Users\n    completed: true'],
    },
  },
  BMAD: {
    file: '_bmad-output/implementation-artifacts/sprint-status.yaml',
    text: 'project: Plants\nstory_location: "{project-root}/docs"\n\ndevelopment_status:\n  epic-1: in-progress\n  1-1-users: ready-for-dev\n  1-2-prices: backlog # needs its file\n  epic-1-retrospective: optional\n',
    ticks: {
      '1-1-users': ['users: ready-for-dev', 'users: done'],
      '1-2-prices': ['prices: backlog', 'prices: done'],
    },
  },
};

/** The end of a task of Task Master. */
function statusOf(id: number, status: string): string {
  const text = JSON.stringify({ ...master(id, 'x', []), status }, null, 2);
  const title = id === 1 ? 'Model' : 'Prices';
  return text
    .replaceAll('"x"', `"${title}"`)
    .replace('What x', `What ${title}`)
    .split('\n')
    .map(line => `      ${line}`)
    .join('\n')
    .trim();
}

function passesOf(description: string): [string, string] {
  const start = `${JSON.stringify('description')}: ${JSON.stringify(description)},\n    "steps": [\n      "Open it",\n      "See it"\n    ],\n    "passes": `;
  return [`${start}false`, `${start}true`];
}

async function workspaceOf(t: TestContext, { file, text }: Source): Promise<Workspace> {
  const workspace = await Workspace.create(t, { stories: undefined });
  await mkdir(path.dirname(path.join(workspace.folder, file)), { recursive: true });
  await workspace.write(file, text);
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'List');
  return workspace;
}

function run(workspace: Workspace, { file, ticks }: Source, ...args: string[]): RunningCli {
  const works = Object.entries(ticks).map(([id, [from, to]]) => {
    const steps: readonly Step[] = [
      { shell: `echo work > 'work-${id}.txt'` },
      { replace: [file, from, to] },
      { commit: `feat: ${id}` },
      { result: ['Done.'] },
    ];
    return [id, [steps]] as const;
  });
  return workspace.scriptOf(Object.fromEntries(works), ...args);
}

async function finish(cli: RunningCli): Promise<Finished> {
  const finished = await cli.finished;
  assert.equal(finished.code, 0, finished.stdout + finished.stderr);
  return finished;
}

describe('a source of another tool', { concurrency: 2 }, () => {
  for (const [index, [name, source]] of Object.entries(SOURCES).entries()) {
    const { file, text, ticks } = source;
    const done = Object.values(ticks).reduce((before, [from, to]) => {
      assert.ok(before.includes(from), `${name}: ${from}`);
      return before.replace(from, () => to);
    }, text);

    for (const lanes of variants(['1', '3'], 1, index)) {
      test(`${name}: a whole run without --file, with ${lanes} at once`, async t => {
        const workspace = await workspaceOf(t, source);

        const { stdout } = await finish(run(workspace, source, '--lanes', lanes));

        assert.match(stdout, /COMPLETE after 2 iterations/);
        assert.equal(await workspace.read(file), done);
        assert.equal(workspace.git('status', '--short'), '');
        for (const id of Object.keys(ticks)) {
          assert.equal(await workspace.read(`work-${id}.txt`), 'work\n');
        }
      });
    }

    test(`${name}: a tick of the command line that is taken back restores every byte`, async t => {
      const workspace = await workspaceOf(t, source);
      for (const [id, [from, to]] of Object.entries(ticks)) {
        await finish(workspace.cli('tick', id));
        assert.equal(
          await workspace.read(file),
          text.replace(from, () => to),
        );
        await finish(workspace.cli('untick', id));
        assert.equal(await workspace.read(file), text);
      }
    });

    test(`${name}: two writers at the same time both count`, async t => {
      const workspace = await workspaceOf(t, source);
      const all = (command: string) =>
        Promise.all(Object.keys(ticks).map(id => finish(workspace.cli(command, id))));
      await all('tick');
      assert.equal(await workspace.read(file), done);
      await all('untick');
      assert.equal(await workspace.read(file), text);
    });
  }

  test('Task Master: a task of a later tag is worked on if it is chosen', async t => {
    const source = {
      file: '.taskmaster/tasks/tasks.json',
      text: json({
        master: { tasks: [master(1, 'Dig', [])] },
        shop: { tasks: [{ ...master(1, 'Sell', []), status: 'done' }] },
      }),
      ticks: {},
    };
    const workspace = await workspaceOf(t, source);
    const { stdout } = await finish(workspace.cli('untick', 'shop/1'));
    assert.match(
      stdout,
      /^shop\/1 is set back\. Its turn comes after the tasks of the tag master; to have it done before them, run: ralph-fresh run --story shop\/1$/m,
    );
    const ended = await run(workspace, source, '--story', 'shop/1').finished;
    assert.equal(
      (await workspace.events('iteration.started')).map(({ storyId }) => storyId)[0],
      'shop/1',
      ended.stdout,
    );
  });

  test('Task Master: a subtask of a done task is set back with what to do, and a run says what is put aside', async t => {
    const subtask = { id: 1, title: 'Beans', status: 'done' };
    const deferred = { ...master(3, 'Fence', []), status: 'deferred' };
    const source = {
      file: '.taskmaster/tasks/tasks.json',
      text: json({
        master: {
          tasks: [{ ...master(2, 'Plant', []), status: 'done', subtasks: [subtask] }, deferred],
        },
      }),
      ticks: {},
    };
    const workspace = await workspaceOf(t, source);
    const { stdout } = await finish(workspace.cli('untick', '2.1'));
    assert.match(
      stdout,
      /^2\.1 is set back, but its task 2 is done, so no agent works on it\. Also run: ralph-fresh untick 2$/m,
    );
    const ended = await finish(run(workspace, source));
    assert.match(
      ended.stdout,
      /All stories are complete; there is nothing to do\. No agent .* put aside: 2 stories\./,
    );

    await workspace.write(
      source.file,
      json({ master: { tasks: [deferred, master(4, 'Gate', [3])] } }),
    );
    const stuck = await run(workspace, source).finished;
    const why = '4 waits for 3, which is put aside (deferred). Reopen 3 in the story file, or';
    // Which file the next command would find, its end does not know.
    assert.ok(stuck.stdout.includes(`${why} mark it as done. Fix the cause`), stuck.stdout);
    const next = async (...flags: readonly string[]) =>
      (await finish(workspace.cli('next', ...flags))).stdout;
    assert.equal(await next(), `No story is ready. ${why} run "ralph-fresh tick 3".\n`);
    const file = ['--file', source.file];
    const named = `ralph-fresh tick ${file.join(' ')} 3`;
    assert.equal(await next(...file), `No story is ready. ${why} run "${named}".\n`);
  });

  test('Task Master: a tick of a task names its subtasks that no agent works on any more', async t => {
    const sub = (id: number, status: string) => ({ id, title: `Part ${id}`, status });
    const file = '.taskmaster/tasks/tasks.json';
    const workspace = await Workspace.create(t, { stories: undefined });
    await mkdir(path.join(workspace.folder, path.dirname(file)), { recursive: true });
    const write = (...subtasks: readonly object[]) =>
      workspace.write(
        file,
        json({
          master: { tasks: [{ ...master(2, 'Plant', []), subtasks }, master(3, 'Gate', [])] },
        }),
      );
    const tick = async (...flags: readonly string[]) =>
      (await finish(workspace.cli('tick', ...flags, '2'))).stdout;
    const below = (parts: string) => `No agent works on what is not done below 2: ${parts}.`;
    const back = 'Mark it as done, too, or take this back: ralph-fresh untick';

    await write(sub(1, 'done'), sub(2, 'deferred'));
    assert.equal(await tick(), `Marked as done: 2: Plant\n${below('2.2 (deferred)')}\n`);
    await write(sub(1, 'done'), sub(2, 'cancelled'), sub(3, 'pending'));
    const flags = ['--file', file];
    const both = below('2.2 (cancelled), 2.3 (pending)');
    const untick = `${back} ${flags.join(' ')} 2`;
    assert.equal(await tick(...flags), `Marked as done: 2: Plant\n${both} ${untick}\n`);
    await write(sub(1, 'done'));
    assert.equal(await tick(), 'Marked as done: 2: Plant\n');
  });

  test('of several stories with one id, the title of the next one is shown', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const story = (title: string, passes: boolean) => ({ id: 'A', title, passes });
    await workspace.write('prd.json', json([story('First', true), story('Second', false)]));
    assert.equal((await finish(workspace.cli('next'))).stdout, 'A: Second\n');
  });

  test('a part of Backlog.md and a folder with tasks.md are refused with the path to use', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    for (const [file, text] of [
      ['backlog/config.yml', 'project_name: Plants\n'],
      ['backlog/tasks/task-1 - Dig.md', '---\nid: task-1\ntitle: Dig\nstatus: To Do\n---\n'],
      ['specs/002-b/tasks.md', '- [ ] T001 Dig\n'],
      ['.taskmaster/tasks/tasks.json', '{"tasks":[]}\n'],
      ['openspec/changes/add-a/tasks.md', '- [ ] 1.1 Dig\n'],
      ['openspec/changes/archive/tasks.md', '- [x] 1.1 Dig\n'],
      ['.kiro/specs/a/tasks.md', '- [ ] 1. Dig\n'],
      ['.kiro/specs/b/tasks.md', '- [ ] 1. Dig\n'],
      ['.ralphy/tasks.yml', 'tasks:\n  - title: Dig\n'],
      ['notes/a/notes.md', '# Notes\n'],
    ] as const) {
      await mkdir(path.dirname(path.join(workspace.folder, file)), { recursive: true });
      await workspace.write(file, text);
    }
    for (const [named, expected] of [
      ['backlog/config.yml', /is a file of Backlog\.md\. Name the folder: --file backlog$/m],
      [
        'backlog/tasks/task-1 - Dig.md',
        /is a file of Backlog\.md\. Name the folder: --file backlog$/m,
      ],
      ['.taskmaster', /: --file .taskmaster.tasks.tasks\.json$/m],
      ['.taskmaster/tasks', /: --file .taskmaster.tasks.tasks\.json$/m],
      ['specs/002-b', /is a folder\. Name the file in it: --file specs.002-b.tasks\.md$/m],
      ['specs', /is a folder\. Name the file in it: --file specs.002-b.tasks\.md$/m],
      ['openspec', /Name the file in it: --file openspec.changes.add-a.tasks\.md$/m],
      ['openspec/changes', /Name the file in it: --file openspec.changes.add-a.tasks\.md$/m],
      ['.kiro', /Name one of the lists in it, such as: --file \.kiro.specs.a.tasks\.md$/m],
      ['.ralphy', /Name the file in it: --file \.ralphy.tasks\.yml$/m],
      ['notes', /is a folder, not a file/],
    ] as const) {
      const { code, stderr } = await workspace.cli('stories', '--file', named).finished;
      assert.equal(code, 1);
      assert.match(stderr, expected);
    }
  });

  test('BMAD: a story is ticked by its number', async t => {
    const workspace = await workspaceOf(t, SOURCES['BMAD'] as Source);
    assert.match(
      (await finish(workspace.cli('tick', '1.2'))).stdout,
      /^Marked as done: 1-2-prices/m,
    );
    assert.match(await workspace.read((SOURCES['BMAD'] as Source).file), /1-2-prices: done/);
  });

  test('BMAD: the prompt names the file that describes the story, and done is not review', async t => {
    const workspace = await workspaceOf(t, SOURCES['BMAD'] as Source);
    await finish(run(workspace, SOURCES['BMAD'] as Source));

    const prompt = await workspace.prompt(1);
    assert.match(prompt, /1-1-users\.md, next to it or in its story_location/);
    assert.match(prompt, /\(1-1-users: `done`, and not review: /);
    assert.doesNotMatch(prompt, /\[fresh-context\]/);
  });
});
