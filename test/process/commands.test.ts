import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { pendingHints } from '../../src/orchestrator/workspace/pendingHints.ts';
import { builtCli } from '../support/builtCli.ts';
import { gitRepo } from '../support/cleanEnv.ts';
import {
  isAlive,
  openStories,
  type RunningCli,
  type Step,
  until,
  Workspace,
} from '../support/ralph.ts';
import { asks } from '../support/scenarioSteps.ts';
import { inAll } from '../support/variants.ts';

const execFileText = promisify(execFile);
const CLI = builtCli();
const FULL_DISK = pathToFileURL(path.resolve(import.meta.dirname, '../support/fullDisk.mjs')).href;
/** A process can be told to end by signals only where there are any. */
const posix = { skip: process.platform === 'win32' && 'Windows has no signals' };

const BROKEN = '{\n  "userStories": [\n    { "id": "A", }\n  ]\n}\n';

function assertOneLine(text: string, pattern: RegExp): void {
  assert.match(text, /^ralph-fresh: [^\n]+\n$/);
  assert.match(text, pattern);
}

/** Runs a command that works and says nothing on standard error. @returns what it printed */
async function printed(workspace: Workspace, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await workspace.cli(...args).finished;
  assert.deepEqual([code, stderr], [0, ''], `${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function json(workspace: Workspace, ...args: readonly string[]) {
  return JSON.parse(await printed(workspace, ...args, '--json'));
}

/** Runs a command that refuses, with one line that says why. */
async function refused(
  workspace: Workspace,
  code: number,
  message: RegExp,
  ...args: readonly string[]
): Promise<void> {
  const finished = await workspace.cli(...args).finished;
  assert.deepEqual([finished.code, finished.stdout], [code, ''], finished.stderr);
  assertOneLine(finished.stderr, message);
}

async function git(workspace: Workspace, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execFileText('git', [...args], {
    cwd: workspace.folder,
    env: workspace.env,
  });
  return stdout;
}

/** A run whose first agent waits until it may continue. */
async function waitingRun(workspace: Workspace, ...args: readonly string[]): Promise<RunningCli> {
  const cli = workspace.run('waits', ...args);
  await workspace.agent();
  await workspace.event('agent.init');
  return cli;
}

describe('the start of a command', () => {
  test('the program is ASCII: Node takes several times as long to read any other text', async () => {
    const text = await readFile(path.join(path.dirname(CLI), 'program.cjs'), 'latin1');
    // In regular expressions, where the bundler leaves them as they are; write them as \u2026.
    assert.deepEqual(text.match(/.{0,40}[^\0-\x7F].{0,20}/gs), null);
  });

  test('status, stories and next load no schemas after a run has ended', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    const told = path.join(workspace.folder, '..', 'loaded.mjs');
    await writeFile(
      told,
      `import { createRequire } from 'node:module';
      const { cache } = createRequire(import.meta.url);
      process.on('exit', () => console.error(Object.keys(cache).map(file => file.split(/[\\/\\\\]/).at(-1)).join(' ')));`,
    );
    const small = { NODE_OPTIONS: `--import=${pathToFileURL(told).href}` };
    for (const command of ['status', 'stories', 'next']) {
      const { code, stderr } = await workspace.cliWith(small, command).finished;
      assert.deepEqual([code, stderr], [0, 'program.cjs\n'], command);
    }
  });
});

describe('stories and next', { concurrency: 4 }, () => {
  test('prints the stories as data', async t => {
    const workspace = await Workspace.create(t, {
      stories: [
        { id: 'A', title: 'First', passes: true, priority: 1, epic: 'Start' },
        { id: 'B', title: 'Second', passes: false, priority: 2 },
        { id: 'C', title: 'Third', passes: false, dependsOn: ['B'] },
      ],
    });
    const { source, format, stories, problems } = await json(workspace, 'stories');
    assert.equal(source, path.join(workspace.folder, '.omc', 'prd.json'));
    assert.equal(format, 'prd');
    // As in the editor: hints are told, too, but none of a story that is done.
    assert.deepEqual(
      problems.map(({ code, line, severity }: Record<string, unknown>) => [code, line, severity]),
      [12, 18].map(line => ['missingAcceptanceCriteria', line, 'info']),
    );
    const noChoice = { model: null, effort: null, maxTurns: null, discoveredFrom: null };
    assert.deepEqual(stories, [
      {
        ...{ id: 'A', title: 'First', done: true, state: 'done' },
        ...{ priority: 1, blockedBy: [], epic: 'Start', question: null, ...noChoice },
      },
      {
        ...{ id: 'B', title: 'Second', done: false, state: 'ready' },
        ...{ priority: 2, blockedBy: [], epic: null, question: null, ...noChoice },
      },
      {
        ...{ id: 'C', title: 'Third', done: false, state: 'waiting' },
        ...{ priority: null, blockedBy: ['B'], epic: null, question: null, ...noChoice },
      },
    ]);
    assert.deepEqual(await json(workspace, 'next'), { id: 'B' });
    assert.equal(await printed(workspace, 'next'), 'B: Second\n');
    const text = await printed(workspace, 'stories');
    assert.match(text, /^1\/3 stories complete/);
    assert.match(text, /^· +C +waits for B +Third$/m);
    // Looking leaves nothing behind.
    assert.equal(existsSync(workspace.files.stateDir), false);
  });

  test('prints the reason if there is no next story', async t => {
    const workspace = await Workspace.create(t, {
      stories: openStories(2).map(story => ({ ...story, passes: true })),
    });
    assert.deepEqual(await json(workspace, 'next'), { id: null, reason: 'allDone' });
    const said = await printed(workspace, 'next');
    assert.match(said, /nothing to do\. Add a story, or reopen one: ralph-fresh untick ID\.$/m);
    // A start says the same.
    assert.equal((await workspace.run('unused').finished).stdout, said);
  });

  test('accepts another file, even from another folder', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write('PLAN.md', '- [x] Dig\n- [ ] Build\n');
    const { format, stories } = await json(workspace, 'stories', '--file', 'PLAN.md');
    assert.equal(format, 'plan');
    assert.deepEqual(
      stories.map(({ title, done }: { title: string; done: boolean }) => [title, done]),
      [
        ['Dig', true],
        ['Build', false],
      ],
    );
    await mkdir(path.join(workspace.folder, 'inner'));
    const inner = path.join(workspace.folder, 'inner');
    const there = await json(workspace, 'stories', '--cwd', inner, '--file', '../PLAN.md');
    assert.equal(there.stories.length, 2);
  });

  test('reports the place of the error in a broken file in one line and as data', async t => {
    const workspace = await Workspace.create(t, { prd: BROKEN });
    for (const command of [['stories'], ['next'], ['next', '--json'], ['tick', 'A']]) {
      await refused(workspace, 1, /prd\.json.*[Ll]ine 3\b/, ...command);
    }
    const { code, stdout, stderr } = await workspace.cli('stories', '--json').finished;
    assert.deepEqual([code, stderr], [1, '']);
    const { stories, problems } = JSON.parse(stdout);
    assert.deepEqual([stories, problems.length, problems[0].line], [[], 1, 3]);
    const status = await json(workspace, 'status');
    assert.deepEqual([status.problem.line, status.stories], [3, { done: 0, total: 0 }]);
    assert.match(status.problem.file, /prd\.json$/);
  });

  test('fails if there is no story file', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    for (const command of [['stories'], ['next'], ['tick', 'A']]) {
      await refused(workspace, 1, /No story file was found in .*--file/, ...command);
    }
    await refused(workspace, 1, /no story file at .*gone\.json/, 'stories', '--file', 'gone.json');
    const { code, stdout } = await workspace.cli('stories', '--json').finished;
    const { source, stories, problems } = JSON.parse(stdout);
    assert.deepEqual([code, source, stories, problems.length], [1, null, [], 1]);
    assert.equal('problem' in (await json(workspace, 'status')), false);
  });
});

/** A run whose story file is on its branch alone, and the work tree on another. */
async function leftBranch(t: TestContext): Promise<Workspace> {
  const workspace = await Workspace.create(t, { stories: undefined });
  await git(workspace, 'switch', '--quiet', '--create', 'ralph/login');
  await workspace.write('.omc/prd.json', JSON.stringify({ userStories: openStories(2) }));
  await git(workspace, 'add', '.omc/prd.json');
  await git(workspace, 'commit', '--quiet', '--message', 'Add stories');
  await workspace.run('asksHuman').finished;
  await git(workspace, 'switch', '--quiet', 'main');
  return workspace;
}

describe('on another branch than the last run', { concurrency: 3 }, () => {
  const words =
    /The last run worked on the branch ralph\/login, which has \.omc\/prd\.json\. Go there with "git switch --no-overwrite-ignore ralph\/login"\.$/m;

  test('the branch with its stories is named, with the command to switch to it', async t => {
    const workspace = await leftBranch(t);
    const commands = ['stories', 'next', 'tick US-001', 'skip US-001', 'run', 'run --resume'];
    for (const command of commands) {
      await refused(workspace, 1, words, ...command.split(' '));
    }
    assert.match((await workspace.cli('doctor').finished).stdout, words);
    await git(workspace, 'switch', '--quiet', 'ralph/login');
    assert.deepEqual(await json(workspace, 'next'), { id: 'US-001' });
  });

  test('a list of a tool in which no story can be read is named, with its problem', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    for (const [file, text, words] of [
      ['IMPLEMENTATION_PLAN.md', '', /: IMPLEMENTATION_PLAN\.md is empty\. .*"- \[ \] …"/],
      ['PLAN.md', ' \n', /: PLAN\.md is empty\. .*"- \[ \] …"/],
      [
        'plan.md',
        '# Plan\n\n- Water the beans\n',
        /: plan\.md has no checkbox\. Write each of its stories as "- \[ \] …", name another /,
      ],
      [
        'plan.md',
        '```md\n- [ ] Water the beans\n```\n',
        /: plan\.md has no checkbox\. Line 1: .* are in a code fence, .*: 1\. /,
      ],
      ['.ralph/tasks.jsonl', '\n', /: \.ralph.tasks\.jsonl is empty\. .*one task per line/],
      ['.ralphy/tasks.yaml', '', /: \.ralphy.tasks\.yaml is empty\. Let the tool /],
      [
        '_bmad-output/sprint-status.yaml',
        '\n',
        /: _bmad-output.sprint-status\.yaml is empty\. Let /,
      ],
      [
        '.kiro/specs/a/tasks.md',
        '',
        /: \.kiro.specs.a.tasks\.md is empty\. .*Let Kiro write the tasks/,
      ],
      ['specs/001-a/tasks.md', '# Tasks\n', /tasks\.md has no tasks\. .*\/speckit\.tasks/],
      ['openspec/changes/a/tasks.md', '\n', /a.tasks\.md is empty\. .*Let OpenSpec write/],
      ['feature_list.json', '', /feature_list\.json: .*The file is empty: write /],
      ['feature_list.json', '[]', /: feature_list\.json has no tasks\. Write .* or name yours/],
      [
        '.claude/orchestration/a.yaml',
        'tasks:\n  - Water the beans\n',
        /: \.claude.orchestration.a\.yaml has no tasks\. Line 2: This task is a plain text/,
      ],
      ['tasks.yaml', 'tasks: []\n', /: tasks\.yaml has no tasks\. Write .* or name yours/],
      ['tasks.yml', '# Soon\ntasks:\n', /: tasks\.yml has no tasks\. Line 1: /],
      [
        'tasks.yaml',
        'tasks:\n  - Water the beans\n',
        /: tasks\.yaml has no tasks\. Line 2: This task /,
      ],
    ] as const) {
      await mkdir(path.dirname(path.join(workspace.folder, file)), { recursive: true });
      await workspace.write(file, text);
      await refused(workspace, 1, words, 'stories');
      await rm(path.join(workspace.folder, file));
    }
  });

  test('a list of Task Master without tasks gets advice for Task Master', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const list = '.taskmaster/tasks/tasks.json';
    await mkdir(path.dirname(path.join(workspace.folder, list)), { recursive: true });
    for (const text of ['', ' \n', '{}', '{"master": {"tasks": []}}']) {
      await workspace.write(list, text);
      for (const command of [['stories'], ['run', '--agent', 'demo']]) {
        await refused(
          workspace,
          1,
          /No story file was found in .*: \.taskmaster\/tasks\/tasks\.json has no tasks\. Let Task Master write them \("task-master parse-prd FILE"\)/,
          ...command,
        );
      }
    }
    await workspace.write(list, '');
    const named = await workspace.cli('stories', '--file', list).finished;
    assert.equal(named.code, 1);
    assert.match(named.stderr, /no tasks of Task Master.*task-master parse-prd FILE/);
    assert.doesNotMatch(named.stderr, /userStories/);
  });

  test('says what is in the place of the story file if it is no file', async t => {
    const workspace = await Workspace.create(t);
    const place = path.join(workspace.folder, '.omc/prd.json');
    const advice = 'Put a file with the stories in its place, or name another file with --file\\.';
    const isTold = async (kind: string) => {
      const words = new RegExp(`found in .*: \\.omc.prd\\.json is ${kind}\\. ${advice}`);
      await refused(workspace, 1, words, 'stories');
      await refused(workspace, 1, words, 'run', '--agent', 'demo');
      const doctor = await workspace.cli('doctor', '--only', 'stories').finished;
      assert.match(doctor.stdout, words);
    };
    await rm(place);
    await mkdir(place);
    await isTold('a folder');
    // The file is named once.
    const named =
      /^ralph-fresh: (?:(?!prd\.json).)*prd\.json is a folder, not a file: put the stories into a file, and name that\.$/m;
    await refused(workspace, 1, named, 'stories', '--file', '.omc/prd.json');
    const convert = ['convert', '.omc/prd.json', '--to', 'plan'];
    await refused(workspace, 1, named, ...convert);
    await rmdir(place);
    if (process.platform !== 'win32') {
      execFileSync('mkfifo', [place]);
      await isTold('a pipe or a device');
      await rm(place);
      await symlink('gone.json', place);
      await isTold('a link to nothing');
      await rm(place);
      await symlink('prd.json', place);
      await isTold('a link that leads to itself');
    }
  });

  test('a branch without the stories is not named', async t => {
    const workspace = await leftBranch(t);
    await git(workspace, 'branch', '--quiet', '-D', 'ralph/login');
    await refused(
      workspace,
      1,
      /No story file was found in .* no prd\.json, .*Backlog\.md.*--file/,
      'stories',
    );
  });
});

describe('tick and untick', { concurrency: 4 }, () => {
  for (const [name, file, text, id] of [
    [
      'a word for not done',
      'prd.json',
      '[{"id":"A","status":"todo"},{"id":"B","status":"open"}]',
      'A',
    ],
    ['work in progress', 'prd.json', '[{"id":"A","title":"T","status":"in_progress"}]', 'A'],
    ['a status next to passes', 'prd.json', '[{"id":"A","status":"active","passes":false}]', 'A'],
    [
      'a story that is put aside, with passes',
      'prd.json',
      '[{"id":"A","status":"skipped","passes":false}]',
      'A',
    ],
    ['no key that says it', 'prd.json', '[{"id":"A","title":"T"},{"id":"B","passes":true}]', 'A'],
    [
      'a word in the place of false',
      'prd.json',
      '[{"id":"A","title":"T","passes":"failing"}]',
      'A',
    ],
    ['a mark', 'plan.md', '- [~] T001 One\n- [x] T002 Two\n- [X] T003 Three\n', 'T001'],
    ['a mark for done', 'plan.md', '- [ ] T001 One\n- [x] T002 Two\n- [X] T003 Three\n', 'T003'],
    [
      'a deleted issue',
      'issues.jsonl',
      '{"id":"bd-1","title":"One","status":"tombstone"}\n{"id":"bd-2","title":"Two","status":"open"}\n',
      'bd-1',
    ],
    [
      'a task that is put aside',
      'tasks.yaml',
      'phases:\n  - name: P # first\n    tasks:\n      - id: a\n        status: "skipped" # later\n      - id: b\n',
      'a',
    ],
    [
      'a task without a status',
      'tasks.yaml',
      'tasks:\n  - id: a\n  - {id: b, status: done}\n',
      'a',
    ],
  ] as const) {
    test(`taking a mark back restores ${name}`, async t => {
      const workspace = await Workspace.create(t, { stories: undefined });
      await workspace.write(file, text);
      const isDone = id === 'T003';
      const [there, back] = isDone ? ['untick', 'tick'] : ['tick', 'untick'];
      const read = () => readFile(path.join(workspace.folder, file), 'utf8');
      await printed(workspace, there, id, '--file', file);
      const changed = await read();
      assert.notEqual(changed, text);
      await printed(workspace, back, id, '--file', file);
      assert.equal(await read(), text);
      await printed(workspace, there, id, '--file', file);
      assert.equal(await read(), changed);
    });
  }

  test('a mark is taken back exactly from a subfolder', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const text =
      '[{"id":"A","title":"a","status":"in_progress"},{"id":"B","title":"b","status":"Shipped"}]';
    await workspace.write('list.json', text);
    await printed(workspace, 'tick', 'A', '--file', 'list.json');
    assert.notEqual(await workspace.read('list.json'), text);
    await mkdir(path.join(workspace.folder, 'sub'));
    const below = ['--cwd', path.join(workspace.folder, 'sub')];
    await printed(workspace, 'untick', 'A', ...below, '--file', '../list.json');
    assert.equal(await workspace.read('list.json'), text);
    assert.deepEqual(await readdir(path.join(workspace.folder, 'sub')), []);
  });

  test('a tick in a project below is not recorded in a run of the project above', async t => {
    const workspace = await Workspace.create(t);
    const list = '[{"id":"US-001","title":"a","status":"in_progress"}]';
    await mkdir(path.join(workspace.folder, 'packages/a'), { recursive: true });
    await workspace.write('packages/a/prd.json', list);
    const below = ['--cwd', path.join(workspace.folder, 'packages/a')];
    const ticked = () => workspace.events('story.ticked');
    await workspace.script([asks]).finished;
    await printed(workspace, 'tick', 'US-001', ...below);
    assert.match(await workspace.read('packages/a/prd.json'), /done|complete/);
    assert.deepEqual(await ticked(), []);
    await printed(workspace, 'untick', 'US-001', ...below);
    assert.equal(await workspace.read('packages/a/prd.json'), list);
    assert.deepEqual(await ticked(), []);
    await mkdir(path.join(workspace.folder, 'sub'));
    const sub = ['--cwd', path.join(workspace.folder, 'sub'), '--file', '../.omc/prd.json'];
    await printed(workspace, 'tick', 'US-001', ...sub);
    assert.deepEqual(
      (await ticked()).map(({ storyId }) => storyId),
      ['US-001'],
    );
  });

  test('a tick in a project below is not recorded with ticks of the project above', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const list = '[{"id":"A","title":"a","status":"in_progress"}]';
    await workspace.write('prd.json', list);
    await mkdir(path.join(workspace.folder, 'packages/a'), { recursive: true });
    await workspace.write('packages/a/prd.json', list);
    const below = ['--cwd', path.join(workspace.folder, 'packages/a')];
    await printed(workspace, 'tick', 'A');
    await printed(workspace, 'tick', 'A', ...below);
    assert.equal((await workspace.events('story.ticked')).length, 1);
    await printed(workspace, 'untick', 'A', ...below);
    assert.equal(await workspace.read('packages/a/prd.json'), list);
    assert.equal((await workspace.events('story.ticked')).length, 1);
  });

  test('a mark is not restored over a change of somebody else', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await workspace.write('prd.json', '[{"id":"A","status":"todo"},{"id":"B","status":"open"}]');
    await printed(workspace, 'tick', 'A');
    const text = '[{"id":"A","status":"done","title":"New"},{"id":"B","status":"open"}]';
    await workspace.write('prd.json', text);
    await printed(workspace, 'untick', 'A');
    assert.equal(
      await readFile(path.join(workspace.folder, 'prd.json'), 'utf8'),
      text.replace('"done"', '"open"'),
    );
  });

  test('change the file, confirm it and record it in the journal', async t => {
    const workspace = await Workspace.create(t);
    const before = await workspace.read('.omc/prd.json');
    assert.equal(
      await printed(workspace, 'tick', 'US-001'),
      'Marked as done: US-001: Story number 1\n',
    );
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.match(await printed(workspace, 'tick', 'US-001'), /^Already done: US-001/);
    assert.match(await printed(workspace, 'untick', 'US-001'), /^Marked as not done: US-001/);
    assert.equal(await workspace.read('.omc/prd.json'), before);
    assert.deepEqual(
      (await workspace.events('story.ticked')).map(({ storyId, done }) => [storyId, done]),
      [
        ['US-001', true],
        ['US-001', false],
      ],
    );
    assert.equal(await git(workspace, 'status', '--porcelain'), '');
    assert.equal(existsSync(workspace.files.lockFile), false);
  });

  test('an unknown story lists the known ones with exit code 64', async t => {
    const workspace = await Workspace.create(t);
    await refused(workspace, 64, /no story "US-9".*US-001, US-002/, 'tick', 'US-9');
    await refused(workspace, 64, /no story "US-9"/, 'skip', 'US-9');
    await refused(workspace, 64, /no story "US-9"/, 'hint', 'x', '--story', 'US-9');
    assert.deepEqual(await workspace.runIds(), []);
  });

  test('--cwd may precede the command; for any other option the right place is named', async t => {
    const workspace = await Workspace.create(t);
    const elsewhere = await Workspace.create(t, { stories: undefined });
    for (const before of [['--cwd', workspace.folder], [`--cwd=${workspace.folder}`]]) {
      const next = await elsewhere.cli(...before, 'next', '--json').finished;
      assert.deepEqual([next.code, JSON.parse(next.stdout).id], [0, 'US-001'], next.stderr);
    }
    await refused(
      workspace,
      64,
      /The command comes before its options: ralph-fresh next --json --cwd \.$/m,
      ...['--json', 'next', '--cwd', '.'],
    );
    await refused(
      workspace,
      64,
      /Name a command, such as: ralph-fresh status --cwd \.$/m,
      '--cwd',
      '.',
    );
    await refused(workspace, 64, /unknown option '--jso'/, '--jso');
    await refused(
      workspace,
      64,
      /ralph-fresh status --cwd \. --help/,
      '--cwd',
      '.',
      '--help',
      'status',
    );
  });

  test('an id shared by two stories cannot be ticked', async t => {
    const story = { title: 'Twin', passes: false };
    const workspace = await Workspace.create(t, {
      stories: [
        { id: 'A', ...story },
        { id: 'A', ...story },
      ],
    });
    const both = /2 stories with the id A \(lines 5, 10\): give each an id of its own/;
    await refused(workspace, 1, both, 'tick', 'A');
    // Also where only one of them would change.
    const done = (await workspace.read('.omc/prd.json')).replace('false', 'true');
    await workspace.write('.omc/prd.json', done);
    await refused(workspace, 1, both, 'tick', 'A');
    await refused(workspace, 1, both, 'untick', 'A');
    assert.equal(await workspace.read('.omc/prd.json'), done);
  });

  test('nothing is ticked if the state cannot be written', async t => {
    const workspace = await Workspace.create(t);
    const before = await workspace.read('.omc/prd.json');
    await workspace.write('.omc/state', 'A file in the place of the folder\n');
    await refused(workspace, 1, /cannot write its state to .*state \(E[A-Z]+\)/, 'tick', 'US-001');
    assert.equal(await workspace.read('.omc/prd.json'), before);
    assert.match(await printed(workspace, 'untick', 'US-001'), /^Already not done: US-001/);
  });

  test('the file stays unchanged if something else is in place of the lock or the runs', async t => {
    for (const block of [
      (workspace: Workspace) => mkdir(workspace.files.lockFile, { recursive: true }),
      async ({ files }: Workspace) => {
        await mkdir(files.stateDir, { recursive: true });
        await writeFile(files.runsDir, 'a file');
      },
    ]) {
      const workspace = await Workspace.create(t);
      await block(workspace);
      const { code, stdout, stderr } = await workspace.cli('tick', 'US-001').finished;
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^ralph-fresh: Ralph cannot write its state to .* remove what is in its place\.\n$/,
      );
      assert.deepEqual(await workspace.done(), []);
    }
  });

  test('work for other kinds of files', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await workspace.write('PLAN.md', '- [ ] Dig\n- [ ] Build\n');
    const [, build] = (await json(workspace, 'stories')).stories;
    assert.match(await printed(workspace, 'tick', build.id), /^Marked as done: .*Build/);
    assert.equal(await workspace.read('PLAN.md'), '- [ ] Dig\n- [x] Build\n');
  });

  test('write the tick into the journal of an active loop', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const cli = await waitingRun(workspace);
    await printed(workspace, 'tick', 'US-002');
    await workspace.event('story.ticked');
    await workspace.note('go');
    assert.equal((await cli.finished).code, 0);
    const given = (await workspace.events('iteration.started')).map(({ storyId }) => storyId);
    assert.deepEqual(given, ['US-001', 'US-003']);
    assert.equal((await workspace.runIds()).length, 1);
  });
});

describe('requests to an active run', { concurrency: 3, ...posix }, () => {
  test('pause and resume the run', async t => {
    const workspace = await Workspace.create(t);
    const cli = await waitingRun(workspace);
    assert.match(await printed(workspace, 'pause'), /will pause after this iteration/);
    assert.equal((await workspace.events('pause.requested')).length, 1);
    assert.match(await printed(workspace, 'status'), /will pause after this iteration/);
    await workspace.note('go');
    assert.equal((await workspace.event('pause.started')).reason, 'person');
    assert.equal((await workspace.events('iteration.started')).length, 1);

    const status = await json(workspace, 'status');
    assert.deepEqual(
      [status.phase, status.waiting],
      ['running', { kind: 'pause', reason: 'person' }],
    );
    assert.match(await printed(workspace, 'status'), /Paused/);
    assert.match(await printed(workspace, 'pause'), /already paused/);
    assert.match(await printed(workspace, 'resume'), /The run continues/);
    assert.equal((await workspace.events('pause.ended')).length, 1);
    assert.equal((await cli.finished).code, 0);
    assert.equal((await workspace.events('iteration.started')).length, 2);
  });

  for (const lanes of ['1', '2']) {
    test(`what a person removes or renames during a pause is no story any more, ${lanes} at once`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(4) });
      const cli = await waitingRun(workspace, '--lanes', lanes);
      await printed(workspace, 'pause');
      await workspace.note('go');
      await workspace.event('pause.started');
      const file = JSON.parse(await workspace.read('.omc/prd.json'));
      const [first, second, third] = file.userStories;
      const userStories = [first, second, { ...third, id: 'US-033' }];
      await workspace.write('.omc/prd.json', JSON.stringify({ ...file, userStories }));
      await printed(workspace, 'resume');
      const { code, stdout } = await cli.finished;
      assert.equal(code, 0, stdout);
      const given = (await workspace.events('iteration.started')).map(({ storyId }) => storyId);
      // Several agents start in any order.
      assert.deepEqual(given.sort(), ['US-001', 'US-002', 'US-033']);
      assert.deepEqual(await workspace.events('warning'), []);
    });
  }

  test('a pause can be cancelled before it begins', async t => {
    const workspace = await Workspace.create(t);
    const cli = await waitingRun(workspace);
    assert.match(await printed(workspace, 'resume'), /is not waiting for anything/);
    await printed(workspace, 'pause');
    assert.match(await printed(workspace, 'resume'), /will not pause after this iteration/);
    await workspace.note('go');
    assert.equal((await cli.finished).code, 0);
    assert.deepEqual(await workspace.events('pause.started'), []);
  });

  test('skip ends the current story, and the run continues with the next one', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.note('go-US-002');
    const cli = await waitingRun(workspace);
    const agent = await workspace.agent();
    assert.match(await printed(workspace, 'skip'), /skips US-001/);
    const { code, stdout } = await cli.finished;
    assert.equal(code, 1);
    assert.equal(isAlive(agent), false);
    assert.deepEqual(await workspace.done(), ['US-002']);
    assert.equal((await workspace.event('run.ended')).outcome, 'noReadyStory');
    const fix =
      /No story is ready\. US-001 is skipped; "ralph-fresh skip US-001 --undo" undoes that\. Then run with --resume\.$/m;
    assert.match(stdout, fix);
    assert.match(await printed(workspace, 'status'), fix);
    const { stories } = await json(workspace, 'stories');
    assert.deepEqual(
      stories.map(({ state }: { state: string }) => state),
      ['skipped', 'claimed'],
    );
    assert.match(
      await printed(workspace, 'stories'),
      /^claimed: its agent marked the story as done/m,
    );
    assert.deepEqual(await json(workspace, 'next'), { id: null, reason: 'skipped' });

    const again = await workspace.run('waits', '--resume').finished;
    assert.match(again.stdout, /Resuming run \S+ at iteration \d\n/);
    assert.match(again.stdout, fix);

    assert.match(await printed(workspace, 'skip', '--undo'), /US-001 gets another chance/);
    assert.match(
      await printed(workspace, 'status'),
      /No story was ready\. Left: US-001\. US-001 gets another chance with "ralph-fresh run --resume"\.$/m,
    );
    assert.deepEqual(await json(workspace, 'next'), { id: 'US-001' });
  });

  test('a skip that is pressed twice at the same time skips one story, once', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const cli = await waitingRun(workspace);
    const twice = await Promise.all([1, 2, 3].map(() => workspace.cli('skip', 'US-001').finished));
    for (const { code, stdout } of twice) {
      assert.match(stdout, /^(The run skips US-001\.|US-001 is skipped already\.)\n$/);
      assert.equal(code, 0);
    }
    assert.match(await printed(workspace, 'skip', 'US-001'), /^US-001 is skipped already\.\n$/);
    await workspace.note('go-US-002');
    await workspace.note('go-US-003');
    await cli.finished;
    assert.deepEqual(
      (await workspace.events('story.skipped')).map(({ by, storyId }) => [storyId, by]),
      [['US-001', 'person']],
    );
    assert.deepEqual(await workspace.done(), ['US-002', 'US-003']);
    assert.match(await printed(workspace, 'skip', 'US-001'), /^US-001 is skipped already\.\n$/);
  });

  test('a stop that is pressed twice at the same time ends the run once, and not the next one', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = await waitingRun(workspace);
    const first = await Promise.all([1, 2].map(() => workspace.cli('stop').finished));
    assert.deepEqual(
      first.map(({ code }) => code),
      [0, 0],
    );
    assert.equal((await cli.finished).code, 130);
    assert.equal((await workspace.events('stop.requested')).length, 1);
    await workspace.note('go-US-001');
    assert.equal((await workspace.run('waits').finished).code, 0);
    assert.deepEqual(await workspace.done(), ['US-001']);
  });

  test('another story can be skipped and unskipped', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const cli = await waitingRun(workspace);
    await printed(workspace, 'skip', 'US-002');
    await printed(workspace, 'skip', 'US-003');
    await refused(workspace, 64, /skipped US-002, US-003/, 'skip', '--undo');
    await printed(workspace, 'skip', 'US-003', '--undo');
    const { stories } = await json(workspace, 'stories');
    assert.deepEqual(
      stories.map(({ state }: { state: string }) => state),
      ['running', 'skipped', 'ready'],
    );
    await workspace.note('go');
    await cli.finished;
    assert.deepEqual(await workspace.done(), ['US-001', 'US-003']);
  });

  test('a hint reaches the next agent', async t => {
    const workspace = await Workspace.create(t);
    const cli = await waitingRun(workspace);
    const text = 'Use "tabs" & <nothing> else; $HOME';
    assert.match(await printed(workspace, 'hint', text), /All later agents will get it/);
    await printed(workspace, 'hint', 'Only for two', '--story', 'US-002');
    assert.deepEqual(
      (await workspace.events('hint.given')).map(({ text, storyId }) => [text, storyId]),
      [
        [text, undefined],
        ['Only for two', 'US-002'],
      ],
    );
    await workspace.note('go');
    assert.equal((await cli.finished).code, 0);
    const prompt = await workspace.prompt(2);
    assert.ok(prompt.includes('Use "tabs"'));
    assert.ok(prompt.includes('Only for two'));
  });

  test('a question of a complete run is not open, and no answer is taken', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const asking = [{ tick: 'US-001' }, { commit: 'feat: US-001' }, ...asks];
    assert.equal((await workspace.script([asking]).finished).code, 0);
    assert.deepEqual((await json(workspace, 'status')).questions, []);
    await refused(workspace, 1, /no open question/, 'answer', 'Green');
    await refused(workspace, 1, /no open question/, 'answer', 'Green', '--story', 'US-001');
  });

  test('an answer continues a waiting run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [[{ result: ['Hm.\n\n<promise>NEEDS_HUMAN: Blue or green?</promise>'] }], ['work']],
      ...['--on-question', 'wait'],
    );
    await workspace.event('pause.started');
    const status = await json(workspace, 'status');
    assert.deepEqual(
      [status.question, status.waiting],
      ['Blue or green?', { kind: 'pause', reason: 'question', detail: 'Blue or green?' }],
    );
    const { stories } = await json(workspace, 'stories');
    assert.deepEqual(
      stories.map(({ question, state }: Record<string, unknown>) => [state, question]),
      [['blocked', 'Blue or green?']],
    );
    const list = await printed(workspace, 'stories');
    assert.match(list, /^· +US-001 +needs you +Story number 1$/m);
    assert.match(
      list,
      /^US-001 asks: Blue or green\? Answer with: ralph-fresh answer "…" --story US-001$/m,
    );
    assert.match(
      await printed(workspace, 'pause'),
      /^The run waits already\. .*Blue or green\? Answer with: ralph-fresh answer "…" --story US-001$/m,
    );
    const text = await printed(workspace, 'answer', 'Green');
    assert.match(text, /^Answered: Blue or green\?\nThe run continues/);
    assert.equal((await cli.finished).code, 0);
    assert.match(await workspace.prompt(2), /Blue or green\?[\s\S]*Green/);
    assert.equal((await json(workspace, 'status')).question, null);
    await refused(workspace, 1, /no open question.*hint/, 'answer', 'Blue');
  });

  test('a request that the loop did not accept is refused once it has ended', async t => {
    const workspace = await Workspace.create(t);
    const cli = await waitingRun(workspace);
    cli.child.kill('SIGSTOP');
    const pause = workspace.cli('pause');
    const hint = workspace.cli('hint', 'Late');
    // Both have posted it when the inbox has two lines.
    const { files } = workspace;
    const [runId = ''] = await workspace.runIds();
    await until('two requests', async () => {
      const inbox = await readFile(files.inboxFile(runId), 'utf8').catch(() => '');
      return inbox.split('\n').length === 3;
    });
    const status = await workspace.cli('status').finished;
    cli.child.kill('SIGKILL');
    const [paused, hinted] = await Promise.all([pause.finished, hint.finished]);
    // They say why they wait.
    const suspended = `ralph-fresh: The run is suspended .* or kill -CONT ${cli.child.pid}\n`;
    assert.match(status.stderr, new RegExp(`^${suspended}$`));
    assert.match(hinted.stderr, new RegExp(`^${suspended}$`));
    assert.deepEqual([paused.code, paused.stdout], [1, '']);
    assert.match(
      paused.stderr,
      new RegExp(`^${suspended}ralph-fresh: The run has ended in the meantime.*\n$`),
    );
    assert.equal(hinted.code, 0);
    assert.match(hinted.stdout, /next agent will get it/);
    assert.equal((await workspace.events('hint.given')).length, 0);
    assert.deepEqual(
      (await pendingHints(files)).map(({ text }) => text),
      ['Late'],
    );
    await printed(workspace, 'stop');
  });
});

describe('requests while no loop is active', { concurrency: 4 }, () => {
  test('pause and resume are refused', async t => {
    const workspace = await Workspace.create(t);
    for (const command of ['pause', 'resume']) {
      await refused(workspace, 1, /No run is active here\. Start one/, command);
    }
    await workspace.run('succeeds', '--max-iterations', '1').finished;
    for (const command of ['pause', 'resume']) {
      await refused(
        workspace,
        1,
        /No run is active here\. .*run --resume --max-iterations 21"/,
        command,
      );
    }
    await refused(workspace, 1, /Name one: ralph-fresh skip ID/, 'skip');
  });

  test('the suggested commands work, for a run without iterations left and for a complete one', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.run('succeeds', '--max-iterations', '1').finished;
    const advice = await printed(workspace, 'skip', 'US-002');
    const [, more = ''] = /"ralph-fresh run (--resume[^"]*)"/.exec(advice) ?? [];
    assert.match(
      await printed(workspace, 'skip', 'US-001', '--undo'),
      /^US-001 is done; there is nothing to undo\. .*: ralph-fresh untick US-001$/m,
    );
    await printed(workspace, 'skip', 'US-002', '--undo');
    const second = await workspace.run('succeeds', ...more.split(' ')).finished;
    assert.equal(second.code, 0, second.stderr);
    const prd = JSON.parse(await workspace.read('.omc/prd.json'));
    prd.userStories.push({ id: 'US-003', title: 'One more', passes: false });
    await workspace.write('.omc/prd.json', JSON.stringify(prd));
    const before = await workspace.journal();
    for (const args of [
      ['skip', 'US-003'],
      ['skip', 'US-003', '--undo'],
    ]) {
      await refused(workspace, 1, /run is complete, .*"ralph-fresh run --detach"/, ...args);
    }
    assert.deepEqual(await workspace.journal(), before);
    assert.match(
      await printed(workspace, 'hint', 'Be careful', '--story', 'US-001'),
      /^US-001 is done\. If you reopen it \(ralph-fresh untick US-001\), its next agent/,
    );
    for (const command of ['pause', 'resume']) {
      await refused(
        workspace,
        1,
        /is complete\. Add a story, or reopen one .*; then start a new run with "ralph-fresh run"\./,
        command,
      );
    }
  });

  test('commands that need a run are refused if there has been none', async t => {
    const workspace = await Workspace.create(t);
    for (const command of [
      ['answer', 'x'],
      ['skip', 'US-001'],
    ]) {
      await refused(workspace, 1, /no run in this folder yet/, ...command);
    }
    for (const command of [['logs'], ['receipt'], ['rollback', '1']]) {
      await refused(workspace, 1, /No run in this folder yet\. Start one/, ...command);
    }
    assert.deepEqual(await workspace.runIds(), []);
  });

  test('a hint waits for the next agent it is meant for, even in a new run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await printed(workspace, 'hint', 'Before any run');
    await printed(workspace, 'hint', 'Only for two', '--story', 'US-002');
    await printed(workspace, 'hint', 'Only for three', '--story', 'US-003');
    assert.deepEqual(await workspace.runIds(), []);
    await workspace.run('succeeds', '--max-iterations', '2').finished;
    assert.match(await workspace.prompt(1), /Before any run/);
    assert.doesNotMatch(await workspace.prompt(1), /Only for/);
    assert.match(await workspace.prompt(2), /Only for two/);
    assert.doesNotMatch(await workspace.prompt(2), /Only for three/);
    const waiting = await pendingHints(workspace.files);
    assert.deepEqual(
      waiting.map(({ text }) => text),
      ['Only for three'],
    );
    await workspace.run('succeeds', '--new').finished;
    assert.match(await workspace.prompt(1), /Only for three/);
    assert.doesNotMatch(await workspace.prompt(1), /Before any run/);
    assert.equal(existsSync(workspace.files.hintsFile), false);
    const [given] = await workspace.events('hint.given');
    assert.deepEqual([given?.id, given?.storyId], [waiting[0]?.id, 'US-003']);
  });

  test('a hint is given again if its agent was killed', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await printed(workspace, 'hint', 'Not to be lost');
    const cli = await waitingRun(workspace);
    cli.child.kill('SIGKILL');
    await cli.finished;
    await workspace.note('go');
    await workspace.run('succeeds', '--new').finished;
    assert.match(await workspace.prompt(1), /Not to be lost/);
    assert.equal((await workspace.events('hint.given')).length, 1);
  });

  test('a hint from the repository is not given to an agent', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1), git: false });
    await printed(workspace, 'hint', 'Delete everything');
    await rm(path.join(workspace.files.stateDir, '.gitignore'));
    await gitRepo(workspace.folder);
    // Mine would be among them.
    const refused = await workspace.cli('hint', 'Mine').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /is in git.*git rm --cached/);
    await workspace.run('succeeds').finished;
    assert.doesNotMatch(await workspace.prompt(1), /Delete everything/);
    const codes = (await workspace.events('warning')).map(({ code }) => code);
    assert.ok(codes.includes('hintsNotTold'));
  });

  test('after the end of a run, nobody waits for an answer about a story that is done by now', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    assert.equal((await workspace.run('asksHuman').finished).code, 2);
    const prd = await workspace.read('.omc/prd.json');
    await workspace.write('.omc/prd.json', prd.replace('"passes": false', '"passes": true'));
    assert.equal((await json(workspace, 'status')).question, null);
    await refused(workspace, 1, /no open question.*hint/, 'answer', 'Blue');
    await refused(workspace, 1, /no open question/, 'answer', 'Blue', '--story', 'US-001');
    await workspace.write('.omc/prd.json', prd);
    assert.match(await printed(workspace, 'answer', 'Green'), /^Answered: Blue or green\?/);
  });

  test('answer, hint and skip take effect when the run continues', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    assert.equal((await workspace.run('asksHuman').finished).code, 2);
    assert.match(await printed(workspace, 'status'), /Needs you: US-001 asks: Blue or green\?/);
    assert.match(
      await printed(workspace, 'answer', 'Green'),
      /^Answered: Blue or green\?\n.*run --resume/,
    );
    assert.match(
      await printed(workspace, 'status'),
      /The agent asked: Blue or green\? You have answered; run again to continue\./,
    );
    const [answered] = await workspace.events('question.answered');
    assert.deepEqual([answered?.answer, answered?.storyId], ['Green', 'US-001']);
    assert.match(await printed(workspace, 'hint', 'Be quick'), /The next agent will get it/);
    assert.match(await printed(workspace, 'skip', 'US-002'), /skips US-002.*run --resume/);
    assert.equal(existsSync(workspace.files.lockFile), false);

    const cli = workspace.run('succeeds', '--resume');
    await cli.finished;
    assert.deepEqual(await workspace.done(), ['US-001', 'US-003']);
    assert.match(await workspace.prompt(2), /Green/);
    assert.match(await workspace.prompt(2), /Be quick/);
    assert.equal((await workspace.runIds()).length, 1);
  });
});

test('a question is closed once its story is done, also by hand in the file', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(2) });
  assert.equal((await workspace.run('asksHuman').finished).code, 2);
  const text = await workspace.read('.omc/prd.json');
  await workspace.write('.omc/prd.json', text.replace('"passes": false', '"passes": true'));
  assert.match(
    await printed(workspace, 'status'),
    /^The agent asked: Blue or green\? That is settled; run again to continue\.$/m,
  );
  assert.deepEqual(JSON.parse(await printed(workspace, 'status', '--json')).questions, []);
  await workspace.write('.omc/prd.json', text);
  assert.match(await printed(workspace, 'status'), /Needs you: US-001 asks: Blue or green\?/);
});

describe('cancel', { concurrency: 4, ...posix }, () => {
  test('ends the run through its state file and waits until it is gone', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('hangs');
    const agent = await workspace.agent();
    await workspace.event('agent.init');
    assert.match(await printed(workspace, 'cancel'), /^Stopped\. State saved/);
    assert.equal(isAlive(agent), false);
    assert.equal((await cli.finished).code, 130);
    const [stop] = await workspace.events('stop.requested');
    assert.deepEqual([stop?.by, stop?.mode], ['stateFile', 'end']);
    const state = JSON.parse(await readFile(workspace.files.stateFile, 'utf8'));
    assert.equal(state.active, false);
  });

  test('removes what a killed loop has left behind', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('hangs');
    const agent = await workspace.agent();
    await workspace.event('agent.init');
    // It is written while the agent starts.
    await until('the iteration in the state file', async () => {
      const state = JSON.parse(await readFile(workspace.files.stateFile, 'utf8'));
      return state.iteration === 1;
    });
    cli.child.kill('SIGKILL');
    await cli.finished;
    const doctor = await workspace.cli('doctor', '--agent', 'demo', '--json').finished;
    const { checks } = JSON.parse(doctor.stdout);
    const found = checks.find(({ id }: { id: string }) => id === 'leftovers');
    assert.equal(found.level, 'warning');
    assert.match(found.fix, /ralph-fresh stop/);

    assert.match(await printed(workspace, 'cancel'), /had been killed.*\n.*inactive now/);
    assert.equal(isAlive(agent), false);
    const state = JSON.parse(await readFile(workspace.files.stateFile, 'utf8'));
    assert.equal(state.active, false);
    assert.equal(state.iteration, 1);
    assert.equal(await printed(workspace, 'cancel'), 'No run is active in this folder.\n');
  });
});

describe('logs', { concurrency: 4 }, () => {
  test('prints the transcript of the newest run, of one iteration and of another run', async t => {
    const workspace = await Workspace.create(t);
    const first = await workspace.run('succeeds', '--max-iterations', '1').finished;
    const [older = ''] = await workspace.runIds();
    const second = await workspace.run('succeeds', '--new').finished;
    assert.equal(await printed(workspace, 'logs'), second.stdout);
    assert.equal(await printed(workspace, 'logs', '--run', older), first.stdout);
    assert.equal(await printed(workspace, 'logs', '--follow'), second.stdout);

    const one = await printed(workspace, 'logs', '--iteration', '1');
    assert.match(one, /=== Iteration 1\//);
    assert.match(one, /Working on US-002/);
    assert.doesNotMatch(one, /Starting fresh-context|COMPLETE/);
    const events = (await printed(workspace, 'logs', '--json')).trim().split('\n');
    assert.deepEqual(
      events.map(line => JSON.parse(line)),
      await workspace.journal(),
    );
    await refused(workspace, 64, /no iteration 7\. It has 1\./, 'logs', '--iteration', '7');
    await refused(workspace, 64, /no run gone/, 'logs', '--run', 'gone');
  });

  test('prints the raw stream byte for byte', async t => {
    const workspace = await Workspace.create(t);
    await workspace.run('succeeds').finished;
    const [runId = ''] = await workspace.runIds();
    for (const [iteration, args] of [
      [1, ['--iteration', '1']],
      [2, []],
    ] as const) {
      const dir = workspace.files.iterationDir(runId, iteration);
      const stream = await readFile(path.join(dir, 'stream.jsonl'), 'utf8');
      assert.equal(await printed(workspace, 'logs', '--raw', ...args), stream);
    }
    await rm(workspace.files.iterationDir(runId, 2), { recursive: true });
    await refused(workspace, 1, /raw stream of iteration 2 is gone/, 'logs', '--raw');
  });

  test('--follow continues until the iteration, or the run, ends', async t => {
    const workspace = await Workspace.create(t);
    const cli = await waitingRun(workspace);
    const all = workspace.cli('logs', '--follow');
    const one = workspace.cli('logs', '--follow', '--iteration', '1');
    const raw = workspace.cli('logs', '--follow', '--raw', '--iteration', '1');
    await workspace.note('go-US-001');
    assert.match((await one.finished).stdout, /Iteration 1: story done/);
    assert.match((await raw.finished).stdout, /^\{"type":"system"/);
    await workspace.note('go');
    const { code, stdout } = await all.finished;
    assert.equal(code, 0);
    assert.equal(stdout, (await cli.finished).stdout);
  });
});

describe('receipt', { concurrency: 4 }, () => {
  test('works with more runs than the limit of open files', posix, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    const [runId = ''] = await workspace.runIds();
    const { files } = workspace;
    const [line = ''] = (await readFile(files.journalFile(runId), 'utf8')).split('\n');
    const start = JSON.parse(line);
    for (let i = 0; i < 300; i += 1) {
      const id = `2000-01-01T00-00-00-000-${i}`;
      await mkdir(files.runDir(id));
      await writeFile(files.journalFile(id), `${JSON.stringify({ ...start, runId: id })}\n`);
    }
    const { stdout } = await execFileText(
      'sh',
      ['-c', 'ulimit -n 100 && exec "$0" "$@"', process.execPath, CLI, 'receipt', '--json'],
      { cwd: workspace.folder, env: workspace.env },
    );
    assert.equal(JSON.parse(stdout).run, runId);
  });

  test('shows duration, result and cost of the iterations', async t => {
    const workspace = await Workspace.create(t);
    await workspace.run('succeeds', '--model', 'fake-model').finished;
    const [runId] = await workspace.runIds();
    const receipt = await json(workspace, 'receipt');
    assert.deepEqual(Object.keys(receipt), [
      ...['run', 'agent', 'model', 'payer', 'planning', 'iterations', 'stories', 'total'],
      'discovered',
    ]);
    assert.deepEqual([receipt.run, receipt.agent, receipt.model], [runId, 'claude', 'fake-model']);
    const [first, second] = receipt.iterations;
    assert.deepEqual(
      [first.story, first.outcome, first.costUsd, first.inputTokens, first.commits],
      ['US-001', 'storyDone', 0.25, 10, 1],
    );
    assert.equal(second.commitList[0].subject, 'feat: US-002');
    assert.deepEqual([receipt.stories.length, receipt.total.costUsd], [2, 0.5]);
    const status = await json(workspace, 'status');
    assert.deepEqual(status.cost, {
      ...{ usd: 0.5, budgetUsd: null, inputTokens: 20, outputTokens: 10 },
      ...{ cacheReadTokens: 0, cacheWriteTokens: 0, estimated: false, unknown: false },
    });

    assert.match(await printed(workspace, 'receipt'), /2× +total .*\$0\.50 +2$/m);
    assert.match(await printed(workspace, 'receipt', '2'), /^ {2}[0-9a-f]{7} feat: US-002$/m);
    assert.equal((await json(workspace, 'receipt', '2')).total.costUsd, 0.25);
    await refused(workspace, 64, /no iteration 3\. It has 1-2\./, 'receipt', '3');
  });

  test('reports an empty or truncated journal and shows what is left of the run', async t => {
    const workspace = await Workspace.create(t);
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    const [runId = ''] = await workspace.runIds();
    const journal = workspace.files.journalFile(runId);
    const receipt = (n: number) =>
      path.join(workspace.files.iterationDir(runId, n), 'receipt.json');
    const whole = await readFile(journal, 'utf8');
    const secondEnd = whole.indexOf('"type":"iteration.ended","iteration":2');
    await writeFile(journal, whole.slice(0, secondEnd));
    const { code, stderr, stdout } = await workspace.cli('receipt').finished;
    assert.equal(code, 0);
    assertOneLine(stderr, /is damaged or truncated/);
    assert.ok(
      stderr.includes(journal) && stderr.includes(`For iteration 2 there is still ${receipt(2)}`),
    );
    assert.match(stdout, /1× +US-001/);

    const isEmpty = new RegExp(
      `The journal of run ${runId} is empty or damaged: .*journal\\.jsonl\\. For iterations 1-2 there is still .*receipt\\.json.* Restore the journal from a backup.* "ralph-fresh run --new"`,
    );
    for (const text of ['', '\0'.repeat(4_096), whole.slice(whole.indexOf('\n') - 20)]) {
      await writeFile(journal, text);
      await refused(workspace, 1, isEmpty, 'receipt');
      await refused(workspace, 1, isEmpty, 'receipt', '--run', runId, '--json');
      await refused(workspace, 1, isEmpty, 'logs');
    }
    await writeFile(journal, '');
    assert.match((await workspace.cli('status').finished).stdout, isEmpty);
    // An older run can still be told of, and nobody is told that it is the newest.
    const older = '2026-01-01T00-00-00-000-aaaaaa';
    await mkdir(workspace.files.runDir(older), { recursive: true });
    await writeFile(workspace.files.journalFile(older), whole.replaceAll(runId, older));
    const other = await workspace.cli('receipt').finished;
    assert.equal(other.code, 0);
    assertOneLine(other.stderr, new RegExp(`run ${runId}, which is newer, is empty or damaged`));
  });
});

describe('when the newest run has no iterations', { concurrency: 3 }, () => {
  /** A night's run, and one after it that found no story ready. */
  async function twoRuns(t: TestContext) {
    const workspace = await Workspace.create(t);
    const night = await workspace.run('succeeds').finished;
    const waits = { id: 'B', title: 'B', passes: false, dependsOn: ['A'] };
    await workspace.write('later.json', JSON.stringify({ userStories: [waits] }));
    const later = ['--file', path.join(workspace.folder, 'later.json')];
    assert.equal((await workspace.run('succeeds', ...later).finished).code, 1);
    const [older = '', empty = '', ...more] = await workspace.runIds();
    assert.deepEqual(more, []);
    const note = `This is run ${older}, the newest one with iterations; the newest of all has none (--run ${empty}).\n`;
    return { workspace, night, older, empty, note };
  }

  test('logs and receipt show the previous run and say so; status does not', async t => {
    const { workspace, night, older, empty, note } = await twoRuns(t);
    assert.equal(await printed(workspace, 'logs'), `${note}${night.stdout}`);
    assert.equal(await printed(workspace, 'logs', '--run', older), night.stdout);
    const receipt = await printed(workspace, 'receipt');
    assert.ok(receipt.startsWith(note), receipt);
    assert.match(receipt, /US-002/);
    assert.match(await printed(workspace, 'receipt', '--run', empty), /^No iteration yet\.$/m);
    assert.equal((await json(workspace, 'status')).run, empty);

    const data = await workspace.cli('receipt', '--json').finished;
    assert.deepEqual([data.code, data.stderr], [0, `ralph-fresh: ${note}`]);
    assert.equal(JSON.parse(data.stdout).run, older);
    const raw = await workspace.cli('logs', '--raw').finished;
    assert.deepEqual([raw.code, raw.stderr], [0, `ralph-fresh: ${note}`]);
    assert.match(raw.stdout, /^\{"type":"system"/);
  });

  inAll(test)('rollback and revert use the previous run and say so', async t => {
    const { workspace, note } = await twoRuns(t);
    const dry = await printed(workspace, 'revert', '--iteration', '2', '--dry-run');
    assert.ok(dry.startsWith(`${note}Would revert`), dry);
    const rolled = await printed(workspace, 'rollback', '1');
    assert.ok(rolled.startsWith(`${note}Commit `), rolled);
    assert.deepEqual(await workspace.done(), []);
  });

  test('an unknown iteration or run lists the existing runs', async t => {
    const { workspace, older, empty } = await twoRuns(t);
    const named = new RegExp(`The newest runs are ${empty}, ${older}; name one with --run\\.`);
    for (const args of [
      ['receipt', '9'],
      ['rollback', '9'],
      ['revert', '--iteration', '9'],
      ['logs', '--iteration', '9'],
      ['rollback', '1', '--run', empty],
      ['logs', '--run', 'gone'],
    ]) {
      await refused(workspace, 64, named, ...args);
    }
  });
});

describe('inside an agent', { concurrency: 4 }, () => {
  const steering: readonly (readonly string[])[] = [
    ['tick', 'US-001'],
    ['untick', 'US-001'],
    ['skip', 'US-001'],
    ['answer', 'Yes'],
    ['hint', 'Be quick'],
    ['pause'],
    ['resume'],
    ['rollback', '1'],
    ['revert', 'US-001'],
    ['cancel'],
    ['stop'],
    ['run', '--tasks', 'a'],
    ['go', '1'],
    ['tasks', 'import'],
    ['places', 'clean'],
  ];
  for (const args of steering) {
    test(`${args.join(' ')} is refused`, async t => {
      const workspace = await Workspace.create(t);
      const before = await workspace.read('.omc/prd.json');
      const { code, stderr } = await workspace.cliWith({ RALPH_FRESH_RUN: 'run-1' }, ...args)
        .finished;
      assert.equal(code, 1);
      assert.match(stderr, /^ralph-fresh: An agent cannot use "[^\n]+\n$/);
      const named = ['tasks', 'places'].includes(args[0] ?? '') ? args.join(' ') : args[0];
      assert.ok(stderr.includes(`"${named}"`), stderr);
      assert.equal(await workspace.read('.omc/prd.json'), before);
      assert.deepEqual(await workspace.runIds(), []);
    });
  }

  test('read-only commands work', async t => {
    const workspace = await Workspace.create(t);
    for (const command of ['stories', 'next', 'status']) {
      const { code } = await workspace.cliWith({ RALPH_FRESH_RUN: 'run-1' }, command).finished;
      assert.equal(code, 0, command);
    }
  });
});

/** Two stories are done by agents that also commit what a person has not: the stories, and notes. */
async function withUncommittedFiles(t: TestContext): Promise<Workspace> {
  const workspace = await Workspace.create(t, { stories: undefined });
  await workspace.write('.omc/prd.json', JSON.stringify({ userStories: openStories(2) }));
  await workspace.write('notes.txt', 'mine\n');
  await workspace.write('edited.txt', 'old\n');
  await git(workspace, 'add', 'edited.txt');
  await git(workspace, 'commit', '--quiet', '--message', 'Add a file', 'edited.txt');
  await workspace.write('edited.txt', 'mine\n');
  await mkdir(path.join(workspace.folder, 'own'));
  await workspace.write('own/mine.txt', 'mine\n');
  const work = (id: string, file: string) => [
    ...[{ write: [`${id}.txt`, `${id}\n`] }, { write: [file, 'of an agent\n'] }],
    ...[{ tick: id }, { commit: id }],
  ];
  await workspace.script([work('US-001', 'own/one.txt'), work('US-002', 'two.txt')]).finished;
  assert.match(await git(workspace, 'show', '--stat', 'HEAD^'), /notes\.txt/);
  return workspace;
}

describe('revert', { concurrency: 3 }, () => {
  test('reverts and reopens one story and leaves the others', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.run('succeeds').finished;
    const planned = await json(workspace, 'revert', 'US-002', '--dry-run');
    assert.deepEqual([planned.commit, planned.reopened], [null, ['US-002']]);
    assert.equal(planned.commits.length, 1);
    assert.ok(planned.files.includes('US-002.txt'));
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
    assert.match(
      await printed(workspace, 'revert', 'us-002'),
      /^Commit \S+ reverts, in \d files?:\n\S+ feat: US-002\n.*git revert \S+\nReopened: US-002\n$/,
    );
    assert.deepEqual(await workspace.done(), ['US-001', 'US-003']);
    assert.equal(existsSync(path.join(workspace.folder, 'US-002.txt')), false);
    assert.equal(existsSync(path.join(workspace.folder, 'US-003.txt')), true);
    assert.match(await printed(workspace, 'revert', 'US-002'), /^Nothing to do/);
    await refused(workspace, 64, /Name one story, or one iteration/, 'revert');
    await refused(workspace, 64, /has no story "US-777"\. It has US-001/, 'revert', 'US-777');
    await printed(workspace, 'revert', '--iteration', '3');
    assert.deepEqual(await workspace.done(), ['US-001']);
  });

  test('is refused where an agent has amended earlier work, with the command that takes back its own', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const amend = 'git add -A && git commit --quiet --amend -m both';
    await workspace.script([
      ['work'],
      [
        { write: ['US-002.txt', 'work\n'] },
        { tick: 'US-002' },
        { shell: amend },
        { result: ['Done.'] },
      ],
    ]).finished;
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    const words = /contains earlier work, too, .*: US-001\.txt\. To take back only /;
    await refused(workspace, 1, words, 'revert', 'US-002', '--dry-run');
    const { stderr } = await workspace.cli('revert', 'US-002').finished;
    const [, command = ''] = /: (git diff .*)$/m.exec(stderr) ?? [];
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    execFileSync('sh', ['-c', command], { cwd: workspace.folder, env: workspace.env });
    assert.deepEqual(
      ['US-001.txt', 'US-002.txt'].map(file => existsSync(path.join(workspace.folder, file))),
      [true, false],
    );
    assert.deepEqual(await workspace.done(), ['US-001']);
  });

  test('takes back nothing twice, also if stories have added files of equal content', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const added = (id: string) => [
      { write: [`${id}.txt`, 'same\n'] },
      { tick: id },
      { commit: id },
    ];
    await workspace.script([added('US-001'), added('US-002')]).finished;
    await printed(workspace, 'revert', 'US-001');
    const again = await printed(workspace, 'revert', 'US-001');
    assert.match(again, /^Nothing to do: .*\nTaken back already, and left out: \S+\n$/);
    await git(workspace, 'revert', '--no-edit', 'HEAD');
    await printed(workspace, 'revert', 'US-001');
    assert.equal(existsSync(path.join(workspace.folder, 'US-001.txt')), false);
  });

  inAll(test)('takes back nothing of an older story that had the same id', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.run('succeeds', '--verify', 'true').finished;
    const list = JSON.parse(await workspace.read('.omc/prd.json'));
    for (const [index, story] of list.userStories.entries()) {
      Object.assign(story, { title: `New story ${index + 1}`, passes: index === 0 });
    }
    await workspace.write('.omc/prd.json', JSON.stringify(list));
    await git(workspace, 'commit', '--all', '--quiet', '--message', 'A new list');
    const states = async () =>
      (await json(workspace, 'stories')).stories.map(({ state }: { state: string }) => state);
    assert.deepEqual(await states(), ['done', 'ready']);
    const [run] = await workspace.runIds();
    await refused(
      workspace,
      1,
      new RegExp(`US-001 is "New story 1" now, but was .* revert --iteration 1 --run ${run}`),
      ...['revert', 'US-001'],
    );
    const old = ['revert', '--iteration', '1', '--run', run ?? '', '--dry-run'];
    assert.deepEqual((await json(workspace, ...old)).reopened, []);
    await workspace.script([
      [{ write: ['new.txt', 'new\n'] }, { tick: 'US-002' }, { commit: 'New work' }],
    ]).finished;
    assert.deepEqual(await states(), ['done', 'claimed']);
    const { commits, files } = await json(workspace, 'revert', 'US-002');
    assert.deepEqual([commits.length, files], [1, ['.omc/prd.json', 'new.txt']]);
    assert.equal(existsSync(path.join(workspace.folder, 'US-002.txt')), true);
  });

  test('leaves what a person had not committed when the run began', async t => {
    const workspace = await withUncommittedFiles(t);
    assert.match(
      await printed(workspace, 'revert', 'US-001'),
      /\nNot taken back \(not committed when a run began\): notes\.txt, own\/mine\.txt\.\n/,
    );
    assert.deepEqual(await workspace.done(), ['US-002']);
    assert.equal(await workspace.read('notes.txt'), 'mine\n');
    assert.equal(await workspace.read('own/mine.txt'), 'mine\n');
    assert.equal(existsSync(path.join(workspace.folder, 'US-001.txt')), false);
    assert.equal(existsSync(path.join(workspace.folder, 'own', 'one.txt')), false);
  });

  test('names the alternatives if there is no commit', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.script([[{ tick: 'US-001' }, { text: 'Done.' }]]).finished;
    const story = /No run has committed anything for US-001.* untick it.*"git status"/;
    await refused(workspace, 1, story, 'revert', 'US-001');
    const iteration = /Iteration 1 made no commit.*"ralph-fresh receipt".*"git status"/;
    await refused(workspace, 1, iteration, 'revert', '--iteration', '1');
    await refused(workspace, 64, /has no iteration 2\. It has 1\./, 'revert', '--iteration', '2');
    await printed(workspace, 'untick', 'US-001');
    assert.deepEqual(await workspace.done(), []);
  });

  test('reverts nothing while the story file cannot be read, since the story would stay done', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.run('succeeds').finished;
    const head = workspace.git('rev-parse', 'HEAD');
    const prd = await workspace.read('.omc/prd.json');
    await workspace.write('.omc/prd.json', '{ "userStories": [ {');
    const broken = /prd\.json: Line 1: /;
    await refused(workspace, 1, broken, 'revert', 'US-001');
    await refused(workspace, 1, broken, 'revert', '--iteration', '1');
    assert.equal(workspace.git('rev-parse', 'HEAD'), head);
    await workspace.write('.omc/prd.json', prd);
    assert.match(await printed(workspace, 'revert', 'US-001'), /Reopened: US-001/);
  });
});

describe('rollback', { concurrency: 3 }, () => {
  /** Commits a file, and ticks the story afterwards. @param others files to commit with it */
  const work = (n: number, ...others: readonly string[]): Step[] => [
    { write: [`${n}.txt`, `${n}`] },
    { git: ['add', `${n}.txt`, ...others] },
    { git: ['commit', '--quiet', '--message', `Story ${n}`] },
    { tick: `US-00${n}` },
    { result: ['Done.'] },
  ];

  test('names the disk if git fails while almost no space is left, whatever git says', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.run('succeeds').finished;
    const before = await git(workspace, 'rev-parse', 'HEAD');
    await workspace.write('.git/ORIG_HEAD.lock', '');
    const env = { NODE_OPTIONS: `--import=${FULL_DISK}`, FULL_DISK_FREE: String(20 * 1024) };
    const { code, stderr } = await workspace.cliWith(env, 'rollback', '1').finished;
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^ralph-fresh: git cannot go back to \w+, probably because only 20 KB are free on the disk\. Free some space, and try again\. .*ORIG_HEAD[^\n]*\n$/,
    );
    assert.equal(await git(workspace, 'rev-parse', 'HEAD'), before);
  });

  test('--dry-run names what would be taken back, and changes nothing', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.run('succeeds').finished;
    const before = await git(workspace, 'rev-parse', 'HEAD');
    const to = (await workspace.events('iteration.started'))[1]?.startCommit ?? '';
    assert.equal(
      await printed(workspace, 'rollback', '2', '--dry-run'),
      `Would take 2 files back to ${to.slice(0, 7)}, before iteration 2: .omc/prd.json, US-002.txt.\n`,
    );
    assert.deepEqual(await json(workspace, 'rollback', '2', '--dry-run'), {
      ...{ commit: null, files: 2, kept: [], to, stories: [], restored: [] },
      ...{ reopened: [], stillDone: [], lost: [], otherCommits: [] },
    });
    assert.equal(await git(workspace, 'rev-parse', 'HEAD'), before);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    assert.deepEqual(await workspace.events('run.rolledBack'), []);
    await workspace.write('US-002.txt', 'mine');
    await refused(workspace, 1, /uncommitted changes in US-002/, 'rollback', '2', '--dry-run');
  });

  test('names the commits of people that it takes back, and --dry-run all files', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.run('succeeds').finished;
    const mine = Array.from({ length: 9 }, (_, i) => `mine-${i}.txt`);
    await Promise.all(mine.map(file => workspace.write(file, 'mine\n')));
    await git(workspace, 'add', '-A');
    await git(workspace, 'commit', '--quiet', '-m', 'my own work');
    const hash = (await git(workspace, 'rev-parse', 'HEAD')).trim();
    const preview = await printed(workspace, 'rollback', '2', '--dry-run');
    for (const file of mine) {
      assert.ok(preview.includes(file), preview);
    }
    const named = `taken back, too:\n  ${hash.slice(0, 7)} my own work\n`;
    assert.ok(preview.includes(`would be ${named}`), preview);
    const { otherCommits } = await json(workspace, 'rollback', '2', '--dry-run');
    assert.deepEqual(otherCommits, [{ hash, subject: 'my own work' }]);
    assert.ok((await printed(workspace, 'rollback', '2')).includes(`are ${named}`));
  });

  test('names stories whose work was reverted before, and not the commit that did so', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.run('succeeds').finished;
    await printed(workspace, 'revert', 'US-002');
    const file = await workspace.read('.omc/prd.json');
    await workspace.write('.omc/prd.json', file.replaceAll('"passes": false', '"passes": true'));
    await workspace.write('mine.txt', 'mine\n');
    await git(workspace, 'add', '-A');
    await git(workspace, 'commit', '--quiet', '-m', 'Mine');
    const hash = (await git(workspace, 'rev-parse', 'HEAD')).trim();
    assert.match(await printed(workspace, 'revert', 'US-002'), /^Reopened: US-002$/m);
    assert.match(await git(workspace, 'log', '-1', '--format=%s'), /^Reopen US-002/);
    const to = async (iteration: string, others: unknown[] = [{ hash, subject: 'Mine' }]) => {
      const said = await printed(workspace, 'rollback', iteration, '--dry-run');
      const { otherCommits } = await json(workspace, 'rollback', iteration, '--dry-run');
      assert.deepEqual(otherCommits, others);
      return said;
    };
    // Its work is neither there now, nor then.
    assert.match(
      await to('1'),
      /^Taken back before already, which this does not change: US-002\.$/m,
    );
    assert.doesNotMatch(await to('3'), /before already/);
    const said = await printed(workspace, 'rollback', '3');
    assert.match(said, /^Restored: US-002\. Taken back: US-003\.$/m);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    // Nor is the rollback the commit of a person.
    assert.match(await to('1', []), /^Taken back before already, .*: US-003\.$/m);
  });

  test('goes back with a new commit, including the stories, and loses nothing', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.run('succeeds').finished;
    const before = (await git(workspace, 'rev-parse', 'HEAD')).trim();
    const to = (await workspace.events('iteration.started'))[1]?.startCommit;
    const { commit, files, to: back } = await json(workspace, 'rollback', '2');
    // Two files of agents, and the story file.
    assert.deepEqual([back, files], [to, 3]);
    assert.equal((await git(workspace, 'rev-parse', 'HEAD')).trim(), commit);
    assert.equal((await git(workspace, 'rev-parse', 'HEAD^')).trim(), before);
    assert.equal(await git(workspace, 'diff', to ?? '', 'HEAD'), '');
    assert.equal(await git(workspace, 'status', '--porcelain'), '');
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.match(await git(workspace, 'log', '-1', '--format=%s'), /before iteration 2/);
    assert.match(await printed(workspace, 'rollback', '2'), /^Nothing to do/);
    assert.deepEqual(await json(workspace, 'rollback', '2'), {
      commit: null,
      files: 0,
      kept: [],
      to,
      stories: [],
      ...{ restored: [], reopened: [], stillDone: [], lost: [], otherCommits: [] },
    });
    // Nothing is committed since; what is not committed is not nothing.
    const file = await workspace.read('.omc/prd.json');
    await workspace.write('.omc/prd.json', `${file}\n`);
    const dirty = await workspace.cli('rollback', '2').finished;
    assert.deepEqual([dirty.code, dirty.stdout], [1, '']);
    assert.match(dirty.stderr, /uncommitted changes in \.omc\/prd\.json\. Commit or stash them/);
    await workspace.write('.omc/prd.json', file);
    assert.equal(existsSync(workspace.files.lockFile), false);
    assert.match(await printed(workspace, 'rollback', '1'), /takes .* back to .*git revert/);
    assert.deepEqual(await workspace.done(), []);
  });

  inAll(test)('to a later state names what is restored, and revert takes that back', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.run('succeeds').finished;
    await printed(workspace, 'rollback', '1');
    assert.match(
      await printed(workspace, 'rollback', '2', '--dry-run'),
      /^Would bring 2 files back .*\nWould be restored: US-001\. Would be taken back: nothing\.\n$/,
    );
    assert.match(
      await printed(workspace, 'rollback', '2'),
      /^Commit \S+ brings 2 files back .*\nRestored: US-001\. Taken back: nothing\.\n$/,
    );
    const { restored } = await json(workspace, 'rollback', '3');
    assert.deepEqual(restored, ['US-002']);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    const { takenBack, reopened } = await json(workspace, 'revert', 'US-002');
    assert.deepEqual([takenBack, reopened], [[], ['US-002']]);
    assert.equal(existsSync(path.join(workspace.folder, 'US-002.txt')), false);
    assert.equal(existsSync(path.join(workspace.folder, 'US-001.txt')), true);
    // It brings back what a revert has taken back, too.
    assert.match(
      await printed(workspace, 'rollback', '3'),
      /\nRestored: US-002\. Taken back: nothing\.\n$/,
    );
    await printed(workspace, 'revert', 'US-002');
    assert.equal(existsSync(path.join(workspace.folder, 'US-002.txt')), false);
    assert.match(await printed(workspace, 'revert', 'US-003'), /Taken back already, and left out/);
  });

  test('leaves what a person had not committed when the run began', async t => {
    const workspace = await withUncommittedFiles(t);
    const left = 'notes.txt, own/mine.txt.\n';
    assert.match(
      await printed(workspace, 'rollback', '1', '--dry-run'),
      new RegExp(`\nWould not be taken back \\(not committed when .* began\\): ${left}`),
    );
    const said = await printed(workspace, 'rollback', '1');
    const [, range = ''] =
      /changes that were not .*: edited\.txt\. To see them: git (.*)\n/.exec(said) ?? [];
    assert.match(await git(workspace, ...range.split(' ')), /^-old\n\+mine$/m);
    assert.equal(await workspace.read('edited.txt'), 'old\n');
    assert.deepEqual(await workspace.done(), []);
    assert.equal(await workspace.read('notes.txt'), 'mine\n');
    assert.equal(await workspace.read('own/mine.txt'), 'mine\n');
    assert.equal(existsSync(path.join(workspace.folder, 'US-001.txt')), false);
    assert.equal(existsSync(path.join(workspace.folder, 'own', 'one.txt')), false);
    assert.match(await printed(workspace, 'rollback', '1'), /^Nothing to do/);
    assert.match(await printed(workspace, 'revert', 'US-001'), /Taken back already, and left out/);
    await git(workspace, 'revert', '--no-edit', 'HEAD');
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });

  test('names the stories that are no longer marked as done although their work stays', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(5) });
    // The third one commits what the first two have ticked.
    const calls = [work(1), work(2), work(3, '.omc/prd.json'), work(4)];
    await workspace.script(calls, '--max-iterations', '4').finished;
    await printed(workspace, 'tick', 'US-005');
    assert.match(
      await printed(workspace, 'rollback', '2', '--dry-run'),
      /^Would no longer be marked as done, although the work stays: US-001, US-005\./m,
    );
    assert.equal((await workspace.done()).length, 5);
    assert.match(
      await printed(workspace, 'rollback', '2'),
      /^No longer marked as done, although the work stays: US-001, US-005\. .*: ralph-fresh tick ID$/m,
    );
    assert.deepEqual(await workspace.done(), []);
    assert.equal(await git(workspace, 'status', '--porcelain'), '');
    assert.equal(existsSync(path.join(workspace.folder, '2.txt')), false);
    assert.equal(existsSync(path.join(workspace.folder, '1.txt')), true);
    await git(workspace, 'revert', '--no-edit', 'HEAD');
    assert.equal(existsSync(path.join(workspace.folder, '2.txt')), true);
  });

  inAll(test)(
    'opens the stories of a list that stays where no iteration has changed it',
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      await workspace.script([work(1), work(2)]).finished;
      const { reopened } = await json(workspace, 'rollback', '1');
      assert.deepEqual(reopened, ['US-001', 'US-002']);
      assert.deepEqual(await workspace.done(), []);
      assert.equal(await git(workspace, 'status', '--porcelain'), '');
      const again = await workspace.script([['work'], ['work']]).finished;
      assert.equal(again.code, 0, again.stderr);
      const done = (await workspace.events('story.changed')).map(({ storyId }) => storyId);
      assert.deepEqual(done, ['US-001', 'US-002'], 'the next run does them again');
    },
  );

  test('is completed by repeating it if it is killed after its commit', posix, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.script([work(1), work(2)]).finished;
    const hook = path.join(workspace.folder, '.git', 'hooks', 'post-merge');
    await mkdir(path.dirname(hook), { recursive: true });
    await writeFile(hook, '#!/bin/sh\nkill -9 $(ps -o ppid= -p $PPID)\n', { mode: 0o755 });
    assert.equal((await workspace.cli('rollback', '2').finished).signal, 'SIGKILL');
    await rm(hook);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    const head = (await git(workspace, 'rev-parse', 'HEAD')).trim();
    assert.match(
      await printed(workspace, 'rollback', '2', '--dry-run'),
      /^Would be open again: US-002\.$/m,
    );
    const { commit, files, reopened } = await json(workspace, 'rollback', '2');
    assert.deepEqual([commit, files, reopened], [head, 1, ['US-002']]);
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.equal((await workspace.events('run.rolledBack')).length, 1);
    assert.match(await printed(workspace, 'rollback', '2'), /^Nothing to do/);
    // The same message alone, on another commit, is not the same rollback.
    await workspace.write('own.txt', 'mine');
    await git(workspace, 'add', 'own.txt');
    await git(workspace, 'commit', '--quiet', '--amend', '--no-edit');
    assert.match(await printed(workspace, 'rollback', '2'), /takes 1 file back .*: own\.txt\./);
  });

  inAll(test)(
    'opens the stories of a list that stays, also if ticks are not committed',
    async t => {
      const workspace = await Workspace.create(t, { stories: undefined });
      await mkdir(path.join(workspace.folder, 'plans'));
      await workspace.write('plans/work.md', '- [ ] US-001: One\n- [ ] US-002: Two\n');
      const file = ['--file', 'plans/work.md'] as const;
      const work = (name: string) => [{ write: [name, name] }, { tickAny: ['plans/work.md'] }];
      await workspace.script(
        [
          [...work('one.txt'), { commit: 'One' }],
          [{ write: ['two.txt', 'two'] }, { commit: 'Two' }, { tickAny: ['plans/work.md'] }],
        ],
        ...file,
      ).finished;
      assert.match(await workspace.read('plans/work.md'), /\[x\] US-001.*\n.*\[x\] US-002/);
      assert.match(await git(workspace, 'status', '--porcelain'), /^ M plans\/work\.md$/m);
      await printed(workspace, 'rollback', '1');
      assert.equal(await workspace.read('plans/work.md'), '- [ ] US-001: One\n- [ ] US-002: Two\n');
      assert.equal(await git(workspace, 'status', '--porcelain'), '');
    },
  );

  test('uses the committer from the environment, and handles a story file that is not in git', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await workspace.write('.gitignore', '.omc/\n');
    await git(workspace, 'add', '--all');
    await git(workspace, 'commit', '--quiet', '--message', 'Ignore');
    await workspace.write('.omc/prd.json', JSON.stringify({ userStories: openStories(2) }));
    await workspace.run('succeeds', '--verify', 'true').finished;
    const states = async () => {
      const { stories } = await json(workspace, 'stories');
      return stories.map(({ state }: { state: string }) => state);
    };
    assert.deepEqual(await states(), ['verified', 'verified']);
    const [first = '', second = ''] = (await workspace.events('commit.recorded')).map(
      ({ hash }) => hash,
    );
    const rolled = await workspace.cliWith(
      {
        ...{ GIT_AUTHOR_NAME: 'An Author', GIT_AUTHOR_EMAIL: 'author@example.com' },
        ...{ GIT_COMMITTER_NAME: 'A Committer', GIT_COMMITTER_EMAIL: 'committer@example.com' },
      },
      ...['rollback', '2'],
    ).finished;
    assert.deepEqual([rolled.code, rolled.stderr], [0, '']);
    assert.match(rolled.stdout, /prd\.json is not in git.*still marked as done.*untick/);
    assert.equal(
      await git(workspace, 'log', '-1', '--format=%an, %cn'),
      'An Author, A Committer\n',
    );
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    assert.deepEqual(await states(), ['verified', 'done'], 'what was checked is gone');
    const { commits, reopened, takenBack } = await json(workspace, 'revert', 'US-002', '--dry-run');
    assert.deepEqual([commits, takenBack, reopened], [[], [second], ['US-002']]);
    assert.equal(
      await printed(workspace, 'revert', 'US-002'),
      `Reopened: US-002\nTaken back already, and left out: ${second.slice(0, 7)}\n`,
    );
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.deepEqual((await json(workspace, 'revert', 'US-001', '--dry-run')).commits, [first]);
    await git(workspace, 'revert', '--no-edit', 'HEAD');
    assert.deepEqual((await json(workspace, 'revert', 'US-002', '--dry-run')).commits, [second]);
  });

  test('refuses an unknown iteration, and a dirty work tree', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.run('succeeds').finished;
    await refused(workspace, 64, /no iteration 9\. It has 1-2\./, 'rollback', '9');
    await workspace.write('US-001.txt', 'mine\n');
    await refused(workspace, 1, /uncommitted changes in US-001\.txt/, 'rollback', '1');
    assert.equal(await workspace.read('US-001.txt'), 'mine\n');
    assert.equal(existsSync(workspace.files.lockFile), false);
  });

  inAll(test)('works although a story was set back to not done', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.run('succeeds').finished;
    await printed(workspace, 'untick', 'US-002');
    assert.match(await git(workspace, 'status', '--porcelain'), /^ M \.omc\/prd\.json$/m);
    assert.match(await printed(workspace, 'rollback', '1'), /: \.omc\/prd\.json, /);
    assert.equal(await git(workspace, 'status', '--porcelain'), '');
    assert.deepEqual(await workspace.done(), []);
  });

  test('reports that there is nothing to go back to before the first commit', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await rm(path.join(workspace.folder, '.git'), { recursive: true });
    await git(workspace, 'init', '--quiet');
    await git(workspace, 'config', 'user.name', 'A Person');
    await git(workspace, 'config', 'user.email', 'person@example.com');
    await workspace.run('succeeds').finished;
    await refused(
      workspace,
      64,
      /Iteration 1 of run .* began before the first commit/,
      'rollback',
      '1',
    );
    await refused(
      workspace,
      64,
      /no iteration 9\. It has 2\. Iteration 1 began before the first commit, so there is nothing to go back to\.$/m,
      'rollback',
      '9',
    );
  });

  test('is refused while a loop is active', async t => {
    const workspace = await Workspace.create(t);
    const cli = await waitingRun(workspace);
    await refused(workspace, 1, /already active.*ralph-fresh stop/, 'rollback', '1');
    await workspace.note('go');
    assert.equal((await cli.finished).code, 0);
  });
});

describe('doctor', { concurrency: 4 }, () => {
  /** What was found, by the name of what was looked at. */
  async function examine(
    workspace: Workspace,
    extra: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ) {
    const { code, stdout, stderr } = await workspace.cliWith(extra, 'doctor', '--json', ...args)
      .finished;
    assert.equal(stderr, '');
    const { ok, checks } = JSON.parse(stdout);
    assert.equal(ok, code === 0);
    const found = new Map<string, string>(
      checks.map(({ id, level }: { id: string; level: string }) => [id, level]),
    );
    return { code, stdout, level: (id: string) => found.get(id) };
  }

  /** A `claude` that only tells its version. */
  async function claude(workspace: Workspace, words = '2.1.330 (Claude Code)'): Promise<string> {
    const file = path.join(workspace.notesDir, 'claude');
    await writeFile(file, `#!/bin/sh\necho '${words}'\n`, { mode: 0o755 });
    return file;
  }

  test('finds no problem in a folder that is ready for a run', posix, async t => {
    const workspace = await Workspace.create(t);
    const file = await claude(workspace);
    const found = await examine(workspace, {}, '--claude-path', file, '--verify', 'true');
    assert.equal(found.code, 0);
    for (const id of ['node', 'git', 'claude', 'payer', 'stories', 'leftovers', 'state']) {
      assert.equal(found.level(id), 'ok', id);
    }
    assert.equal(found.level('verify'), 'ok');
    const { code, stdout } = await workspace.cli('doctor', '--claude-path', file).finished;
    assert.equal(code, 0);
    assert.match(stdout, /^✓ Claude Code 2\.1\.330, /m);
    assert.match(stdout, /^✓ .*prd\.json: 0 of 2 stories complete$/m);
    assert.match(stdout, /^! No checks are set.* --verify/m);
    // Looking leaves nothing behind.
    assert.equal(existsSync(workspace.files.stateDir), false);
  });

  test(
    'warns of a program without a version, with which a run starts, and refuses one that cannot be started',
    posix,
    async t => {
      const workspace = await Workspace.create(t);
      const file = path.join(workspace.notesDir, 'wrapper');
      for (const script of ['#!/bin/sh\nexit 0\n', '#!/bin/sh\nexit 1\n']) {
        await writeFile(file, script, { mode: 0o755 });
        const found = await examine(workspace, {}, '--claude-path', file);
        assert.deepEqual([found.code, found.level('claude')], [0, 'warning'], script);
        const args = ['run', '--dry-run', '--claude-path', file];
        assert.equal((await workspace.cli(...args).finished).code, 0);
      }
      await writeFile(file, '#!/nowhere/sh\n');
      const found = await examine(workspace, {}, '--claude-path', file);
      assert.deepEqual([found.code, found.level('claude')], [1, 'error']);
    },
  );

  test('shows who pays, but no secrets', posix, async t => {
    const workspace = await Workspace.create(t);
    const file = await claude(workspace);
    const secret = 'sk-ant-very-secret-42';
    const env = { ANTHROPIC_API_KEY: secret };
    const found = await examine(workspace, env, '--claude-path', file);
    assert.deepEqual([found.code, found.level('payer')], [0, 'warning']);
    assert.match(found.stdout, /ANTHROPIC_API_KEY is set/);
    assert.doesNotMatch(found.stdout, /very-secret/);
    const args = ['--claude-path', file, '--api-key', 'remove'];
    assert.equal((await examine(workspace, env, ...args)).level('payer'), 'ok');
  });

  test('no account pays for the demo agent; another program decides itself who pays', async t => {
    const workspace = await Workspace.create(t);
    const env = { ANTHROPIC_API_KEY: 'sk' };
    const payer = async (...args: string[]) =>
      JSON.parse((await examine(workspace, env, '--only', 'payer', ...args)).stdout).checks[0];
    const demo = await payer('--agent', 'demo');
    assert.deepEqual([demo.level, demo.facts], ['ok', { payer: 'none' }]);
    assert.match(demo.message, /demo agent costs nothing/);
    const other = await payer('--preset', 'codex');
    assert.deepEqual([other.level, other.facts], ['ok', undefined]);
    assert.match(other.message, /determines who pays/);
  });

  test('--only limits the checks, and their facts are data', posix, async t => {
    const workspace = await Workspace.create(t);
    const file = await claude(workspace);
    const args = ['--only', 'claude,payer', '--claude-path', file];
    const { stdout } = await examine(workspace, { ANTHROPIC_API_KEY: 'sk' }, ...args);
    const { checks } = JSON.parse(stdout);
    assert.deepEqual(
      checks.map(({ id, facts }: { id: string; facts?: object }) => [id, facts]),
      [
        ['claude', { agent: 'claude', file, version: '2.1.330' }],
        ['payer', { payer: 'apiKey', variable: 'ANTHROPIC_API_KEY' }],
        ['settings', undefined],
      ],
    );
    await refused(workspace, 64, /no check "nothing".*claude/, 'doctor', '--only', 'nothing');
  });

  test('who pays is unknown without Claude Code', async t => {
    const workspace = await Workspace.create(t);
    const gone = ['--claude-path', path.join(workspace.folder, 'no-such-claude')];
    const { stdout } = await workspace.cli('doctor', ...gone).finished;
    assert.match(stdout, /^! Who pays is not known yet, since Claude Code was not found\.$/m);
    assert.doesNotMatch(stdout, /logged in/);
    const env = { ANTHROPIC_API_KEY: 'sk' };
    const keyed = await workspace.cliWith(env, 'doctor', ...gone, '--only', 'payer').finished;
    assert.match(keyed.stdout, /^! The API account pays/m);
    const kept = await examine(workspace, env, ...gone, '--api-key', 'remove', '--only', 'payer');
    assert.equal(kept.level('payer'), 'warning');
  });

  test('looks for the program of another agent where a run does', posix, async t => {
    const workspace = await Workspace.create(t);
    const told = async (...args: readonly string[]) =>
      (await workspace.cli('doctor', '--only', 'command', ...args).finished).stdout;
    assert.match(await told('--preset', 'codex'), /^✗ codex was not found on PATH .*Install it/m);
    const folder = path.join(workspace.env['HOME'] ?? '', '.local/bin');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'codex'), '#!/bin/sh\n', { mode: 0o755 });
    assert.match(await told('--preset', 'codex'), /^✓ The agent is .*\/\.local\/bin\/codex$/m);
    await workspace.write('agent.sh', '#!/bin/sh\n');
    assert.match(await told('--command', './agent.sh'), /^✗ .*must be executable/m);
    assert.match(await told('--command', 'sh'), /^✓ The agent is \/.*\/sh$/m);
    // Also if a settings file cannot be used.
    await workspace.write('.omc/config.json', '{ "verfy": ["npm test"] }');
    assert.match(await told('--command', 'sh'), /^✓ The agent is \/.*\/sh$/m);
  });

  test('reports everything that must be fixed', async t => {
    const workspace = await Workspace.create(t, { prd: BROKEN, git: false });
    await mkdir(workspace.files.stateDir, { recursive: true });
    await writeFile(path.join(workspace.files.stateDir, 'swarm-state.json'), '{"active":true}');
    await workspace.write('.omc/config.json', '{ "maxIterations": "many" }');
    const args = ['--claude-path', path.join(workspace.folder, 'no-such-claude')];
    const found = await examine(workspace, {}, ...args);
    assert.equal(found.code, 1);
    for (const id of ['git', 'claude', 'stories', 'otherModes', 'settings']) {
      assert.equal(found.level(id), 'error', id);
    }
    const { stdout } = await workspace.cli('doctor', ...args).finished;
    assert.match(stdout, /^✗ .*prd\.json: Line 3: /m);
    assert.match(stdout, /^✗ The mode "swarm" .*cancel/m);
    assert.match(stdout, /^✗ .*git init/m);
  });

  test('explains how to create stories if there are none', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    assert.match(
      (await workspace.cli('doctor', '--only', 'stories').finished).stdout,
      /^✗ No story file was found\. .*ralph-fresh plan "your task" --write.*\.omc\/prd\.json.*--file/m,
    );
    for (const name of ['login', 'search']) {
      await mkdir(path.join(workspace.folder, 'specs', name), { recursive: true });
      await workspace.write(`specs/${name}/tasks.md`, '- [ ] T001 Begin\n');
    }
    assert.match(
      (await workspace.cli('doctor', '--only', 'stories').finished).stdout,
      /^✗ There are several story files .*such as --file specs/m,
    );
  });

  test('reports a stale lock, a stale state file and a state tracked by git', async t => {
    const workspace = await Workspace.create(t);
    const { files } = workspace;
    await mkdir(files.stateDir, { recursive: true });
    await writeFile(files.lockFile, '{"pid":999999999,"startId":"x","runId":"r"}');
    await writeFile(files.stateFile, '{"active":true}');
    await git(workspace, 'add', '--force', '.omc/state');
    const found = await examine(workspace, {}, '--agent', 'demo');
    assert.deepEqual(
      [found.code, found.level('leftovers'), found.level('tracked')],
      [0, 'warning', 'warning'],
    );
    const { stdout } = await workspace.cli('doctor', '--agent', 'demo').finished;
    assert.match(stdout, /^! .*ralph-fresh-lock\.json and .*ralph-fresh-state\.json/m);
    assert.match(stdout, /^! git tracks .*git rm -r --cached \.omc\/state/m);
  });
});

describe('wrong command arguments', { concurrency: 4 }, () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['tick'], /missing required argument 'id'.*--help/],
    [['tick', 'a', 'b'], /too many arguments.*--help/],
    [['stories', '--cwd', 'no-such-folder'], /There is no folder/],
    [['next', '--fast'], /unknown option '--fast'.*--help/],
    [['hint', ' '], /The text is empty/],
    [['hint'], /missing required argument 'text'/],
    [['answer', ''], /The text is empty/],
    [['hint', 'use', 'tabs'], /^ralph-fresh: A text .* quotes .*: ralph-fresh hint "use tabs"\n$/],
    [
      ['hint', 'cost:', '--story', 'US 1', '5$'],
      posix.skip
        ? /: ralph-fresh hint "--story=US 1" "cost: 5\$"\n$/
        : /: ralph-fresh hint "--story=US 1" 'cost: 5\$'\n$/,
    ],
    [['answer', '--', '-1', 'is', 'right'], /: ralph-fresh answer -- "-1 is right"\n$/],
    [['plan', 'a', 'login', 'page'], /: ralph-fresh plan "a login page"\n$/],
    [
      ['run', 'Fix it', '--verify', 'npm', 'run', 'test'],
      /: ralph-fresh run "Fix it" --verify "npm run test"\n$/,
    ],
    [
      ['run', '--verify', 'npm', 'test'],
      /^ralph-fresh: Does "test" belong to --verify\? .*: --verify "npm test"\. .*: ralph-fresh run "test" --verify "npm"\n$/,
    ],
    [['run', '--verify=npm', 'test'], /Does "test" belong to --verify/],
    [['run', '--completion-promise', 'ALL', 'DONE'], /--completion-promise "ALL DONE"/],
    [
      ['run', '--command', 'my-agent', 'print'],
      /Does "print" belong to --command\?.*--command-arg "print"/,
    ],
    [['run', '--tasks', 'Login', 'page'], /--tasks "Login page"/],
    [['plan', '--verify', 'npm', 'test'], /--verify "npm test"/],
    [['go', '1', '--verify', 'npm', 'test'], /: ralph-fresh go 1 --verify "npm test"\n$/],
    [['doctor', '--verify', 'npm', 'test'], /: ralph-fresh doctor --verify "npm test"\n$/],
    [['split', 'US-001', '--hint', 'by', 'page'], /: ralph-fresh split US-001 --hint "by page"\n$/],
    [['places', 'discard'], /'story'\. See "ralph-fresh places discard --help"\.\n$/],
    [
      ['discovered', 'accpt', 'x'],
      /unknown command 'accpt' \(Did you mean accept\?\)\. See "ralph-fresh discovered --help"\.\n$/,
    ],
    [['places', 'mine'], /unknown command 'mine'\. See "ralph-fresh places --help"\.\n$/],
    [['split', 'US-001', 'US-002'], /too many arguments for 'split'.*got 2.* See /],
    [['hint', 'x'.repeat(9_000)], /9000 characters.*at most 8000/],
    [['logs', '--iteration', 'x'], /whole number from 1/],
    [['logs', '--raw', '--json'], /--raw.*cannot be used with.*--json/],
    [['logs', '--run', '../..'], /not a run id/],
    [['receipt', '0'], /whole number from 1/],
    [['rollback'], /missing required argument 'iteration'/],
    [
      ['rollback', '1.5'],
      /^ralph-fresh: "1\.5" is not an iteration number\. Give a whole number from 1, such as "ralph-fresh rollback 1"\.\n$/,
    ],
    [
      ['go', 'x'],
      /^ralph-fresh: "x" is not a plan number\. Give a whole number from 1, such as "ralph-fresh go 1"\.\n$/,
    ],
    [
      ['run', '--budget', 'abc'],
      /"--budget" is "abc"\. It must be an amount of US dollars above 0, such as 5 or 2\.50\.\n$/,
    ],
    [['doctor', '--agent', 'nobody'], /--agent.*claude/],
    [['skip', 'a\u001b[31m', 'b'], /too many arguments/],
  ];
  for (const [args, message] of wrong) {
    test(`${args.join(' ').slice(0, 40)}: exit code 64`, async t => {
      const workspace = await Workspace.create(t, { git: false });
      await refused(workspace, 64, message, ...args);
      assert.deepEqual(await workspace.runIds(), []);
    });
  }
});
