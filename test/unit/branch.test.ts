import assert from 'node:assert/strict';
import { chmod, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import { checkOutBranch, lookAtBranch } from '../../src/orchestrator/git/branch.ts';
import { isGitLocked } from '../../src/orchestrator/git/gitErrors.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

describe('checkOutBranch', () => {
  let temp: TempDir;
  let folder: string;
  let first: string;

  beforeEach(async () => {
    temp = await tempDir('branch-');
    folder = path.join(temp.path, 'my projeçt');
    await mkdir(folder);
    await write('a.txt', 'one\n');
    await write('.gitignore', 'ignored.txt\n');
    first = await gitRepo(folder);
  });
  afterEach(() => temp.remove());

  const { git, write, read } = gitFolder(() => ({ folder, home: temp.path }));

  const branch = () => git('branch', '--show-current');

  /** A branch that has a file, and the work tree back on main. */
  async function branchWith(name: string, file: string, content: string): Promise<void> {
    await git('switch', '--quiet', '--create', name);
    await write(file, content);
    await git('add', '--force', file);
    await git('commit', '--quiet', '--message', `Add ${file}`);
    await git('switch', '--quiet', 'main');
  }

  async function hook(name: string, script: string): Promise<void> {
    await write(`.git/hooks/${name}`, `#!/bin/sh\n${script}\n`);
    await chmod(path.join(folder, '.git/hooks', name), 0o755);
  }

  test('is already on the branch', async () => {
    await write('a.txt', 'changed\n');
    assert.deepEqual(await checkOutBranch(folder, 'main'), { kind: 'unchanged', branch: 'main' });
  });

  test('is already on the branch, although a tag has the same name', async () => {
    await git('tag', 'main');
    assert.deepEqual(await checkOutBranch(folder, 'main'), { kind: 'unchanged', branch: 'main' });
  });

  test('creates a new branch at HEAD', async () => {
    const name = 'ralph/größe-漢字';
    assert.deepEqual(await checkOutBranch(folder, name), { kind: 'created', branch: name });
    assert.equal(await branch(), name);
    assert.equal(await git('rev-parse', 'HEAD'), first);
  });

  test('checks out an existing branch, even from a subfolder', async () => {
    await branchWith('feature', 'b.txt', 'two\n');
    await write('src/x.txt', 'untracked\n');
    const below = path.join(folder, 'src');
    assert.deepEqual(await checkOutBranch(below, 'feature'), {
      kind: 'checkedOut',
      branch: 'feature',
    });
    assert.equal(await read('b.txt'), 'two\n');
    assert.equal(await read('src/x.txt'), 'untracked\n');
  });

  test('does not mistake a tag for a branch', async () => {
    await git('tag', 'feature');
    assert.equal((await checkOutBranch(folder, 'feature')).kind, 'created');
    assert.equal(await branch(), 'feature');
  });

  test('works from a detached HEAD', async () => {
    await git('switch', '--quiet', '--detach', first);
    assert.equal((await checkOutBranch(folder, 'main')).kind, 'checkedOut');
    await git('switch', '--quiet', '--detach', first);
    await write('a.txt', 'changed\n');
    assert.deepEqual(await checkOutBranch(folder, 'main'), { kind: 'dirty', branch: '' });
  });

  test('works before the first commit', async () => {
    await rm(path.join(folder, '.git'), { recursive: true });
    await git('init', '--quiet', '--initial-branch=begin');
    assert.equal((await checkOutBranch(folder, 'begin')).kind, 'unchanged');
    assert.equal((await checkOutBranch(folder, 'other')).kind, 'created');
    assert.equal(await branch(), 'other');
  });

  test('refuses to switch with changes in tracked files', async () => {
    await branchWith('feature', 'b.txt', 'two\n');
    await write('a.txt', 'changed\n');
    for (const name of ['feature', 'new']) {
      assert.deepEqual(await checkOutBranch(folder, name), { kind: 'dirty', branch: 'main' });
    }
    await git('add', 'a.txt');
    assert.equal((await checkOutBranch(folder, 'feature')).kind, 'dirty');
    assert.equal(await branch(), 'main');
    assert.equal(await git('branch', '--list', 'new'), '');
  });

  test('ignores untracked files', async () => {
    await branchWith('feature', 'b.txt', 'two\n');
    await write('.omc/prd.json', '{}');
    assert.equal((await checkOutBranch(folder, 'feature')).kind, 'checkedOut');
    assert.equal((await checkOutBranch(folder, 'new')).kind, 'created');
    assert.equal(await read('.omc/prd.json'), '{}');
  });

  for (const file of ['untracked.txt', 'ignored.txt']) {
    test(`refuses if git would overwrite a file: ${file}`, async () => {
      await branchWith('feature', file, 'of the branch\n');
      await write(file, 'precious\n');
      await assert.rejects(checkOutBranch(folder, 'feature'), (error: Error) => {
        assert.ok(error instanceof HumanError);
        assert.match(error.message, new RegExp(`branch feature: .*${file}`));
        assert.equal(isGitLocked(error), false);
        return true;
      });
      assert.equal(await branch(), 'main');
      assert.equal(await read(file), 'precious\n');
    });
  }

  test('refuses a branch that is checked out in another work tree', async () => {
    await git('branch', 'feature');
    await git('worktree', 'add', '--quiet', path.join(temp.path, 'other'), 'feature');
    await assert.rejects(checkOutBranch(folder, 'feature'), (error: Error) => {
      assert.ok(error instanceof HumanError);
      assert.match(error.message, /other/);
      return true;
    });
    assert.equal(await branch(), 'main');
  });

  test('refuses a name that conflicts with an existing branch', async () => {
    await git('branch', 'a');
    await git('branch', 'c/d');
    for (const [name, other] of [
      ['a/b', 'a'],
      ['c', 'c/d'],
    ] as const) {
      const words = new RegExp(
        `branch ${name}, .* because the branch ${other} exists\\. .*--branch stay`,
      );
      await assert.rejects(checkOutBranch(folder, name), (error: Error) => {
        assert.ok(error instanceof HumanError);
        assert.match(error.message, words);
        return true;
      });
      assert.equal((await lookAtBranch(folder, name)).conflicting, other);
    }
    assert.equal((await lookAtBranch(folder, 'ab')).conflicting, undefined);
    assert.equal(await branch(), 'main');
  });

  for (const name of [
    '',
    ' ',
    '-b',
    '--force',
    '--upload-pack=touch x',
    'a b',
    'a..b',
    'a.lock',
    'HEAD',
    '@',
    '@{-1}',
    'a\nb',
    'a~1',
    `${'x'.repeat(500)}?`,
  ]) {
    test(`refuses an invalid branch name: ${JSON.stringify(name.slice(0, 30))}`, async () => {
      // So that there is a branch before this one.
      await git('switch', '--quiet', '--create', 'before');
      await git('switch', '--quiet', 'main');
      await assert.rejects(checkOutBranch(folder, name), (error: Error) => {
        assert.ok(error instanceof HumanError);
        assert.match(error.message, /^"[^\n]*" is not a valid git branch name\./);
        assert.ok(error.message.length < 400);
        return true;
      });
      assert.equal(await branch(), 'main');
    });
  }

  test('a name that is too long for a file is refused, and the longest one is not', async () => {
    const longest = `ralph/${'ä'.repeat(125)}`;
    await assert.rejects(
      checkOutBranch(folder, `${longest}x`),
      /^HumanError: The branch name "ralph\/ä+…" is too long for git: each part between slashes may have 250 bytes at most\. Use a shorter one in the story file/,
    );
    await checkOutBranch(folder, longest);
    assert.equal(await branch(), longest);
  });

  test('names a leftover lock', async () => {
    await git('branch', 'feature');
    await write('.git/index.lock', '');
    await assert.rejects(checkOutBranch(folder, 'feature'), (error: Error) => {
      assert.ok(error instanceof HumanError);
      assert.ok(isGitLocked(error));
      assert.match(error.message, /index\.lock/);
      assert.match(error.message, /remove that file and try again/);
      return true;
    });
    assert.equal(await branch(), 'main');
  });

  test('fails outside a repository', async () => {
    const outside = path.join(temp.path, 'outside');
    await mkdir(outside);
    await assert.rejects(checkOutBranch(outside, 'feature'), HumanError);
  });

  test("runs the person's hooks; one that fails after the checkout changes nothing", async () => {
    await hook('post-checkout', 'echo ran > hook-ran.txt\nexit 1');
    assert.equal((await checkOutBranch(folder, 'feature')).kind, 'created');
    assert.equal(await read('hook-ran.txt'), 'ran\n');
    assert.equal(await branch(), 'feature');
  });

  test('reports a hook that forbids the checkout', async () => {
    await hook('reference-transaction', '[ "$1" = prepared ] && exit 1\nexit 0');
    await assert.rejects(checkOutBranch(folder, 'feature'), (error: Error) => {
      assert.ok(error instanceof HumanError);
      assert.match(
        error.message,
        /hook.*\. Fix that, and try again; or work here with --branch stay/,
      );
      return true;
    });
    assert.equal(await branch(), 'main');
  });
});
