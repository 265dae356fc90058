import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { launchPlan } from '../../src/orchestrator/planner/launchPlan.ts';
import { writePlan } from '../../src/orchestrator/planner/writePlan.ts';
import { fakeAgent, isAlive, openStories, type Step, until, Workspace } from '../support/ralph.ts';

const CLI = path.resolve(import.meta.dirname, '../../src/cli.ts');

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
  test('prints the draft and leaves no trace but the state folder', async t => {
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

  test('--json gives the whole text; --write writes just that and archives what was there', async t => {
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

  test('a plan that stays bad ends with what is wrong', async t => {
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

  test('--write waits for no run: it is refused', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const run = workspace.script([['stay']]);
    await workspace.agent();
    const { code, stderr } = await plan(workspace, [[draft()], [draft()]], '--write', 'x').finished;
    assert.equal(code, 1);
    assert.match(stderr, /A run is going on in this folder/);
    run.child.kill('SIGINT');
    await run.finished;
  });
});

describe('the demo agent', { concurrency: 2 }, () => {
  const sample = path.resolve(import.meta.dirname, '../../sample');
  const demo = (workspace: Workspace) =>
    workspace.cliWith({ RALPH_FRESH_DEMO_PACE_MS: '0' }, 'plan', '--agent', 'demo', 'Anything');

  test('plans the stories of the sample, those that it can play back', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await cp(path.join(sample, 'package.json'), path.join(workspace.folder, 'package.json'));
    const { code, stderr, stdout } = await demo(workspace).finished;
    assert.equal(code, 0, stderr);
    const { originalTask, ...plan } = JSON.parse(stdout);
    assert.equal(originalTask, 'Anything');
    assert.deepEqual(plan, JSON.parse(await readFile(path.join(sample, '.omc/prd.json'), 'utf8')));
  });

  test('says so in another project', async t => {
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

  test('gives the draft, whatever the task looks like', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const found = await launch(workspace, [[draft()]], new AbortController().signal);
    assert.ok(found);
    assert.equal(JSON.parse(found.text).originalTask, '-- Build "it" --write');
    assert.equal(found.storyFile, path.join(workspace.folder, '.omc', 'prd.json'));
    assert.equal(existsSync(found.storyFile), false);
  });

  test('cancelled, it ends the agent too, and nothing is left', async t => {
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

  test('fails in the planner’s own words', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await assert.rejects(
      launch(workspace, [[draft({ branchName: 'a b' })]], new AbortController().signal),
      /no valid plan in 3 tries: .*branch/,
    );
  });
});

test('a plan is not written over a file that has changed since it was made', async t => {
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
