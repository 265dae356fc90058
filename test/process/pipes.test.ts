import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { FakeGithub } from '../support/fakeGithub.ts';
import { openStories, Workspace } from '../support/ralph.ts';

const posix = { skip: process.platform === 'win32' && 'Windows has no such pipes' };

/** Puts a pipe that nobody writes to in the place of a file. */
async function pipe(workspace: Workspace, name: string): Promise<void> {
  const place = path.join(workspace.folder, name);
  await rm(place, { force: true });
  await mkdir(path.dirname(place), { recursive: true });
  execFileSync('mkfifo', [place]);
}

describe('nothing waits for a pipe in the place of a file', { concurrency: 3, ...posix }, () => {
  test('github sync, and a dry run, name it in the place of the copy', async t => {
    const github = await FakeGithub.start('octo/garden', [{ number: 1, title: 'Plant a tree' }]);
    t.after(() => github[Symbol.asyncDispose]());
    const workspace = await Workspace.create(t, { stories: undefined });
    Object.assign(workspace.env, { GITHUB_ENTERPRISE_TOKEN: github.token });
    await pipe(workspace, '.omc/github.json');
    const source = ['--github', 'octo/garden', '--github-url', github.url];
    for (const command of [
      ['github', 'sync'],
      ['run', '--dry-run'],
    ]) {
      const { code, stderr } = await workspace.cli(...command, ...source).finished;
      assert.equal(code, 1);
      assert.match(stderr, /^ralph-fresh: .*github\.json is a pipe or a device, not a file: /);
    }
  });

  test('rollback names it in the place of the story file', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    await pipe(workspace, '.omc/prd.json');
    for (const flags of [[], ['--dry-run']]) {
      const { code, stderr } = await workspace.cli('rollback', '1', ...flags).finished;
      assert.equal(code, 1);
      assert.match(stderr, /^ralph-fresh: There are uncommitted changes in \.omc\/prd\.json\./);
    }
  });

  test('tasks compact names it in the place of its log, and moves nothing', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const lines = ['A', 'B', 'C'].map(
      id => `{"id":"${id}","title":"${id}","status":"done","updated":"2026-01-01T00:00:00Z"}\n`,
    );
    await pipe(workspace, '.ralph/compaction.log');
    await workspace.write('.ralph/tasks.jsonl', lines.join(''));
    const { code, stderr } = await workspace.cli('tasks', 'compact', '--keep', '1').finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ralph-fresh: .*compaction\.log is a pipe, a device or a hard link/);
    assert.equal(await workspace.read('.ralph/tasks.jsonl'), lines.join(''));
  });

  test('a lane starts without it in the place of a lock file', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write('.gitignore', 'node_modules\n');
    await workspace.write('package.json', '{}\n');
    await workspace.write('package-lock.json', '{}\n');
    workspace.git('add', '-A');
    workspace.git('commit', '-qm', 'A package');
    await mkdir(path.join(workspace.folder, 'node_modules/one'), { recursive: true });
    await workspace.write('node_modules/one/index.js', '');
    await pipe(workspace, 'package-lock.json');
    const { code, stderr, stdout } = await workspace.run('succeeds', '--isolate').finished;
    assert.equal(code, 0, stderr + stdout);
    assert.deepEqual(
      (await workspace.events('landing.landed')).map(({ storyId }) => storyId),
      ['US-001'],
    );
  });
});
