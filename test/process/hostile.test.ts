import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { recordTick } from '../../src/orchestrator/loop/tickStory.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { builtCli } from '../support/builtCli.ts';
import { cleanEnv, gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { isRunning } from '../support/journals.ts';

const cli = builtCli();
const succeeds = path.resolve(import.meta.dirname, '..', 'support', 'fakeAgents', 'succeeds.mjs');
const RUN_ID = '2026-01-01T00-00-00-000-aaaaaa';

// A repository can ship any file at the places of our state.
describe('a hostile .omc/state', { skip: process.platform === 'win32' }, () => {
  let temp: TempDir;
  let files: RunFiles;

  beforeEach(async () => {
    temp = await tempDir('hostile-');
    files = new RunFiles(path.join(temp.path, 'project'));
    await mkdir(files.runDir(RUN_ID), { recursive: true });
    const userStories = [{ id: 'US-001', title: 'One', passes: false }];
    await writeFile(
      path.join(files.workspace, '.omc', 'prd.json'),
      JSON.stringify({ userStories }),
    );
    await writeFile(path.join(files.stateDir, '.gitignore'), '*\n');
    await gitRepo(files.workspace);
  });
  afterEach(() => temp.remove());

  async function ralph(
    ...args: string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const home = path.join(temp.path, 'home');
    await mkdir(home, { recursive: true });
    try {
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', cli, ...args, `--cwd=${files.workspace}`],
        { env: cleanEnv({ home }) },
      );
      return { code: 0, stdout, stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, stdout, stderr };
    }
  }

  const journal = (...events: object[]) =>
    writeFile(
      files.journalFile(RUN_ID),
      events.map((event, i) => `${JSON.stringify({ seq: i + 1, at: 'now', ...event })}\n`).join(''),
    );
  const started = {
    type: 'run.started',
    runId: RUN_ID,
    version: '0',
    pid: 1,
    agent: 'claude',
    mode: 'stories',
    task: '',
    maxIterations: 1,
    stuckThreshold: 1,
    stories: { done: 0, total: 1 },
  };
  const iteration = {
    type: 'iteration.started',
    iteration: 1,
    maxIterations: 1,
    stories: { done: 0, total: 1 },
    promptBytes: 0,
    handoffBytes: 0,
    stuckFor: 0,
  };

  const stopped = {
    type: 'run.ended',
    outcome: 'stopped',
    exitCode: 130,
    stories: { done: 0, total: 1 },
    iterations: 0,
  };

  it('a journal cannot make us kill a process of another run', async () => {
    const stranger = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
    const pid = stranger.pid ?? 0;
    try {
      for (const startId of [{}, { startId: 'another-boot:1' }]) {
        await journal(started, iteration, { type: 'agent.started', iteration: 1, pid, ...startId });
        const { stdout } = await ralph('stop');
        assert.match(stdout, /The loop had been killed/);
        assert.equal(await isRunning(pid), true);
      }
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it('links to devices and pipes are not treated as our files and block nothing', async () => {
    await symlink('/dev/zero', files.journalFile(RUN_ID));
    await symlink('/dev/zero', files.lockFile);
    const { code, stdout } = await ralph('status');
    assert.deepEqual(
      [code, stdout],
      [0, 'No run in this folder yet. Start one with "ralph-fresh run".\n'],
    );
    await rm(files.journalFile(RUN_ID));
    await promisify(execFile)('mkfifo', [files.journalFile(RUN_ID)]);
    assert.equal((await ralph('status', '--json')).code, 0);
    const run = await ralph('run', `--claude-path=${succeeds}`);
    assert.equal(run.code, 1);
    assert.match(run.stderr, /ralph-fresh-lock\.json is a link/);
  });

  it('nothing is written through links', async () => {
    const victim = path.join(temp.path, 'victim');
    for (const place of [files.promptFile, files.stateFile, files.handoffFile]) {
      await writeFile(victim, 'line one\nlast line');
      await symlink(victim, place);
      const { code, stderr } = await ralph('run', `--claude-path=${succeeds}`);
      assert.equal(code, 1);
      assert.match(stderr, /is a link/);
      assert.equal(await readFile(victim, 'utf8'), 'line one\nlast line');
      await rm(place);
    }
    await symlink(victim, files.journalFile(RUN_ID));
    await recordTick(files, { id: 'US-001', title: 'US-001' }, true).catch(() => undefined);
    assert.equal(await readFile(victim, 'utf8'), 'line one\nlast line');
  });

  it('the folders of a shipped run are never links when it continues', async () => {
    const outside = path.join(temp.path, 'outside');
    const prdFile = path.join(files.workspace, '.omc', 'prd.json');
    const prd = await readFile(prdFile);
    for (const place of ['iterations', 'iterations/1', 'iterations/2']) {
      await rm(files.runsDir, { recursive: true, force: true });
      await rm(outside, { recursive: true, force: true });
      await mkdir(outside);
      const link = path.join(files.runDir(RUN_ID), place);
      await mkdir(path.dirname(link), { recursive: true });
      await writeFile(path.join(files.workspace, '.omc', 'prd.json'), prd);
      await journal({ ...started, maxIterations: 9, storyFile: prdFile }, stopped);
      await symlink(outside, link);
      const { stderr } = await ralph('run', '--resume', `--claude-path=${succeeds}`);
      assert.doesNotMatch(stderr, /no run to resume|The last run/);
      assert.deepEqual(await readdir(outside), [], place);
    }
    const omc = path.join(files.workspace, '.omc');
    await rm(path.join(omc, 'state'), { recursive: true });
    await writeFile(path.join(omc, 'prd.json'), prd);
    await rename(omc, path.join(outside, 'omc'));
    await symlink(path.join(outside, 'omc'), omc);
    for (const args of [
      ['run', `--claude-path=${succeeds}`],
      ['tick', 'US-001'],
    ]) {
      const { code, stderr } = await ralph(...args);
      assert.match(stderr, /\.omc is a link|is a link out of the repository/, args[0]);
      assert.equal(code, 1);
    }
    assert.equal(existsSync(path.join(outside, 'omc', 'state')), false);
  });

  it('a journal whose sequence numbers are exhausted ends the run at once', async () => {
    const prdFile = path.join(files.workspace, '.omc', 'prd.json');
    await journal(
      { ...started, maxIterations: 9, storyFile: prdFile },
      { ...stopped, seq: Number.MAX_SAFE_INTEGER },
    );
    const { code, stdout, stderr } = await ralph('run', '--resume', `--claude-path=${succeeds}`);
    assert.equal(code, 1, stdout);
    assert.match(stderr, /journal .* is damaged; start a new run with --new/);
  });

  it('a lock cannot point outside or be held forever', async () => {
    await mkdir(path.join(temp.path, 'outside'));
    await writeFile(files.lockFile, JSON.stringify({ pid: 1, runId: '../../../../outside' }));
    assert.equal(JSON.parse((await ralph('status', '--json')).stdout).run, null);
    await writeFile(files.lockFile, JSON.stringify({ pid: 1, runId: RUN_ID }));
    assert.equal((await ralph('stop')).stdout, 'No run is active in this folder.\n');
    assert.equal(existsSync(path.join(temp.path, 'outside', 'inbox.jsonl')), false);
    assert.equal((await ralph('run', `--claude-path=${succeeds}`)).code, 0);
  });

  it('GIT_DIR in the environment does not redirect commits', async () => {
    const other = path.join(temp.path, 'other');
    const before = await gitRepo(other);
    const home = path.join(temp.path, 'home');
    await mkdir(home, { recursive: true });
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [cli, 'run', `--claude-path=${succeeds}`, `--cwd=${files.workspace}`],
      { env: cleanEnv({ home, extra: { GIT_DIR: path.join(other, '.git') } }) },
    );
    assert.match(stdout, /Commit [0-9a-f]{7}/);
    const head = await promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: other });
    assert.equal(head.stdout.trim(), before);
  });

  it('only one loop runs even without the lock file', async () => {
    const hangs = path.join(path.dirname(succeeds), 'hangs.mjs');
    const home = path.join(temp.path, 'home');
    await mkdir(home, { recursive: true });
    await rm(files.runsDir, { recursive: true });
    const first = spawn(
      process.execPath,
      [cli, 'run', `--claude-path=${hangs}`, `--cwd=${files.workspace}`],
      { env: cleanEnv({ home }), stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const ended = new Promise<number | null>(resolve => first.once('close', resolve));
    await new Promise<void>(resolve => {
      first.stdout.on('data', chunk => /Spawning/.test(String(chunk)) && resolve());
    });
    await rm(files.lockFile);
    const second = await ralph('run', `--claude-path=${succeeds}`);
    assert.equal(second.code, 1);
    // The first one may have taken its lock again meanwhile.
    assert.match(second.stderr, /still running here|already active in this folder/);
    assert.match((await ralph('status')).stdout, /Iteration 1\/20/);
    assert.match((await ralph('stop')).stdout, /Stopped/);
    assert.equal(await ended, 130);
  });
});
