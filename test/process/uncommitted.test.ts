import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { fakeAgent, openStories, type Step, until, Workspace } from '../support/ralph.ts';

const FULL_DISK = pathToFileURL(path.resolve(import.meta.dirname, '../support/fullDisk.mjs')).href;

const done: Step = { result: ['Done.'] };
/** The story without its commit. */
const tick = (id: string): Step[] => [{ write: [`${id}.txt`, 'work\n'] }, { tick: id }];
const tryToCommit: Step = { shell: 'git add -A && git commit --quiet -m "feat" || true' };

const LOCKS = ['index.lock', 'HEAD.lock', 'refs/heads/main.lock'];

/** Starts a git process that works in the folder until the end of the test. */
function gitAtWork(t: TestContext, folder: string): void {
  const child = spawn('git', ['cat-file', '--batch'], {
    ...{ cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] },
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.stdin?.end();
    await ended;
  });
}

describe('uncommitted work of a done story', { concurrency: 3 }, () => {
  for (const killed of ['loop', 'loop and agent']) {
    test(`can be committed after a kill of the ${killed} in the middle of a commit`, {
      skip: process.platform !== 'linux',
    }, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const lock = path.join(workspace.folder, '.git', 'index.lock');
      const first = workspace.script([[{ write: ['.git/index.lock', ''] }, 'stay']]);
      await until('the lock file', async () => existsSync(lock));
      first.child.kill('SIGKILL');
      await first.finished;
      if (killed !== 'loop') {
        const { pid } = await workspace.event('agent.started');
        process.kill(-Number(pid), 'SIGKILL');
      }
      const { code, stderr } = await workspace.script([['work']], '--resume').finished;
      assert.equal(code, 0, stderr);
      const removed = (await workspace.events('warning')).filter(
        event => event.code === 'gitLockRemoved',
      );
      assert.deepEqual(
        removed.map(({ detail }) => detail),
        [lock],
      );
    });
  }

  for (const name of process.platform === 'linux' ? LOCKS : []) {
    test(`can be committed after its git process was killed, which left ${name}`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const lock = path.join(workspace.folder, '.git', name);
      const first: Step[] = [{ write: [`.git/${name}`, ''] }, ...tick('US-001'), tryToCommit, done];
      const flags = ['--verify', 'git log --oneline HEAD -- US-001.txt'];
      const { code, stdout } = await workspace.script([first, ['work']], ...flags).finished;
      assert.equal(code, 0, stdout);
      assert.ok(stdout.includes(`Removed the lock file ${lock}.`), stdout);
      const removed = (await workspace.events('warning')).filter(
        event => event.code === 'gitLockRemoved',
      );
      assert.deepEqual(
        removed.map(({ detail, iteration }) => [detail, iteration]),
        [[lock, 1]],
      );
      assert.deepEqual(
        (await workspace.events('iteration.ended')).map(({ commits, outcome }) => [
          outcome,
          commits,
        ]),
        [
          ['storyDone', 0],
          ['storyDone', 1],
        ],
      );
      assert.match(await workspace.prompt(2), /There are uncommitted changes\*\*: `?US-001\.txt/);
    });
  }

  for (const name of LOCKS) {
    test(`is judged once the ${name} that keeps it from being committed is removed`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      // It may be the one that holds it.
      gitAtWork(t, workspace.folder);
      const lock = path.join(workspace.folder, '.git', name);
      const first: Step[] = [{ write: [`.git/${name}`, ''] }, ...tick('US-001'), tryToCommit, done];
      const flags = ['--verify', 'git log --oneline HEAD -- US-001.txt'];
      const { code, stdout } = await workspace.script([first, ['work']], ...flags).finished;
      assert.equal(code, 1, stdout);
      assert.ok(stdout.includes(`Since iteration 1, the lock file ${lock} is here`), stdout);
      const refused = await workspace.script([['work']], ...flags).finished;
      assert.equal(refused.code, 1, refused.stdout);
      assert.ok(refused.stderr.includes(`The lock file ${lock} is here`), refused.stderr);
      assert.match(refused.stderr, /no git process is running here, remove that file/);
      assert.equal((await workspace.agents()).length, 1);
      await rm(lock);
      const again = await workspace.script([['work']], ...flags).finished;
      assert.equal(again.code, 0, again.stdout + again.stderr);
      assert.match(
        again.stdout,
        /US-001 is done, but its changes are not committed: US-001\.txt\./,
      );
      assert.match(await workspace.prompt(2), /There are uncommitted changes\*\*: `?US-001\.txt/);
      assert.deepEqual(
        (await workspace.events('iteration.ended')).map(({ outcome }) => outcome),
        ['storyDone', 'storyDone'],
      );
    });
  }

  test('is reported with the disk, while it has almost no space left', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const env = { NODE_OPTIONS: `--import=${FULL_DISK}`, FULL_DISK_FREE: String(80 * 1024) };
    const script = { FAKE_AGENT_SCRIPT: JSON.stringify([[...tick('US-001'), done]]) };
    const run = workspace.cliWith(
      { ...env, ...script },
      ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted')],
    );
    const { code, stdout } = await run.finished;
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /US-001 is done, but its changes are not committed: US-001\.txt\. Only 80 KB are free on the disk, .* Free some space, and commit them\./,
    );
    assert.match((await workspace.cliWith(env, 'status').finished).stdout, /Only 80 KB are free/);
    const later = await workspace.cli('status').finished;
    assert.match(later.stdout, /US-001 is done, but .* such as a hook, and commit them/);
  });

  test('is not reported any more once a person has committed it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.script([
      [{ folder: 'new' }, { write: ['new/a.txt', 'work\n'] }, { tick: 'US-001' }, done],
    ]).finished;
    const status = async () => (await workspace.cli('status').finished).stdout;
    assert.match(await status(), /US-001 is done, but .* such as a hook, and commit them/);
    workspace.git('add', '--all');
    assert.match(await status(), /US-001 is done, but its changes are not committed/);
    workspace.git('commit', '--quiet', '--message', 'feat: what the agent left');
    assert.doesNotMatch(await status(), /not committed/);
    await workspace.write('new/a.txt', 'other work\n');
    await workspace.write('new/b.txt', 'other work\n');
    assert.doesNotMatch(await status(), /not committed/);
    await rm(path.join(workspace.folder, '.git'), { recursive: true });
    assert.match(await status(), /US-001 is done, but its changes are not committed/);
  });

  test('is reported with a failing hook as a possible cause, until the next agent commits it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const hook = '.git/hooks/pre-commit';
    const fails: Step[] = [
      { folder: '.git/hooks' },
      { write: [hook, '#!/bin/sh\nexit 1\n'] },
      { shell: `chmod +x ${hook}` },
    ];
    const first: Step[] = [...fails, ...tick('US-001'), tryToCommit, done];
    const { code, stdout } = await workspace.script([first, [{ delete: hook }, 'work']]).finished;
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /US-001 is done, but its changes are not committed: US-001\.txt\. .*such as a hook/,
    );
    assert.match(stdout, /✅ COMPLETE after 2 iterations\n/);
    assert.equal((await workspace.event('run.ended')).uncommitted, undefined);
  });

  test("is not reported if the story changed nothing or only a person's changes are uncommitted", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write('mine.txt', 'of the person\n');
    const { code, stdout } = await workspace.script([[{ tick: 'US-001' }, done]]).finished;
    assert.equal(code, 0, stdout);
    assert.doesNotMatch(stdout, /not committed/);
  });

  test('is named at the end if agents forgot a new file next to their commit', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write('mine.txt', 'of the person\n');
    const { code, stdout } = await workspace.script([
      [
        { write: ['tracked.txt', 'work\n'] },
        { write: ['forgotten.txt', 'work\n'] },
        { tick: 'US-001' },
        { shell: 'git add tracked.txt .omc && git commit --quiet -m "feat: US-001"' },
        done,
      ],
    ]).finished;
    assert.equal(code, 0, stdout);
    const named =
      /Not committed since the run began: forgotten\.txt\. Commit what belongs to the work, and let git ignore the rest\./;
    assert.match(stdout, named);
    const status = async () => (await workspace.cli('status').finished).stdout;
    assert.match(await status(), named);
    await workspace.write('.gitignore', 'forgotten.txt\n');
    assert.doesNotMatch(await status(), /not committed/);
  });

  test('a git repository that an agent has committed is named: a clone would lack its files', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { code, stdout } = await workspace.script([
      [
        { folder: 'app' },
        { write: ['app/a.txt', 'work\n'] },
        {
          shell:
            'cd app && git init --quiet && git add . && git -c user.name=a -c user.email=a@example.com commit --quiet -m inner',
        },
        { tick: 'US-001' },
        { shell: 'git add -A && git commit --quiet -m "feat: US-001"' },
        done,
      ],
    ]).finished;
    assert.equal(code, 0, stdout);
    assert.match(stdout, /a clone would lack their files\. .*: app\n/);
  });
});
