import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { isAlive, openStories, until, Workspace } from '../support/ralph.ts';

const git = (workspace: Workspace, ...args: string[]) =>
  promisify(execFile)('git', args, { cwd: workspace.folder, env: workspace.env });

describe('one loop per work tree', { concurrency: 2 }, () => {
  test('a second loop in a subfolder is refused and names the first; after a kill -9 it starts', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const inside = path.join(workspace.folder, 'part');
    await mkdir(path.join(inside, '.omc'), { recursive: true });
    await cp(
      path.join(workspace.folder, '.omc', 'prd.json'),
      path.join(inside, '.omc', 'prd.json'),
    );
    await git(workspace, 'add', '-A');
    await git(workspace, 'commit', '--quiet', '-m', 'a part');
    const first = workspace.script([['stay']]);
    await workspace.agent(1);
    const second = await workspace.script([['work']], '--cwd', inside).finished;
    assert.equal(second.code, 1);
    assert.match(second.stderr, /another folder of this git work tree \(process \d+, in /);
    assert.ok(second.stderr.includes(`in ${workspace.folder})`), second.stderr);
    assert.match(second.stderr, /ralph-fresh stop --cwd/);
    assert.equal((await workspace.agents()).length, 1);
    const stopped = await workspace.cli('stop').finished;
    assert.equal(stopped.code, 0, stopped.stderr);
    await first.finished;
    assert.equal(existsSync(path.join(workspace.folder, '.git', 'ralph-fresh-lock.json')), false);
    const killed = workspace.script([['stay']]);
    const orphan = await workspace.agent(2);
    process.kill(killed.pid, 'SIGKILL');
    await killed.finished;
    const third = await workspace.script([['work']], '--cwd', inside).finished;
    assert.equal(third.code, 0, third.stderr);
    assert.equal(isAlive(orphan), false);
  });

  test('a linked work tree has its own branch and therefore its own loop', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const linked = path.join(path.dirname(workspace.folder), 'linked');
    await git(workspace, 'worktree', 'add', '--quiet', '-b', 'linked', linked);
    await mkdir(path.join(linked, '.omc'), { recursive: true });
    await cp(
      path.join(workspace.folder, '.omc', 'prd.json'),
      path.join(linked, '.omc', 'prd.json'),
    );
    const first = workspace.script([['stay']]);
    await workspace.agent(1);
    const second = await workspace.script([['work']], '--cwd', linked).finished;
    assert.equal(second.code, 0, second.stderr);
    await workspace.cli('stop').finished;
    await until('the end', async () => (await first.finished).code !== null);
  });
});
