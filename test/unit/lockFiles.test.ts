import assert from 'node:assert/strict';
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { leftLock } from '../../src/orchestrator/git/lockFiles.ts';
import { tempDir } from '../support/cleanEnv.ts';

const LONG_AGO = new Date('2020-01-01');

test('a lock file that git has left long ago is found at once, wherever git keeps it', async () => {
  await using folder = await tempDir('lock-files-');
  const gitDir = folder.path;
  const worktree = path.join(gitDir, 'worktrees', 'other');
  await mkdir(worktree, { recursive: true });
  await writeFile(path.join(worktree, 'commondir'), '../..\n');
  await mkdir(path.join(gitDir, 'refs', 'heads', 'ralph'), { recursive: true });
  for (const [dir, lock] of [
    [gitDir, path.join(gitDir, 'index.lock')],
    [gitDir, path.join(gitDir, 'HEAD.lock')],
    [gitDir, path.join(gitDir, 'refs', 'heads', 'ralph', 'login.lock')],
    [worktree, path.join(worktree, 'index.lock')],
    [worktree, path.join(gitDir, 'refs', 'heads', 'ralph', 'login.lock')],
  ] as const) {
    await writeFile(lock, '');
    await utimes(lock, LONG_AGO, LONG_AGO);
    assert.equal(await leftLock(dir, 'ralph/login'), lock);
    await rm(lock);
    assert.equal(await leftLock(dir, 'ralph/login'), undefined);
  }
});

test('the lock file of another branch, or of another work tree, is none', async () => {
  await using folder = await tempDir('lock-files-');
  const gitDir = folder.path;
  await mkdir(path.join(gitDir, 'refs', 'heads'), { recursive: true });
  await mkdir(path.join(gitDir, 'worktrees', 'other'), { recursive: true });
  await writeFile(path.join(gitDir, 'refs', 'heads', 'other.lock'), '');
  await writeFile(path.join(gitDir, 'worktrees', 'other', 'index.lock'), '');
  assert.equal(await leftLock(gitDir, 'main'), undefined);
  assert.equal(await leftLock(gitDir, ''), undefined);
});

test('the lock file of a living git process is none', async () => {
  await using folder = await tempDir('lock-files-');
  const gitDir = folder.path;
  const lock = path.join(gitDir, 'index.lock');
  await writeFile(lock, '');
  const looked = leftLock(gitDir, 'main');
  await rename(lock, path.join(gitDir, 'index'));
  assert.equal(await looked, undefined);
});
