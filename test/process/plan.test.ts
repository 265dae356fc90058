import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { HumanError } from '../../src/base/humanError.ts';
import { launchPlan } from '../../src/orchestrator/planner/launchPlan.ts';
import { writePlan } from '../../src/orchestrator/planner/writePlan.ts';
import { builtCli } from '../support/builtCli.ts';
import { fakeAgent, isAlive, openStories, type Step, until, Workspace } from '../support/ralph.ts';
import { translationInto } from '../support/translations.ts';

const CLI = builtCli();
const FULL_DISK = pathToFileURL(path.resolve(import.meta.dirname, '../support/fullDisk.mjs')).href;

const draft = (change: object = {}): Step => ({
  result: [
    `\`\`\`json\n${JSON.stringify({
      ...{ project: 'Planned', branchName: 'ralph/planned', description: 'What was asked' },
      userStories: openStories(2),
      ...change,
    })}\n\`\`\``,
  ],
});

const scripted = [
  '--agent',
  'claude',
  '--claude-path',
  fakeAgent('scripted'),
  '--retry-delay',
  '0.01',
];

function plan(workspace: Workspace, script: readonly (readonly Step[])[], ...args: string[]) {
  return workspace.cliWith(
    { FAKE_AGENT_SCRIPT: JSON.stringify(script) },
    ...['plan', ...scripted, ...args],
  );
}

describe('ralph-fresh plan', { concurrency: 3 }, () => {
  test('prints the draft and leaves only the state folder behind', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const before = await workspace.read('.omc/prd.json');
    const { code, stderr, stdout } = await plan(workspace, [[draft()]], 'Build it').finished;
    assert.equal(code, 0, stderr);
    const printed = JSON.parse(stdout);
    assert.deepEqual([printed.project, printed.originalTask], ['Planned', 'Build it']);
    assert.equal(await workspace.read('.omc/prd.json'), before);
    assert.deepEqual(await workspace.runIds(), []);
    assert.deepEqual(await readdir(path.join(workspace.files.stateDir, 'plan')), []);
    assert.equal(existsSync(path.join(workspace.folder, '.omc/archive')), false);
  });

  test('--json prints the full text; --write writes exactly that and archives the old file', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const before = await workspace.read('.omc/prd.json');
    const { code, stderr, stdout } = await plan(
      workspace,
      [[draft()]],
      '--json',
      '--write',
      'Build it',
    ).finished;
    assert.equal(code, 0, stderr);
    const { archived, attempts, costUsd, stories, text } = JSON.parse(stdout);
    assert.deepEqual([stories, attempts, typeof costUsd], [2, 1, 'number']);
    assert.equal(await workspace.read('.omc/prd.json'), text);
    assert.equal(await workspace.read(path.join(archived, 'prd.json')), before);
  });

  test('--write on a full disk keeps the old files, with copies only of what was replaced', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const before = await workspace.read('.omc/prd.json');
    await workspace.write('.omc/progress.txt', 'learned');
    const write = async (full: string) => {
      const env = { NODE_OPTIONS: `--import=${FULL_DISK}`, FULL_DISK_OF: full };
      const script = { FAKE_AGENT_SCRIPT: JSON.stringify([[draft()]]) };
      const args = ['plan', ...scripted, '--write', 'Build it'];
      const { code, stderr } = await workspace.cliWith({ ...env, ...script }, ...args).finished;
      assert.equal(code, 1);
      assert.match(stderr, /ralph-fresh: No space is left on the disk \(ENOSPC\).*Free some/);
      assert.equal(await workspace.read('.omc/progress.txt'), 'learned');
      return readdir(path.join(workspace.folder, '.omc/archive'));
    };
    for (const full of ['^progress.txt$', '^prd.json.ralph-fresh.tmp$']) {
      assert.deepEqual(await write(full), []);
      assert.equal(await workspace.read('.omc/prd.json'), before);
    }
    const [kept = '', ...others] = await write('^progress.txt.ralph-fresh.tmp$');
    assert.deepEqual(others, []);
    assert.equal(await workspace.read(`.omc/archive/${kept}/prd.json`), before);
    assert.notEqual(await workspace.read('.omc/prd.json'), before);
  });

  test('a plan that stays invalid ends with the problems', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const { code, stderr, stdout } = await plan(
      workspace,
      [[draft({ userStories: [] })]],
      '--write',
      'x',
    ).finished;
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^ralph-fresh: The planning agent gave no valid plan in 3 tries/);
    assert.equal(existsSync(path.join(workspace.folder, '.omc/prd.json')), false);
  });

  test('a problem that repeats in every attempt is reported once', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const words: readonly Step[] = [{ result: ['I have no plan.'] }];
    for (const command of ['plan', 'split']) {
      const { code, stderr } = await workspace.cliWith(
        { FAKE_AGENT_SCRIPT: JSON.stringify([words]) },
        ...[command, ...scripted, 'US-001'],
      ).finished;
      assert.equal(code, 1);
      assert.match(stderr, /in 3 tries.*: The answer contains no JSON object\. /);
      assert.equal(stderr.split('contains no JSON object').length, 2, stderr);
    }
  });

  test('a program that could write files is refused as planner', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const program = ['--command', fakeAgent('scripted')];
    for (const command of [
      ['plan', 'Build it'],
      ['split', 'US-001'],
    ]) {
      const { code, stderr } = await workspace.cli(...command, ...program).finished;
      assert.equal(code, 1);
      assert.match(stderr, /^ralph-fresh: A planner uses read-only tools, .*--agent/);
    }
    assert.deepEqual(await workspace.agents(), []);
  });

  test('--write is refused while a run is active', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const run = workspace.script([['stay']]);
    await workspace.agent();
    const { code, stderr } = await plan(workspace, [[draft()], [draft()]], '--write', 'x').finished;
    assert.equal(code, 1);
    assert.match(stderr, /A run is active in this folder.*ralph-fresh stop/);
    run.child.kill('SIGINT');
    await run.finished;
  });
});

// Without signals there is no kill -9, and without an environment to search only the agent's own tree is ended.
describe('a killed planner', { skip: process.platform === 'win32' }, () => {
  const planDir = (workspace: Workspace) => path.join(workspace.files.stateDir, 'plan');

  async function killed(t: TestContext, command: 'plan' | 'split', argument: string) {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const script = JSON.stringify([['stay'], [draft()]]);
    const planner = workspace.cliWith(
      { FAKE_AGENT_SCRIPT: script },
      ...[command, ...scripted, argument],
    );
    const agent = await workspace.agent();
    // The process that started it is known by then: the planner writes it down before it reads a line.
    const [folder = ''] = await readdir(planDir(workspace));
    await until('the agent in the folder', async () =>
      (await readFile(path.join(planDir(workspace), folder, 'processes.jsonl'), 'utf8')).includes(
        `${agent}`,
      ),
    );
    planner.child.kill('SIGKILL');
    await planner.finished;
    assert.ok(isAlive(agent), 'the agent outlives its planner');
    return { workspace, agent };
  }

  test('is ended by the next plan, which removes its folder', async t => {
    const { workspace, agent } = await killed(t, 'split', 'US-001');
    const { code, stderr } = await plan(workspace, [['stay'], [draft()]], 'Build it').finished;
    assert.equal(code, 0, stderr);
    assert.equal(isAlive(agent), false);
    assert.deepEqual(await readdir(planDir(workspace)), []);
  });

  test('is also ended by the next run; an active planner is left alone', async t => {
    const { workspace, agent } = await killed(t, 'plan', 'Build it');
    const other = plan(workspace, [['stay'], ['stay']], 'Build it, too');
    const living = await workspace.agent(2);
    assert.equal(isAlive(agent), false);
    const run = workspace.script([['stay'], ['stay'], ['work']]);
    assert.equal((await run.finished).code, 0, (await run.finished).stderr);
    assert.ok(isAlive(living));
    assert.equal((await readdir(planDir(workspace))).length, 1);
    other.child.kill('SIGINT');
    await other.finished;
    assert.deepEqual(await readdir(planDir(workspace)), []);
  });

  test('is reported by doctor, and stop ends its processes', async t => {
    const { workspace, agent } = await killed(t, 'plan', 'Build it');
    const doctor = await workspace.cli('doctor', '--only', 'leftovers').finished;
    assert.match(doctor.stdout, /! A planner was killed.*"ralph-fresh stop" ends it now/s);
    assert.ok(isAlive(agent), 'doctor changes nothing');
    const stop = await workspace.cli('stop').finished;
    assert.equal(stop.code, 0, stop.stderr);
    assert.match(
      stop.stdout,
      /A planner had been killed\. The processes that it left running were ended\./,
    );
    assert.equal(isAlive(agent), false);
    assert.deepEqual(await readdir(planDir(workspace)), []);
    assert.doesNotMatch(
      (await workspace.cli('doctor', '--only', 'leftovers').finished).stdout,
      /planner/,
    );
  });

  test('a forged folder does not end processes of others', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const stranger = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
    t.after(() => stranger.kill('SIGKILL'));
    const folder = path.join(planDir(workspace), '2026-01-01T00-00-00-000-aaaaaa');
    await mkdir(folder, { recursive: true });
    const lines = [
      { pid: 2 ** 22 + 1, startId: 'gone:1' },
      { pid: stranger.pid },
      { pid: stranger.pid, startId: 'another-boot:1' },
    ];
    await writeFile(
      path.join(folder, 'processes.jsonl'),
      lines.map(one => `${JSON.stringify(one)}\n`).join(''),
    );
    const stop = await workspace.cli('stop').finished;
    assert.match(stop.stdout, /A planner had been killed/);
    assert.ok(isAlive(stranger.pid ?? 0));
    assert.equal(existsSync(folder), false);
  });

  test('a folder from the repository is left alone', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const file = path.join(planDir(workspace), '2026-01-01T00-00-00-000-aaaaaa', 'processes.jsonl');
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify({ pid: 2 ** 22 + 1, startId: 'gone:1' })}\n`);
    await promisify(execFile)('git', ['add', '-f', file], {
      cwd: workspace.folder,
      env: workspace.env,
    });
    const stop = await workspace.cli('stop').finished;
    assert.deepEqual([stop.code, stop.stdout], [0, 'No run is active in this folder.\n']);
    assert.ok(existsSync(file));
  });
});

describe('the demo agent', { concurrency: 2 }, () => {
  const sample = path.resolve(import.meta.dirname, '../../sample');
  const demo = (workspace: Workspace) =>
    workspace.cliWith({ RALPH_FRESH_DEMO_PACE_MS: '0' }, 'plan', '--agent', 'demo', 'Anything');

  test('plans the stories of the sample, which it can play back', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await cp(path.join(sample, 'package.json'), path.join(workspace.folder, 'package.json'));
    const { code, stderr, stdout } = await demo(workspace).finished;
    assert.equal(code, 0, stderr);
    const { originalTask, ...plan } = JSON.parse(stdout);
    assert.equal(originalTask, 'Anything');
    assert.deepEqual(plan, JSON.parse(await readFile(path.join(sample, '.omc/prd.json'), 'utf8')));
  });

  test('refuses other projects', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const { code, stderr } = await demo(workspace).finished;
    assert.equal(code, 1);
    assert.match(stderr, /The planning agent failed: The demo agent only plays back prepared work/);
  });
});

describe('launchPlan', { concurrency: 3 }, () => {
  const launch = (
    workspace: Workspace,
    script: readonly (readonly Step[])[],
    signal: AbortSignal,
  ) =>
    launchPlan({
      files: workspace.files,
      program: CLI,
      task: '-- Build "it" --write',
      args: scripted,
      env: {
        ...workspace.env,
        NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
        FAKE_AGENT_SCRIPT: JSON.stringify(script),
      },
      signal,
    });

  test('returns the draft, whatever the task looks like', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const found = await launch(workspace, [[draft()]], new AbortController().signal);
    assert.ok(found);
    assert.equal(JSON.parse(found.text).originalTask, '-- Build "it" --write');
    assert.equal(found.storyFile, path.join(workspace.folder, '.omc', 'prd.json'));
    assert.equal(existsSync(found.storyFile), false);
  });

  test('ends the agent and leaves nothing behind when cancelled', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const controller = new AbortController();
    const launched = launch(workspace, [['stay']], controller.signal);
    const pid = await workspace.agent();
    assert.ok(isAlive(pid));
    controller.abort();
    assert.equal(await launched, undefined);
    await until('the end of the agent', () => !isAlive(pid));
    assert.deepEqual(await readdir(path.join(workspace.files.stateDir, 'plan')), []);
  });

  test('fails with the planner’s own message', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await assert.rejects(
      launch(workspace, [[draft({ branchName: 'a b' })]], new AbortController().signal),
      (error: unknown) => {
        assert.ok(error instanceof HumanError);
        assert.match(error.message, /^The planning agent gave no valid plan in 3 tries: .*branch/);
        const german = translationInto('de').said(error.said);
        assert.match(german, /^Der planende Agent hat in 3 Versuchen .*Git-Branch/);
        return true;
      },
    );
  });
});

test('a plan is not written over a file that has changed since', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  const storyFile = path.join(workspace.folder, '.omc/prd.json');
  const text = await workspace.read('.omc/prd.json');
  const write = (before: { text: string | undefined }) =>
    writePlan({ files: workspace.files, storyFile, content: '{}\n', before });
  for (const before of [{ text: `${text} ` }, { text: undefined }]) {
    await assert.rejects(write(before), /has changed since the plan was made/);
    assert.equal(await workspace.read('.omc/prd.json'), text);
  }
  const { archived } = await write({ text });
  assert.equal(await workspace.read('.omc/prd.json'), '{}\n');
  assert.equal(await workspace.read(path.join(archived ?? '', 'prd.json')), text);
});
