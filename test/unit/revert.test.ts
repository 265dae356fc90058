import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import { applyRevert, planRevert } from '../../src/orchestrator/git/revert.ts';
import { cleanEnv, gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i}`);

describe('reverting commits with one new commit', () => {
  let temp: TempDir;
  let folder: string;

  beforeEach(async () => {
    temp = await tempDir('revert-');
    folder = path.join(temp.path, 'my projeçt');
    await mkdir(folder);
    await write('a.txt', `${LINES.join('\n')}\n`);
    await write('gone.txt', 'gone\n');
    await write('old.txt', `${LINES.join('\r\n')}\r\n`);
    await write('pixel.png', Buffer.from([0x89, 0x50, 0, 1, 2]));
    await write('.gitignore', '*.secret\n');
    await gitRepo(folder);
  });
  afterEach(() => temp.remove());

  const { git, write, read, commit } = gitFolder(() => ({ folder, home: temp.path }));

  const at = (file: string) => path.join(folder, file);
  const tree = () => git('rev-parse', 'HEAD^{tree}');

  /** Everything that a revert that was refused must leave as it is. */
  const state = async () =>
    Promise.all([
      git('rev-parse', 'HEAD'),
      git('status', '--porcelain=v2', '--untracked-files=all'),
      git('ls-files', '--stage'),
      git('for-each-ref'),
    ]);

  /** @returns the hash of the new commit */
  async function revert(
    hashes: readonly string[],
    options: Omit<Parameters<typeof planRevert>[1], 'hashes'> = {},
  ): Promise<string> {
    return applyRevert(folder, await planRevert(folder, { hashes, ...options }), 'Revert it');
  }

  async function refused(hashes: readonly string[], reason: RegExp): Promise<void> {
    const before = await state();
    await assert.rejects(revert(hashes), error => {
      assert.ok(error instanceof HumanError, String(error));
      assert.match(error.message, reason);
      return true;
    });
    assert.deepEqual(await state(), before);
  }

  test('git may be set to show signatures', async () => {
    const gpg = path.join(temp.path, 'gpg');
    const lines = ['gpg: Signature made today', '[GNUPG:] SIG_CREATED ', 'gpg: Good signature'];
    // It reads all that git writes; otherwise git may find that it has closed the pipe.
    await writeFile(
      gpg,
      `#!/bin/sh\ncat >/dev/null\n${lines.map(line => `echo '${line}' >&2\n`).join('')}echo '-----BEGIN PGP SIGNATURE-----'\n`,
    );
    await chmod(gpg, 0o755);
    await git('config', 'gpg.program', gpg);
    await git('config', 'commit.gpgSign', 'true');
    await git('config', 'log.showSignature', 'true');
    await write('one.txt', 'one\n');
    const one = await commit();
    await write('two.txt', 'two\n');
    const two = await commit();
    assert.match(await git('log', '-1', '--format=%H'), /Good signature/);
    const { commits, takenBack } = await planRevert(folder, { hashes: [one, two] });
    assert.deepEqual([commits, takenBack], [[two, one], []]);
  });

  test('added, deleted, renamed and binary files are restored', async () => {
    const before = await tree();
    await rename(at('old.txt'), at('new name.txt'));
    await write('a.txt', `${LINES.join('\n')}\nmore\n`);
    const one = await commit();
    await rm(at('gone.txt'));
    await write('pixel.png', Buffer.from([0x89, 0x50, 0, 9, 9, 9]));
    await write('deep/added "x" ü.txt', 'new\n');
    await chmod(at('a.txt'), 0o755);
    const two = await commit();
    const plan = await planRevert(folder, { hashes: [one, two] });
    assert.deepEqual(plan.commits, [two, one]);
    assert.deepEqual([...plan.files].sort(), [
      'a.txt',
      'deep/added "x" ü.txt',
      'gone.txt',
      'new name.txt',
      'old.txt',
      'pixel.png',
    ]);
    assert.equal(plan.fileCount, 5);
    assert.equal(await git('status', '--porcelain'), '');
    const made = await applyRevert(folder, plan, 'Revert it\n\nbecause');
    assert.equal(await tree(), before);
    assert.equal(
      await git('log', '-1', '--format=%H %P %s %b'),
      `${made} ${two} Revert it because`,
    );
    assert.equal(await git('status', '--porcelain'), '');
    assert.deepEqual(await readFile(at('pixel.png')), Buffer.from([0x89, 0x50, 0, 1, 2]));
    assert.equal(await read('old.txt'), `${LINES.join('\r\n')}\r\n`);
    assert.equal(existsSync(at('deep')), false);
  });

  test('later work on other lines and files stays and can be reverted, too', async () => {
    await write('a.txt', `first\n${LINES.join('\n')}\n`);
    const mine = await commit();
    await write('a.txt', `first\n${LINES.join('\n')}\nlast\n`);
    await write('other.txt', 'other\n');
    await commit();
    const made = await revert([mine]);
    assert.equal(await read('a.txt'), `${LINES.join('\n')}\nlast\n`);
    assert.equal(await read('other.txt'), 'other\n');
    await revert([made]);
    assert.equal(await read('a.txt'), `first\n${LINES.join('\n')}\nlast\n`);
  });

  test('a file renamed later is followed', async () => {
    await write('a.txt', `first\n${LINES.join('\n')}\n`);
    const mine = await commit();
    await rename(at('a.txt'), at('b.txt'));
    await commit();
    await revert([mine]);
    assert.equal(await read('b.txt'), `${LINES.join('\n')}\n`);
    assert.equal(existsSync(at('a.txt')), false);
  });

  test('the first commit of a repository can be reverted', async () => {
    const [first = ''] = (await git('rev-list', '--max-parents=0', 'HEAD')).split('\n');
    await write('later.txt', 'later\n');
    await commit();
    await revert([first]);
    assert.equal(await git('ls-files'), 'later.txt');
  });

  test('a conflict names commit and files, and leaves tree, index and branch unchanged', async () => {
    await write('a.txt', 'mine\n');
    await write('b.txt', 'mine\n');
    const mine = await commit();
    await write('a.txt', 'mine and yours\n');
    await commit();
    await write('untracked.txt', 'u');
    await refused(
      [mine],
      new RegExp(`${mine.slice(0, 7)}.*later changes in a\\.txt build on it\\. Nothing was`),
    );
    assert.equal(await read('a.txt'), 'mine and yours\n');
  });

  test('a conflict in the second of two commits also leaves the first unchanged', async () => {
    await write('a.txt', 'one\n');
    const one = await commit();
    await write('a.txt', 'between\n');
    await commit();
    await write('b.txt', 'two\n');
    const two = await commit();
    await refused([one, two], /changes in a\.txt build on it/);
    assert.equal(await read('b.txt'), 'two\n');
  });

  test('excluded files stay, and one gets other content', async () => {
    await write('notes.txt', 'first\n');
    await write('list.json', '{ "done": false }\n');
    await commit();
    await write('notes.txt', 'first\nmine\n');
    await write('list.json', '{ "done": true }\n');
    await write('a.txt', 'mine\n');
    const mine = await commit();
    await write('notes.txt', 'first\nmine\nyours\n');
    await commit();
    await revert([mine], {
      keep: ['notes.txt', 'list.json', 'not/there'],
      edits: new Map([['list.json', Buffer.from('{ "done": "no" }\n')]]),
    });
    assert.equal(await read('notes.txt'), 'first\nmine\nyours\n');
    assert.equal(await read('list.json'), '{ "done": "no" }\n');
    assert.equal(await read('a.txt'), `${LINES.join('\n')}\n`);
    assert.equal(await git('status', '--porcelain'), '');
  });

  test('commits that were already reverted need no change', async () => {
    await write('a.txt', 'mine\n');
    const mine = await commit();
    await revert([mine]);
    assert.deepEqual((await planRevert(folder, { hashes: [mine] })).files, []);
  });

  test('untracked and ignored files stay; one in the way causes a refusal', async () => {
    await rm(at('gone.txt'));
    const mine = await commit();
    await write('my.secret', 's');
    await write('untracked.txt', 'u');
    await write('gone.txt', 'mine, not in git\n');
    await refused([mine], /gone\.txt/);
    assert.equal(await read('gone.txt'), 'mine, not in git\n');
    await rm(at('gone.txt'));
    await revert([mine]);
    assert.equal(await read('gone.txt'), 'gone\n');
    assert.deepEqual([await read('my.secret'), await read('untracked.txt')], ['s', 'u']);
  });

  test('uncommitted changes cause a refusal in an affected file and stay in others', async () => {
    await write('b.txt', 'b\n');
    const mine = await commit();
    await write('a.txt', 'not committed\n');
    await write('gone.txt', 'staged\n');
    await git('add', 'gone.txt');
    await write('b.txt', 'not committed\n');
    await refused([mine], /uncommitted changes in b\.txt\. Commit or stash/);
    await git('checkout', '--quiet', '--', 'b.txt');
    await revert([mine]);
    assert.equal(existsSync(at('b.txt')), false);
    assert.equal(await read('a.txt'), 'not committed\n');
    assert.equal(await git('diff', '--cached', '--name-only'), 'gone.txt');
  });

  test('merges, foreign commits and an empty list are refused', async () => {
    await git('switch', '--quiet', '--create', 'side');
    await write('side.txt', 'side');
    const side = await commit();
    await git('switch', '--quiet', 'main');
    await write('main.txt', 'main');
    const main = await commit();
    await refused([side], /None of the commits .*current branch/);
    await refused(['f'.repeat(40)], /None of the commits \(fffffff\)/);
    await refused([], /no commit to revert/);
    const plan = await planRevert(folder, { hashes: [side, main, '--all'] });
    assert.deepEqual([plan.commits, plan.elsewhere], [[main], ['--all', side]]);
    await git('merge', '--quiet', '--no-edit', 'side');
    await refused([await git('rev-parse', 'HEAD')], /merges two branches.*git revert -m 1/);
  });

  test('the first commit of a shallow clone is not treated as a root commit', async () => {
    await write('mine.txt', 'mine');
    const mine = await commit();
    await write('later.txt', 'later');
    const later = await commit();
    await writeFile(at('.git/shallow'), `${mine}\n`);
    await refused([mine], /shallow clone.*git fetch --unshallow/);
    await refused([mine, later], /shallow clone/);
    assert.deepEqual((await planRevert(folder, { hashes: [later] })).files, ['later.txt']);
  });

  test('a new commit, a lock, a missing author or the state of a run cause a refusal', async () => {
    await write('b.txt', 'b\n');
    const mine = await commit();
    const plan = await planRevert(folder, { hashes: [mine] });
    await commit('meanwhile');
    await assert.rejects(applyRevert(folder, plan, 'x'), /made in the meantime/);
    await write('.git/index.lock', '');
    await refused([mine], /index\.lock exists/);
    await rm(at('.git/index.lock'));
    await git('config', 'user.name', '');
    await refused([mine], /git cannot revert these commits: .*empty ident name/s);
    await git('config', 'user.name', 'x');
    await write('.omc/state/x', 'x');
    await git('add', '--force', '.omc/state/x');
    await refused([await commit()], /\.omc\/state\/x has been committed/);
  });

  test('commit hooks and the signing configuration are ignored', async () => {
    await write('b.txt', 'b\n');
    const mine = await commit();
    for (const hook of ['pre-commit', 'commit-msg', 'pre-merge-commit']) {
      await write(`.git/hooks/${hook}`, '#!/bin/sh\nexit 1\n');
      await chmod(at(`.git/hooks/${hook}`), 0o755);
    }
    await git('config', 'commit.gpgSign', 'true');
    await git('config', 'gpg.program', '/does/not/exist');
    await git('config', 'merge.renames', 'false');
    await revert([mine]);
    assert.equal(existsSync(at('b.txt')), false);
  });

  test('if killed in the middle, HEAD is unchanged and git status shows it', async () => {
    await write('b.txt', 'b\n');
    const mine = await commit();
    // The filter is asked when the file comes back, and the killer is in it.
    await rm(at('gone.txt'));
    const gone = await commit();
    await write('.git/info/attributes', 'gone.txt filter=kill\n');
    await git('config', 'filter.kill.smudge', 'kill -9 $PPID; cat');
    const script = `
      const { applyRevert, planRevert } = await import(process.argv[1]);
      const hashes = process.argv.slice(3);
      await applyRevert(process.argv[2], await planRevert(process.argv[2], { hashes }), 'x');`;
    const source = path.resolve(import.meta.dirname, '../../src/orchestrator/git/revert.ts');
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '-e', script, source, folder, mine, gone],
      { env: cleanEnv({ home: temp.path }), stdio: 'ignore' },
    );
    const [code] = await once(child, 'exit');
    assert.notEqual(code, 0);
    assert.equal(await git('rev-parse', 'HEAD'), gone);
    await git('config', '--unset', 'filter.kill.smudge');
    await rm(at('.git/index.lock'), { force: true });
    await git('reset', '--quiet', '--hard');
    await revert([mine, gone]);
    assert.equal(await read('gone.txt'), 'gone\n');
    assert.equal(existsSync(at('b.txt')), false);
  });
});
