import assert from 'node:assert/strict';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { HumanError } from '../../src/base/humanError.ts';
import { GitRepository } from '../../src/orchestrator/git/git.ts';
import {
  blobTexts,
  changedTree,
  checkedOutTexts,
  treeFiles,
} from '../../src/orchestrator/git/treeFiles.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

describe('GitRepository', () => {
  let temp: TempDir;
  let folder: string;
  let repo: GitRepository;
  let first: string;

  beforeEach(async () => {
    temp = await tempDir('git-repository-');
    folder = path.join(temp.path, 'my projeçt');
    await mkdir(folder);
    await write('a.txt', 'one\n'.repeat(20));
    first = await gitRepo(folder);
    repo = new GitRepository(folder);
  });
  afterEach(() => temp.remove());

  const { git, write, commit } = gitFolder(() => ({ folder, home: temp.path }));

  const subjects = async (options?: Parameters<GitRepository['commits']>[0]) =>
    (await repo.commits(options)).map(({ subject }) => subject);

  test('status reports HEAD, branch and uncommitted changes', async () => {
    await write('late.txt', '');
    assert.deepEqual(await repo.status(), {
      head: first,
      branch: 'main',
      hasUncommittedChanges: true,
      changed: ['late.txt'],
    });
  });

  test('a folder that is gone is named; git is not said to be missing', async () => {
    await rm(folder, { recursive: true });
    await assert.rejects(repo.status(), (error: unknown) => {
      assert.ok(error instanceof HumanError);
      assert.match(error.message, /There is no folder .*my projeçt\. If it was moved/);
      return true;
    });
  });

  test('root, head and branch are found, even from a subfolder', async () => {
    await mkdir(path.join(folder, 'src/deep'), { recursive: true });
    const below = new GitRepository(path.join(folder, 'src/deep'));
    for (const at of [repo, below]) {
      assert.equal(path.resolve((await at.root()) ?? ''), folder);
      assert.equal(await at.head(), first);
      assert.equal(await at.branch(), 'main');
    }
  });

  test('a bare repository and the folder of git itself have no files', async () => {
    const bare = path.join(temp.path, 'bare.git');
    await git('clone', '--quiet', '--bare', folder, bare);
    for (const dir of [bare, path.join(folder, '.git'), path.join(folder, '.git/refs')]) {
      assert.deepEqual(await new GitRepository(dir).folder(), { isBare: true }, dir);
    }
  });

  test('a line break in the name of the top folder is read', async () => {
    const odd = path.join(temp.path, 'two\nlines');
    await mkdir(odd);
    await git('init', '--quiet', odd);
    assert.deepEqual(await new GitRepository(odd).folder(), { root: odd, isBare: false });
  });

  test('a branch name with a slash and non-ASCII letters is read', async () => {
    await git('checkout', '--quiet', '-b', 'ralph/größe-漢字');
    assert.equal(await repo.branch(), 'ralph/größe-漢字');
  });

  test('a detached HEAD has no branch', async () => {
    await commit('second');
    await git('checkout', '--quiet', '--detach', first);
    assert.equal(await repo.branch(), '');
    assert.equal(await repo.head(), first);
    assert.deepEqual(await subjects(), ['First commit']);
  });

  for (const ref of ['refs/heads/HEAD', 'refs/tags/HEAD', 'refs/remotes/HEAD', 'refs/tags/main']) {
    test(`${ref} does not hide the branch that is checked out`, async () => {
      await git('update-ref', ref, 'HEAD');
      assert.equal(await repo.branch(), 'main');
      assert.deepEqual(await repo.headAndBranch(), { head: first, branch: 'main' });
    });
  }

  test('a branch without commits next to one with a longer name has no HEAD', async () => {
    await git('branch', 'topic/one');
    await git('symbolic-ref', 'HEAD', 'refs/heads/topic');
    assert.deepEqual(await repo.headAndBranch(), { head: undefined, branch: 'topic' });
  });

  describe('HEAD and the newest commits match what git reports', () => {
    const FIELDS = '%H%x00%s%x00%an%x00%aI';
    async function assertAsGit(): Promise<void> {
      const lines = (await git('log', '--max-count=20', `--format=${FIELDS}`)).split('\n');
      const expected = lines.map(line => {
        const [hash, subject, author, at = ''] = line.split('\0');
        return { hash, subject, author, at: at.replace(/Z$/, '+00:00') };
      });
      const head = await repo.head();
      assert.equal(head, expected[0]?.hash);
      assert.deepEqual(await repo.commits({ limit: 20, at: head ?? '' }), expected);
    }

    test('for subjects over several lines, other time zones and non-ASCII letters', async () => {
      await git(
        'commit',
        '--quiet',
        '--allow-empty',
        '--cleanup=verbatim',
        '--message',
        '\n\n one  \ntwo\n\nthree',
      );
      await git(
        'commit',
        '--quiet',
        '--allow-empty',
        '--author',
        'Žofie 漢字 <z@example.org>',
        '--date',
        '2026-02-28T23:59:59-0330',
        '--message',
        'größer',
      );
      await git('commit', '--quiet', '--allow-empty', '--allow-empty-message', '--message', '');
      await assertAsGit();
    });

    test('for commits read in pieces, more than are kept', async () => {
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < 9; i++) {
          await commit(`commit ${round}-${i}`);
        }
        await assertAsGit();
      }
    });

    test('for the difference that was asked for together with HEAD, also if HEAD has moved since', async () => {
      const second = await commit('second');
      assert.deepEqual(await repo.headAndBranch(first), { head: second, branch: 'main' });
      const names = async (from: string, to: string) => {
        const { added, gone } = await repo.difference(from, to);
        return [added, gone].map(list => list.map(({ subject }) => subject));
      };
      const elsewhere = path.join(folder, 'elsewhere');
      await rename(path.join(folder, '.git'), elsewhere);
      assert.deepEqual(await names(first, second), [['second'], []], 'git is not asked again');
      await rename(elsewhere, path.join(folder, '.git'));
      await git('reset', '--quiet', '--hard', first);
      const other = await commit('other');
      assert.deepEqual(await names(first, second), [['second'], []]);
      assert.deepEqual(await repo.headAndBranch(second), { head: other, branch: 'main' });
      assert.deepEqual(await names(second, other), [['other'], ['second']]);
      await git('reset', '--quiet', '--hard', first);
      assert.deepEqual(await repo.headAndBranch(other), { head: first, branch: 'main' });
      assert.deepEqual(await names(other, first), [[], ['other']]);
      // What is not in the repository, such as a commit of another one, is no reason to fail.
      assert.deepEqual(await repo.headAndBranch('1'.repeat(40)), { head: first, branch: 'main' });
      await assert.rejects(repo.difference('1'.repeat(40), first));
    });

    test('after a reset, an amend, a branch switch and a merge', async () => {
      const second = await commit('second');
      await commit('third');
      await assertAsGit();
      await git('reset', '--quiet', '--hard', second);
      await assertAsGit();
      await git('commit', '--quiet', '--amend', '--allow-empty', '--message', 'amended');
      await assertAsGit();
      await git('checkout', '--quiet', '-b', 'ralph/other', first);
      await commit('aside');
      await assertAsGit();
      await git('merge', '--quiet', '--no-edit', 'main');
      await assertAsGit();
      await commit('on top');
      await assertAsGit();
    });

    test('with packed refs and objects, a replaced commit and a linked work tree', async () => {
      await commit('second');
      await git('gc', '--quiet');
      await assertAsGit();
      await commit('third');
      await assertAsGit();
      const other = await git('commit-tree', 'HEAD^{tree}', '-p', first, '-m', 'in its place');
      await git('replace', 'HEAD', other);
      repo = new GitRepository(folder);
      await assertAsGit();
      await git('replace', '--delete', 'HEAD');
      const linked = path.join(temp.path, 'linked');
      await git('worktree', 'add', '--quiet', '-b', 'ralph/linked', linked);
      folder = linked;
      repo = new GitRepository(linked);
      await commit('in the linked work tree');
      await assertAsGit();
      assert.equal(await repo.branch(), 'ralph/linked');
    });

    test('with lost commits', async () => {
      const second = await commit('second');
      const third = await commit('third');
      assert.equal(await repo.head(), third);
      assert.deepEqual(await repo.commits({ since: third, at: first }), []);
      const hashes = async (from: string, to: string) => {
        const { added, gone } = await repo.difference(from, to);
        return [added.map(({ hash }) => hash), gone.map(({ hash }) => hash)];
      };
      assert.deepEqual(await hashes(third, first), [[], (await hashes(first, third))[0]]);
      assert.deepEqual((await hashes(first, third))[1], []);
      assert.deepEqual(await hashes(first, first), [[], []]);
      await git('reset', '--quiet', '--hard', first);
      assert.equal(await repo.head(), first);
      assert.deepEqual(
        (await repo.commits({ since: first, at: third })).map(({ hash }) => hash),
        [third, second],
      );
    });
  });

  test('before the first commit', async () => {
    const empty = path.join(temp.path, 'empty');
    await mkdir(empty);
    await git('init', '--quiet', '--initial-branch=begin', empty);
    repo = new GitRepository(empty);
    assert.notEqual(await repo.root(), undefined);
    assert.equal(await repo.head(), undefined);
    assert.equal(await repo.branch(), 'begin');
    assert.equal(await isChanged(), false);
    await assert.rejects(repo.commits());
  });

  test('outside a repository', async () => {
    repo = new GitRepository(temp.path);
    assert.equal(await repo.root(), undefined);
    assert.deepEqual(await repo.folder(), { isBare: false });
    await assert.rejects(repo.head(), { name: 'HumanError' });
    assert.equal(await repo.branch(), '');
    await assert.rejects(repo.commits());
  });

  test('commits are returned newest first with full subject, author and time', async () => {
    const second = await commit('feat: größer 漢字 "quoted" | pipe\n\nA body\nof lines');
    const [newest, oldest, ...rest] = await repo.commits();
    assert.deepEqual(rest, []);
    assert.deepEqual(
      [newest?.hash, newest?.subject, newest?.author],
      [second, 'feat: größer 漢字 "quoted" | pipe', 'Test Person'],
    );
    assert.ok(Date.parse(newest?.at ?? '') > 0);
    assert.equal(oldest?.hash, first);
  });

  test('commits can be selected by limit, since and at', async () => {
    const second = await commit('second');
    await commit('third');
    assert.deepEqual(await subjects({ limit: 2 }), ['third', 'second']);
    assert.deepEqual(await subjects({ since: first }), ['third', 'second']);
    assert.deepEqual(await subjects({ since: second }), ['third']);
    assert.deepEqual(await subjects({ since: first, at: second }), ['second']);
    assert.deepEqual(await subjects({ at: first }), ['First commit']);
    assert.deepEqual(await subjects({ since: (await repo.head()) ?? '' }), []);
  });

  test('a commit without a message is read', async () => {
    await git('commit', '--quiet', '--allow-empty', '--allow-empty-message', '--message', '');
    assert.deepEqual(await subjects(), ['', 'First commit']);
  });

  test("a subject with git's separators does not create extra commits", async () => {
    await commit('a\x1eb0b0b0b0\x1ffaked\x1fNobody\x1f2026-01-01');
    const hashes = (await repo.commits()).map(({ hash }) => hash);
    assert.deepEqual(hashes, [await git('rev-parse', 'HEAD'), first]);
  });

  test('contents are those of the commit, whatever the folder has', async () => {
    await write('a.txt', 'one\ntwo');
    await write('changed.txt', 'as it was');
    await write('empty.txt', '');
    await write('gone.txt', 'still in the commit');
    await write('linked.txt', 'not behind a link');
    await commit('files');
    await write('changed.txt', 'as it is!');
    await rm(path.join(folder, 'gone.txt'));
    await write('elsewhere.txt', 'not behind a link');
    await rm(path.join(folder, 'linked.txt'));
    await symlink('elsewhere.txt', path.join(folder, 'linked.txt'));
    const files = await treeFiles(folder, 'HEAD');
    const unreadable = { path: 'a'.repeat(300), blob: files[0]?.blob ?? '' };
    const asked = [
      ...files.toReversed(),
      { path: 'missing.txt', blob: '0'.repeat(40) },
      unreadable,
    ];
    const texts = [
      ...['not behind a link', 'still in the commit', '', 'as it was', 'one\ntwo'],
      ...[undefined, 'one\ntwo'],
    ];
    assert.deepEqual(await checkedOutTexts(folder, asked), texts);
    assert.deepEqual(
      await blobTexts(
        folder,
        asked.map(({ blob }) => blob),
      ),
      texts,
    );
    assert.deepEqual(await checkedOutTexts(folder, []), []);
  });

  test('no file gets the text of another where git ends at one that it cannot fetch', async () => {
    await write('b.txt', 'two\n');
    await write('c.txt', 'three\n');
    await commit('more');
    await git('config', 'uploadpack.allowFilter', 'true');
    const clone = path.join(temp.path, 'clone');
    await mkdir(clone);
    const { git: inClone } = gitFolder(() => ({ folder: clone, home: temp.path }));
    const { href } = pathToFileURL(folder);
    await inClone('clone', '--quiet', '--filter=blob:none', '--no-checkout', href, '.');
    await inClone('show', 'HEAD:a.txt', 'HEAD:c.txt');
    await inClone('remote', 'set-url', 'origin', `${href}-nowhere`);
    const blobs = (await treeFiles(clone, 'HEAD')).map(({ blob }) => blob);
    const [first, missing, last = 'three\n'] = await blobTexts(clone, blobs);
    assert.deepEqual([first, missing, last], ['one\n'.repeat(20), undefined, 'three\n']);
  });

  test('the files after a change are in the order of git, also if a large folder was moved', () => {
    const filesOf = (paths: readonly string[]) => paths.map(path => ({ path, blob: '1' }));
    const ordered = ['a-b/x', 'a.b', 'a/b', 'a0', 'é', '～', '😀'];
    for (let added = 0; added < 1 << ordered.length; added++) {
      const isAdded = (_: string, i: number) => ((added >> i) & 1) === 1;
      const before = ordered.filter((path, i) => !isAdded(path, i));
      const contents = new Map<string, string | undefined>([['gone', undefined]]);
      for (const path of ordered.filter(isAdded)) {
        contents.set(path, '1');
      }
      const changed = changedTree(filesOf([...before, 'gone']), contents);
      assert.deepEqual(changed, filesOf(ordered));
    }
    const large = Array.from({ length: 1_000 }, (_, i) => `${1_000 + i}/`);
    const contents = new Map<string, string | undefined>();
    for (const folder of large) {
      contents.set(`${folder}b`, '1').set(`${folder}a`, undefined);
    }
    const before = filesOf(large.flatMap(folder => [`${folder}a`, `${folder}c`]));
    const after = filesOf(large.flatMap(folder => [`${folder}b`, `${folder}c`]));
    assert.deepEqual(changedTree(before, contents), after);
  });

  test('an option in place of a commit is refused', async () => {
    await assert.rejects(repo.commits({ at: '--output=stolen' }));
    await assert.rejects(readFile(path.join(folder, 'stolen')), { code: 'ENOENT' });
  });

  const isChanged = async () => (await repo.status()).hasUncommittedChanges;

  test('uncommitted changes include untracked, changed, staged and deleted files, but no ignored ones', async () => {
    assert.equal(await isChanged(), false);
    await write('.gitignore', 'ignored\n');
    await commit('ignore');
    await write('ignored', '');
    assert.equal(await isChanged(), false);
    await write('untracked.txt', '');
    assert.equal(await isChanged(), true);
    await git('add', 'untracked.txt');
    assert.equal(await isChanged(), true);
    await commit('tracked');
    await write('a.txt', 'two');
    assert.equal(await isChanged(), true);
    await git('checkout', '--', 'a.txt');
    await rm(path.join(folder, 'a.txt'));
    assert.equal(await isChanged(), true);
  });

  test('reading never writes the index, since an agent may be committing', async () => {
    await writeFile(path.join(folder, '.git/index.lock'), '');
    assert.equal(await isChanged(), false);
    assert.equal((await repo.commits()).length, 1);
  });

  test('a file is read as it was in a commit, also a binary one and one that is gone', async () => {
    await write('gone.txt', 'x');
    await write('data.bin', Buffer.from([0, 1, 2, 255]));
    const before = await commit('before');
    await write('data.bin', Buffer.from([0, 9, 255]));
    await rm(path.join(folder, 'gone.txt'));
    const hash = await commit('after');
    assert.deepEqual(await repo.fileAt(hash, 'data.bin'), Buffer.from([0, 9, 255]));
    assert.deepEqual(await repo.fileAt(before, 'data.bin'), Buffer.from([0, 1, 2, 255]));
    assert.equal(`${await repo.fileAt(before, 'gone.txt')}`, 'x');
    await assert.rejects(repo.fileAt(hash, 'gone.txt'));
  });

  test('names with spaces, non-ASCII letters, quotes and line breaks are read', async () => {
    const names = ['a b.txt', 'größe/漢字.txt', "it's.txt", '-dash.txt', ' lead.txt'];
    if (process.platform !== 'win32') {
      names.push('line\nbreak.txt', 'tab\t.txt', '"quoted".txt', 'back\\slash.txt', ':colon.txt');
    }
    for (const name of names) {
      await write(name, `in ${name}`);
    }
    const hash = await commit('names');
    for (const name of names) {
      assert.equal(`${await repo.fileAt(hash, name)}`, `in ${name}`);
    }
  });

  test('commits since another one include those of a merged branch', async () => {
    await git('checkout', '--quiet', '-b', 'side');
    await write('side.txt', 's');
    await commit('on the side');
    await git('checkout', '--quiet', 'main');
    await write('main.txt', 'm');
    const onMain = await commit('on main');
    await git('merge', '--quiet', '--no-ff', '-m', 'merged', 'side');
    assert.deepEqual((await subjects({ since: onMain })).sort(), ['merged', 'on the side']);
  });

  test('diff programs and text conversions of a repository do not run', async () => {
    await write('.gitattributes', '*.txt diff=evil\n');
    await write('a.txt', 'two\n');
    await git('config', 'diff.evil.command', 'touch ran #');
    await git('config', 'diff.evil.textconv', 'touch ran #');
    await git('config', 'diff.external', 'touch ran #');
    const hash = await commit('second');
    assert.equal(`${await repo.fileAt(hash, 'a.txt')}`, 'two\n');
    await assert.rejects(readFile(path.join(folder, 'ran')), { code: 'ENOENT' });
  });

  test('an invalid commit is reported as such', async () => {
    for (const bad of ['', 'main', 'HEAD', '--all', `${first}^`, 'xyz', `${first} --output=x`]) {
      await assert.rejects(repo.resolveCommit(bad), HumanError, bad);
    }
    for (const gone of ['0'.repeat(40), 'deadbeef']) {
      await assert.rejects(repo.resolveCommit(gone), {
        name: HumanError.name,
        message: /has no commit .* rebase or a reset/,
      });
    }
    assert.equal(await repo.resolveCommit(first.slice(0, 8)), first);
    const blob = await git('rev-parse', 'HEAD:a.txt');
    await assert.rejects(repo.resolveCommit(blob), HumanError);
  });
});
