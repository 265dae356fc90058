import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import { isGitLocked } from '../../src/orchestrator/git/gitErrors.ts';
import {
  removeRestorePoints,
  restorePoints,
  rollBack,
  setRestorePoint,
} from '../../src/orchestrator/workspace/restorePoints.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

describe('restore points', () => {
  let temp: TempDir;
  let folder: string;
  let first: string;

  beforeEach(async () => {
    temp = await tempDir('restore-points-');
    folder = path.join(temp.path, 'my projeçt');
    await mkdir(folder);
    await write('a.txt', 'one\n');
    await write('.gitignore', '*.secret\nout\n.omc/state/\n');
    first = await gitRepo(folder);
  });
  afterEach(() => temp.remove());

  const { git, write, read, commit, head } = gitFolder(() => ({ folder, home: temp.path }));

  const exists = (file: string) => existsSync(path.join(folder, file));
  const status = () => git('status', '--porcelain');

  describe('set, list, remove', () => {
    test('are stored per iteration, separately for each run', async () => {
      const second = await commit('second');
      for (const iteration of [10, 2, 1]) {
        await setRestorePoint(folder, 'run-1', iteration, first);
      }
      await setRestorePoint(folder, 'run-1', 2, second.slice(0, 12));
      await setRestorePoint(folder, 'run-10', 1, second);
      assert.deepEqual(await restorePoints(folder, 'run-1'), [
        { iteration: 1, commit: first },
        { iteration: 2, commit: second },
        { iteration: 10, commit: first },
      ]);
      assert.deepEqual(await restorePoints(folder, 'run-10'), [{ iteration: 1, commit: second }]);
      assert.deepEqual(await restorePoints(folder, 'run-2'), []);

      assert.equal(await removeRestorePoints(folder, ['run-10', 'other']), 3);
      assert.deepEqual(await restorePoints(folder, 'run-1'), []);
      assert.equal((await restorePoints(folder, 'run-10')).length, 1);
    });

    test('are separate for workspaces of one repository', async () => {
      const [a, b] = ['packages/a', 'packages/b'].map(name => path.join(folder, name)) as [
        string,
        string,
      ];
      await mkdir(a, { recursive: true });
      await mkdir(b, { recursive: true });
      const second = await commit('second');
      await setRestorePoint(a, 'run-1', 1, first);
      await setRestorePoint(b, 'run-1', 1, second);
      await setRestorePoint(b, 'run-2', 1, second);
      assert.deepEqual(await restorePoints(a, 'run-1'), [{ iteration: 1, commit: first }]);
      assert.deepEqual(await restorePoints(b, 'run-1'), [{ iteration: 1, commit: second }]);
      assert.equal(await removeRestorePoints(a, []), 1);
      assert.deepEqual(await restorePoints(a, 'run-1'), []);
      assert.equal(await removeRestorePoints(a, []), 0);
      assert.equal((await restorePoints(b, 'run-1')).length, 1);
      assert.equal((await restorePoints(b, 'run-2')).length, 1);
    });

    test('are not branches or tags, and keep a commit that is otherwise unreachable', async () => {
      const lost = await commit('lost');
      await setRestorePoint(folder, 'run-1', 1, lost);
      await git('reset', '--quiet', '--hard', first);
      await git('reflog', 'expire', '--expire=now', '--all');
      await git('gc', '--quiet', '--prune=now');
      assert.deepEqual(await restorePoints(folder, 'run-1'), [{ iteration: 1, commit: lost }]);
      assert.equal(await git('rev-parse', lost), lost);
      assert.equal(
        await git('branch', '--list', '--all', '--format=%(refname)'),
        'refs/heads/main',
      );
      assert.equal(await git('tag'), '');
    });

    test('refuse an invalid run, iteration or commit', async () => {
      for (const runId of ['', '../heads', 'a/b', '-x', 'a..b', 'x.lock']) {
        await assert.rejects(setRestorePoint(folder, runId, 1, first), HumanError, runId);
      }
      for (const iteration of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await assert.rejects(setRestorePoint(folder, 'run-1', iteration, first), HumanError);
      }
      for (const hash of ['', 'main', '--help', '0'.repeat(40)]) {
        await assert.rejects(setRestorePoint(folder, 'run-1', 1, hash), HumanError);
      }
      await assert.rejects(restorePoints(folder, '../heads'), HumanError);
      assert.equal(await git('for-each-ref', 'refs/ralph-fresh'), '');
      assert.equal(await head(), first);
    });

    test('report a lock on the ref', async () => {
      await setRestorePoint(folder, 'run-1', 1, first);
      const ref = await git('for-each-ref', '--format=%(refname)', 'refs/ralph-fresh');
      await write(`.git/${ref}.lock`, '');
      await assert.rejects(setRestorePoint(folder, 'run-1', 1, first), (error: Error) => {
        assert.ok(error instanceof HumanError);
        assert.ok(isGitLocked(error));
        return true;
      });
    });
  });

  describe('rollBack', () => {
    const message = 'Go back to before iteration 2';

    /** Two commits: one that changes, adds, renames and removes; one more. */
    async function work(): Promise<string> {
      await write('a.txt', 'two\n');
      await write('src/b.txt', 'new\n');
      await write('.omc/prd.json', '{"userStories": []}');
      await rm(path.join(folder, '.gitignore'));
      await commit('second');
      await write('src/b.txt', 'newer\n');
      await write('.gitignore', '*.secret\nout\n.omc/state/\n');
      return commit('third');
    }

    async function assertRefused(to: string, pattern: RegExp): Promise<HumanError> {
      const before = await head();
      const files = await status();
      let refusal: HumanError | undefined;
      await assert.rejects(rollBack(folder, { to, message }), (error: Error) => {
        assert.ok(error instanceof HumanError, error.stack);
        assert.match(error.message, pattern);
        refusal = error;
        return true;
      });
      assert.equal(await head(), before);
      assert.equal(await status(), files);
      assert.ok(refusal);
      return refusal;
    }

    test('makes one new commit with the files of the old one', async () => {
      const third = await work();
      const result = await rollBack(folder, { to: first, message });
      assert.deepEqual(result, {
        kind: 'rolledBack',
        commit: await head(),
        files: ['.omc/prd.json', 'a.txt', 'src/b.txt'],
        kept: [],
      });
      assert.equal(
        await git('rev-parse', 'HEAD^{tree}'),
        await git('rev-parse', `${first}^{tree}`),
      );
      assert.equal(await git('rev-parse', 'HEAD^'), third);
      assert.equal(
        await git('log', '-1', '--format=%s|%an|%D'),
        `${message}|Test Person|HEAD -> main`,
      );
      assert.equal(await read('a.txt'), 'one\n');
      assert.equal(exists('src/b.txt'), false);
      assert.equal(exists('.omc/prd.json'), false);
      assert.equal(await status(), '');
    });

    test('can go forward again', async () => {
      const third = await work();
      await rollBack(folder, { to: first.slice(0, 10), message });
      await rollBack(folder, { to: third, message: 'Go on' });
      assert.equal(await read('src/b.txt'), 'newer\n');
      assert.deepEqual(await rollBack(folder, { to: third, message }), { kind: 'nothingToDo' });
      assert.equal(await git('rev-list', '--count', 'HEAD'), '5');
    });

    test('does nothing if the files already match', async () => {
      await commit('an empty one');
      assert.deepEqual(await rollBack(folder, { to: first, message }), { kind: 'nothingToDo' });
      assert.equal(await git('rev-list', '--count', 'HEAD'), '2');
    });

    test('keeps untracked and ignored files', async () => {
      await work();
      await write('src/mine.txt', 'untracked\n');
      await write('my.secret', 'ignored\n');
      await write('.omc/state/runs/r/journal.jsonl', '{}\n');
      await rollBack(folder, { to: first, message });
      assert.equal(await read('src/mine.txt'), 'untracked\n');
      assert.equal(await read('my.secret'), 'ignored\n');
      assert.equal(await read('.omc/state/runs/r/journal.jsonl'), '{}\n');
    });

    for (const [what, tracked, untracked] of [
      ['an untracked file', 'notes.txt', 'notes.txt'],
      ['an ignored file', 'my.secret', 'my.secret'],
      ['an untracked folder', 'notes', 'notes/mine.txt'],
      ['an ignored folder', 'out', 'out/mine.txt'],
    ] as const) {
      test(`refuses ${what} in the way`, async () => {
        await write(tracked, 'tracked\n');
        await git('add', '--force', tracked);
        const to = await commit('with it');
        await git('rm', '--quiet', tracked);
        await write('a.txt', 'two\n');
        await commit('without it');
        await write(untracked, 'precious\n');
        await assertRefused(to, /^git cannot go back to /);
        assert.equal(await read(untracked), 'precious\n');
        assert.equal(await read('a.txt'), 'two\n');
      });
    }

    test('names uncommitted changes', async () => {
      await work();
      await write('a.txt', 'mine\n');
      await assertRefused(first, /uncommitted changes in a\.txt\. Commit or stash/);
      await git('add', 'a.txt');
      await assertRefused(first, /a\.txt/);
      assert.equal(await read('a.txt'), 'mine\n');
    });

    test('counts uncommitted changes if there are many', async () => {
      for (let i = 0; i < 8; i++) {
        await write(`many/${i}.txt`, 'x\n');
      }
      await commit('many');
      for (let i = 0; i < 8; i++) {
        await write(`many/${i}.txt`, 'y\n');
      }
      await assertRefused(first, /many\/4\.txt and 3 more\./);
    });

    test('refuses a commit that is not an ancestor of HEAD', async () => {
      await git('switch', '--quiet', '--create', 'other');
      await write('a.txt', 'other\n');
      const other = await commit('other');
      await git('switch', '--quiet', 'main');
      await write('a.txt', 'two\n');
      await commit('second');
      await assertRefused(other, /does not descend from/);
      await git('switch', '--quiet', '--orphan', 'unrelated');
      await commit('unrelated');
      await assertRefused(first, /does not descend from/);
    });

    test('refuses an invalid commit', async () => {
      await assertRefused('0'.repeat(40), /no commit/);
      await assertRefused('--help', /not a commit/);
    });

    test('reports the lock of another git process', async () => {
      await work();
      await write('.git/index.lock', '');
      const error = await assertRefused(first, /index\.lock exists: .* remove that file/);
      assert.ok(error.message.includes(path.join(folder, '.git')));
      assert.ok(isGitLocked(error));
    });

    test('refuses if the state of the run is tracked', async () => {
      await write('.omc/state/runs/r/journal.jsonl', '{}\n');
      await git('add', '--force', '.omc');
      await commit('by mistake');
      await assertRefused(first, /\.omc\/state\/runs\/r\/journal\.jsonl has been committed/);
      assert.equal(await read('.omc/state/runs/r/journal.jsonl'), '{}\n');
    });

    test('accepts any message', async () => {
      for (const text of [
        '--help',
        '-c core.pager=x --template=y',
        'a\0b',
        'Größe 漢字\n\nbody',
        '# hash',
      ]) {
        await write('a.txt', `${text}\n`);
        await commit('change');
        await rollBack(folder, { to: first, message: text });
        assert.equal(await git('log', '-1', '--format=%B'), text.replace('\0', ''));
      }
    });

    test('ignores the configuration of merges', async () => {
      await work();
      for (const [name, value] of [
        ['merge.ff', 'false'],
        ['merge.verifySignatures', 'true'],
        ['branch.main.mergeOptions', '--squash'],
        ['commit.gpgSign', 'true'],
        ['core.autocrlf', 'false'],
      ] as const) {
        await git('config', name, value);
      }
      assert.equal((await rollBack(folder, { to: first, message })).kind, 'rolledBack');
      assert.equal(await status(), '');
    });

    test('works on a detached HEAD and from a subfolder', async () => {
      await work();
      await git('switch', '--quiet', '--detach');
      await write('src/keep.txt', 'untracked\n');
      const result = await rollBack(path.join(folder, 'src'), { to: first, message });
      assert.equal(result.kind, 'rolledBack');
      assert.equal(await read('a.txt'), 'one\n');
    });

    test('refuses in the middle of a merge', async () => {
      await work();
      await git('switch', '--quiet', '--create', 'other', first);
      await write('c.txt', 'c\n');
      await commit('other');
      await git('switch', '--quiet', 'main');
      await git('merge', '--quiet', '--no-commit', '--no-ff', 'other');
      await assertRefused(first, /c\.txt/);
    });

    test('leaves HEAD where it was if killed in the middle', async t => {
      if (process.platform === 'win32') {
        t.skip('needs a POSIX shell');
        return;
      }
      await write('.gitattributes', '*.filtered filter=deadly\n');
      await write('x.filtered', 'one\n');
      const to = await commit('with a filter');
      await write('x.filtered', 'two\n');
      const before = await commit('changed');
      await git('config', 'filter.deadly.smudge', 'kill -9 $PPID');
      await assert.rejects(rollBack(folder, { to, message }), HumanError);
      assert.equal(await head(), before);
      assert.equal(await git('branch', '--show-current'), 'main');
      await git('config', '--unset', 'filter.deadly.smudge');
      // It died with its lock in its hand.
      await stat(path.join(folder, '.git/index.lock'));
      await assert.rejects(rollBack(folder, { to, message }), (error: Error) => isGitLocked(error));
      await rm(path.join(folder, '.git/index.lock'));
      await git('reset', '--quiet', '--hard');
      assert.equal((await rollBack(folder, { to, message })).kind, 'rolledBack');
      assert.equal(await read('x.filtered'), 'one\n');
    });
  });
});

test('isGitLocked recognizes lock files in any language', () => {
  for (const message of [
    "fatal: Unable to create '/x y/.git/index.lock': File exists.",
    "fatal: Konnte '/x/.git/worktrees/w/index.lock' nicht erstellen: Die Datei existiert bereits.",
    "fatal: cannot lock ref 'refs/heads/a': Unable to create '/x/.git/refs/heads/a.lock': File exists.",
    "无法创建 'C:\\x\\.git\\HEAD.lock'",
  ]) {
    assert.ok(isGitLocked(new Error(message)), message);
    assert.ok(isGitLocked(new HumanError('x', { cause: new Error(message) })));
  }
  for (const other of [
    new Error('error: poetry.lock would be overwritten by merge'),
    new Error("'refs/heads/a' exists; cannot create 'refs/heads/a/b'"),
    undefined,
    'index.lock',
  ]) {
    assert.equal(isGitLocked(other), false);
  }
});
