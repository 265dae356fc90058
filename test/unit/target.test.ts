import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { englishOf } from '../../src/base/say.ts';
import type { Forward } from '../../src/orchestrator/landing/branchForward.ts';
import { type Candidate, makeCandidate } from '../../src/orchestrator/landing/candidate.ts';
import { Target } from '../../src/orchestrator/landing/target.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

const STORIES = '.omc/prd.json';
const LOG = '.omc/progress.txt';
const TIP = 'refs/ralph-fresh/0123456789ab/tip';
const SHARED = { storyFile: STORIES, progressFile: LOG };

function prd(...done: readonly string[]): string {
  const stories = ['1', '2', '3', '4', '5', '6'].map(
    id => `  {"id": "US-${id}", "title": "Story ${id}", "passes": ${done.includes(id)}}`,
  );
  return `{"userStories": [\n${stories.join(',\n')}\n]}\n`;
}

describe('the target branch', () => {
  let temp: TempDir;
  let folder: string;
  let lane: string;
  let first: string;

  const { git, write, read, commit, head } = gitFolder(() => ({ folder, home: temp.path }));
  const agent = gitFolder(() => ({ folder: lane, home: temp.path }));
  const at = (file: string) => path.join(folder, file);
  const status = () => git('status', '--porcelain');
  const tipOf = (ref: string) => git('rev-parse', '--verify', '--quiet', ref).catch(() => '');
  const open = (branch = 'main') => Target.open({ root: folder, branch, tipRef: TIP, ...SHARED });

  beforeEach(async () => {
    temp = await tempDir('target-');
    await setUp('my projeçt');
  });
  afterEach(() => temp.remove());

  async function setUp(name: string): Promise<void> {
    folder = path.join(temp.path, name);
    lane = path.join(temp.path, `${name} lane`);
    await mkdir(folder);
    await gitRepo(folder);
    await write('.gitignore', '*.secret\n');
    await write('a.txt', 'a\n');
    await write('b.txt', 'b\n');
    await write(STORIES, prd());
    await write(LOG, '# Log\n');
    first = await commit('Start');
    await git('clone', '--quiet', '--shared', '--no-tags', folder, lane);
    await agent.git('config', 'user.name', 'Agent');
    await agent.git('config', 'user.email', 'agent@example.com');
  }

  /** A candidate on the tip, of an agent that writes these files. */
  async function candidate(
    target: Target,
    id: string,
    files: Readonly<Record<string, string>>,
  ): Promise<{ readonly from: string; readonly to: string }> {
    const { tip } = await target.look();
    return { from: tip, to: (await candidateOn(tip, id, files)).commit };
  }

  async function candidateOn(
    tip: string,
    id: string,
    files: Readonly<Record<string, string>>,
  ): Promise<Candidate> {
    await agent.git('reset', '--quiet', '--hard', tip);
    for (const [file, content] of Object.entries(files)) {
      await agent.write(file, content);
    }
    await agent.git('add', '--all', '--force');
    await agent.git('commit', '--quiet', '--message', `Story ${id}`);
    await git('fetch', '--quiet', lane, `+HEAD:refs/ralph-fresh/0123456789ab/run-1/${id}/1`);
    const made = await makeCandidate({
      root: folder,
      target: tip,
      work: await agent.head(),
      base: tip,
      ...SHARED,
      story: { id: `US-${id}`, position: Number(id) - 1 },
      progressText: `## Story ${id}\n- note ${id}\n`,
      landAs: 'squash',
      trailers: { 'Ralph-Story': `US-${id}` },
    });
    assert.ok(made.kind === 'candidate', JSON.stringify(made));
    return made;
  }

  async function landed(
    target: Target,
    id: string,
    files: Readonly<Record<string, string>>,
  ): Promise<{ readonly result: Forward; readonly to: string }> {
    const { from, to } = await candidate(target, id, files);
    return { to, result: await target.advance(from, to) };
  }

  describe('open', () => {
    test('creates the branch from HEAD, without a checkout', async () => {
      const target = await open('ralph/work');
      assert.equal(await git('symbolic-ref', 'HEAD'), 'refs/heads/main');
      assert.deepEqual(await target.look(), { tip: first, branch: first, kind: 'same' });
      await write('a.txt', 'more\n');
      await commit();
      assert.equal((await (await open('ralph/work')).look()).branch, first);
    });

    test('refuses names that git does not allow', async () => {
      await assert.rejects(open('a..b'), /"a\.\.b" is not a valid git branch name/);
      await assert.rejects(open('main/x'), /because the branch main exists/);
    });

    test('refuses a repository without a commit', async () => {
      await git('update-ref', '-d', 'HEAD');
      await assert.rejects(open('work'), /no commit yet/);
    });
  });

  describe('advance', () => {
    test('moves files and branch if the user has the branch checked out', async () => {
      const mark = path.join(temp.path, 'ran');
      await git('config', 'merge.ff', 'false');
      await git('config', 'branch.main.mergeOptions', '--no-ff --squash');
      const target = await open();
      await write('mine.txt', 'untracked\n');
      await write('b.txt', 'local change\n');
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n', 'new/n.txt': 'n\n' });
      for (const hook of ['post-merge', 'reference-transaction', 'post-checkout']) {
        await write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch '${mark}'\nexit 1\n`);
        await chmod(at(`.git/hooks/${hook}`), 0o755);
      }
      assert.deepEqual(await target.advance(from, to), { kind: 'followed' });
      assert.ok(!existsSync(mark));
      assert.equal(await head(), to);
      assert.equal(await read('a.txt'), 'agent\n');
      assert.equal(await read('new/n.txt'), 'n\n');
      assert.equal(await read(STORIES), prd('1'));
      assert.equal(await read(LOG), '# Log\n## Story 1\n- note 1\n');
      assert.equal(await status(), 'M b.txt\n?? mine.txt');
      assert.equal(await tipOf(TIP), '');
      assert.match(await git('log', '-g', '-1', '--format=%gs'), /^ralph-fresh: land .*: Fast-f/);
      assert.deepEqual(await target.look(), { tip: to, branch: to, kind: 'same' });
    });

    test('moves only the ref if nobody has it checked out', async () => {
      const target = await open('work');
      const { result, to } = await landed(target, '1', { 'a.txt': 'agent\n' });
      assert.equal(result.kind, 'followed');
      assert.equal(await tipOf('refs/heads/work'), to);
      assert.deepEqual([await head(), await status(), await read('a.txt')], [first, '', 'a\n']);
      assert.match(await git('log', '-g', '-1', '--format=%gs', 'work'), /^ralph-fresh: land/);
      await git('switch', '--quiet', '--detach');
      assert.equal((await landed(target, '2', { 'b.txt': 'x\n' })).result.kind, 'followed');
      await git('switch', '--quiet', 'work');
      assert.equal((await landed(target, '3', { 'b.txt': 'y\n' })).result.kind, 'followed');
      assert.deepEqual([await read('b.txt'), await status()], ['y\n', '']);
    });

    test('changes nothing if someone else was faster', async () => {
      const target = await open();
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
      await write('b.txt', 'person\n');
      const made = await commit();
      assert.deepEqual(await target.advance(from, to), { kind: 'moved' });
      assert.deepEqual([await head(), await tipOf(TIP)], [made, '']);
      assert.deepEqual(await target.look(), { tip: made, branch: made, kind: 'same' });
      await git('switch', '--quiet', '--detach');
      await git('branch', '--force', 'main', first);
      const unknown = made.replace(/^./, digit => (digit === '0' ? '1' : '0'));
      await assert.rejects(target.advance(first, unknown), /git cannot bring/);
    });

    for (const [what, prepare, files] of [
      ['a local change', () => write('a.txt', 'local\n'), ['a.txt']],
      ['a deletion', () => git('rm', '--quiet', 'a.txt'), ['a.txt']],
      ['an untracked file', () => write('new "n".txt', 'mine\n'), ['new "n".txt']],
      ['an ignored file', () => write('x.secret', 'mine\n'), ['x.secret']],
      ['a file where a folder is needed', () => write('dir', 'mine\n'), ['dir']],
      [
        'a staged change',
        async () => {
          await write('a.txt', 'staged\n');
          await git('add', 'a.txt');
        },
        ['a.txt'],
      ],
    ] as const) {
      test(`lands next to the branch if ${what} is in the way, and the branch follows later`, async () => {
        const target = await open();
        await prepare();
        const before = [await status(), await git('ls-files', '-s')];
        const changes = {
          'a.txt': 'agent\n',
          'new "n".txt': 'n\n',
          'x.secret': 's\n',
          'dir/d.txt': 'd\n',
        };
        const one = await landed(target, '1', changes);
        assert.ok(one.result.kind === 'held');
        assert.equal(one.result.code, 'localChanges');
        assert.deepEqual(one.result.files, files);
        assert.match(englishOf(one.result.reason), /local changes or untracked files: /);
        assert.deepEqual([await status(), await git('ls-files', '-s')], before);
        assert.deepEqual(await target.look(), { tip: one.to, branch: first, kind: 'ahead' });
        assert.equal(await tipOf(TIP), one.to);
        // The next one lands on the tip.
        const two = await landed(target, '2', { 'b.txt': 'agent\n' });
        assert.ok(two.result.kind === 'held');
        assert.deepEqual(two.result.files, files);
        assert.deepEqual(await target.look(), { tip: two.to, branch: first, kind: 'ahead' });
        assert.equal((await target.follow()).kind, 'held');
        for (const landedCommit of [one.to, two.to, first]) {
          assert.ok(await target.isLanded(landedCommit));
        }
        await git('stash', '--quiet', '--all');
        assert.deepEqual(await target.follow(), { kind: 'followed', commit: two.to });
        assert.deepEqual([await head(), await tipOf(TIP), await status()], [two.to, '', '']);
        assert.deepEqual(await target.follow(), { kind: 'followed', commit: two.to });
      });
    }

    test('brings in the rest with the next landing once the way is free', async () => {
      const target = await open();
      await write('a.txt', 'local\n');
      assert.equal((await landed(target, '1', { 'a.txt': 'agent\n' })).result.kind, 'held');
      await git('checkout', '--quiet', 'a.txt');
      const two = await landed(target, '2', { 'b.txt': 'agent\n' });
      assert.equal(two.result.kind, 'followed');
      assert.deepEqual([await head(), await tipOf(TIP)], [two.to, '']);
      assert.equal(await read(STORIES), prd('1', '2'));
    });

    test('accepts a tip that the branch has reached by other means', async () => {
      const target = await open();
      await write('a.txt', 'local\n');
      const { to } = await landed(target, '1', { 'a.txt': 'agent\n' });
      await git('reset', '--quiet', '--hard', to);
      await write('b.txt', 'more\n');
      const made = await commit();
      assert.deepEqual(await target.look(), { tip: made, branch: made, kind: 'same' });
      assert.equal((await landed(target, '2', { 'a.txt': 'x\n' })).result.kind, 'followed');
      assert.equal(await tipOf(TIP), '');
    });
  });

  describe('is held back and follows later', () => {
    async function heldBy(
      code: string,
      work: () => Promise<unknown>,
      undo: () => Promise<unknown>,
    ) {
      const target = await open();
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
      await work();
      const refs = await tipOf('refs/heads/main');
      const result = await target.advance(from, to);
      assert.ok(result.kind === 'held', JSON.stringify(result));
      assert.equal(result.code, code);
      assert.deepEqual(result.files, []);
      assert.equal(await tipOf('refs/heads/main'), refs);
      assert.equal((await target.follow()).kind, 'held');
      await undo();
      assert.deepEqual(await target.follow(), { kind: 'followed', commit: to });
      assert.equal(await tipOf('refs/heads/main'), to);
      return englishOf(result.reason);
    }

    async function otherBranch(): Promise<void> {
      await git('switch', '--quiet', '--create', 'other');
      await write('b.txt', 'other\n');
      await commit('Other');
      await git('switch', '--quiet', 'main');
    }

    test('while another git process works', async () => {
      const lock = () => write('.git/index.lock', '');
      await heldBy('locked', lock, () => rm(at('.git/index.lock')));
    });

    test('while another work tree has the branch', async () => {
      const other = path.join(temp.path, 'other tree');
      const reason = await heldBy(
        'otherWorktree',
        async () => {
          await git('switch', '--quiet', '--detach');
          await git('worktree', 'add', '--quiet', other, 'main');
        },
        () => git('worktree', 'remove', '--force', other),
      );
      assert.match(reason, /other tree/);
    });

    test('during a rebase', async () => {
      const reason = await heldBy(
        'operation',
        async () => {
          await otherBranch();
          await git('switch', '--quiet', 'main');
          await git(
            '-c',
            'sequence.editor=echo break >',
            'rebase',
            '-i',
            '--force-rebase',
            'other',
          );
          assert.ok(existsSync(at('.git/rebase-merge/head-name')));
        },
        () => git('rebase', '--abort'),
      );
      assert.equal(reason, 'A "git rebase" of the branch main is not finished.');
    });

    test('during a rebase in another work tree', async () => {
      const other = path.join(temp.path, 'other tree');
      await heldBy(
        'operation',
        async () => {
          await otherBranch();
          await git('switch', '--quiet', 'other');
          await git('worktree', 'add', '--quiet', other, 'main');
          const args = ['-c', 'sequence.editor=echo break >', 'rebase', '-i', '--force-rebase'];
          await git('-C', other, ...args, 'other');
        },
        () => git('-C', other, 'rebase', '--abort').then(() => git('worktree', 'remove', other)),
      );
    });

    test('during a bisect', async () => {
      await heldBy(
        'operation',
        async () => {
          await git('bisect', 'start');
          await git('switch', '--quiet', '--detach');
        },
        () => git('bisect', 'reset'),
      );
    });

    test('during a merge', async () => {
      await heldBy(
        'operation',
        async () => {
          await otherBranch();
          await git('merge', '--quiet', '--no-ff', '--no-commit', 'other');
        },
        () => git('merge', '--abort'),
      );
    });

    test('during a cherry-pick', async () => {
      await heldBy(
        'operation',
        async () => {
          await otherBranch();
          await git('cherry-pick', '--no-commit', 'other');
          await git('reset', '--quiet', '--hard');
          await git('update-ref', 'CHERRY_PICK_HEAD', 'other');
        },
        () => git('cherry-pick', '--quit'),
      );
    });
  });

  describe('our own ticks and notes', () => {
    /** It is held because of `a.txt`, and the ticks were made in the user's files meanwhile. */
    async function behind(target: Target): Promise<string> {
      await write('a.txt', 'local\n');
      const { result, to } = await landed(target, '1', { 'a.txt': 'agent\n' });
      assert.equal(result.kind, 'held');
      await write(STORIES, prd('1'));
      await write(LOG, '# Log\n## Story 1\n- note 1\n');
      return to;
    }

    test('do not block it', async () => {
      const target = await open();
      const to = await behind(target);
      const held = await target.follow();
      assert.ok(held.kind === 'held');
      assert.deepEqual(held.files, ['a.txt']);
      await git('checkout', '--quiet', 'a.txt');
      await write('b.txt', 'still local\n');
      assert.deepEqual(await target.follow(), { kind: 'followed', commit: to });
      assert.deepEqual([await status(), await tipOf(TIP)], ['M b.txt', '']);
      assert.equal(await read(STORIES), prd('1'));
    });

    test('neither do leftovers of a git process killed during the move', async () => {
      await write('gone.txt', 'gone');
      await write('changed.txt', 'old');
      const from = await commit('Files');
      await write('added/new.txt', 'new');
      await write('changed.txt', 'new');
      await symlink('changed.txt', at('link'));
      await rm(at('gone.txt'));
      const to = await commit('Landed');
      await git('reset', '--quiet', '--hard', from);
      const target = await open();
      // The files are there, and some are gone; index and HEAD are as they were.
      await write('added/new.txt', 'new');
      await write('changed.txt', 'new');
      await symlink('changed.txt', at('link'));
      await rm(at('gone.txt'));
      assert.deepEqual(await target.advance(from, to), { kind: 'followed' });
      assert.equal(await status(), '');
      assert.equal(await git('rev-parse', 'HEAD'), to);
    });

    test('but a file that differs slightly does', async () => {
      const from = await commit('Files');
      await write('new.txt', 'new');
      await write('other.txt', 'other');
      const to = await commit('Landed');
      await git('reset', '--quiet', '--hard', from);
      const target = await open();
      await write('new.txt', 'new');
      await write('other.txt', 'mine');
      const held = await target.advance(from, to);
      assert.ok(held.kind === 'held');
      assert.deepEqual(held.files, ['other.txt']);
      assert.equal(await status(), '?? new.txt\n?? other.txt');
    });

    test('do not block it even if the person has staged them', async () => {
      const target = await open();
      const to = await behind(target);
      await git('checkout', '--quiet', 'a.txt');
      await git('add', '.omc');
      assert.deepEqual(await target.follow(), { kind: 'followed', commit: to });
      assert.equal(await status(), '');
    });

    test("but a person's change to existing content does, and is kept", async () => {
      const target = await open();
      await behind(target);
      await git('checkout', '--quiet', 'a.txt');
      await write(LOG, '# My log\n## Story 1\n- note 1\n');
      const before = [await status(), await git('ls-files', '-s')];
      const held = await target.follow();
      assert.ok(held.kind === 'held');
      assert.deepEqual(held.files, [LOG]);
      assert.deepEqual([await status(), await git('ls-files', '-s')], before);
    });

    test('neither do ticks, stories and notes of a person, which are kept', async () => {
      const target = await open();
      const mine = prd('3').replace('Story 4', 'My story');
      await write(STORIES, mine);
      await write(LOG, '# Log\nand mine\n');
      await git('add', LOG);
      const { result, to } = await landed(target, '1', { 'a.txt': 'agent\n' });
      assert.deepEqual(result, { kind: 'followed' });
      assert.equal(await head(), to);
      // What the landing brings is written into them when it is finished.
      assert.deepEqual([await read(STORIES), await read(LOG)], [mine, '# Log\nand mine\n']);
      assert.equal(await git('diff', '--cached', '--name-only'), '');
      assert.equal(await git('diff', '--name-only'), `${STORIES}\n${LOG}`);
    });

    test('but a list without the story does, and so does one staged in two versions', async () => {
      for (const [staged, list] of [
        [prd(), prd('3').replace('US-1', 'US-9')],
        [prd('2'), prd('3')],
      ] as const) {
        await git('reset', '--quiet', '--hard');
        await write(STORIES, staged);
        await git('add', STORIES);
        await write(STORIES, list);
        const before = [await status(), await git('ls-files', '-s')];
        const { result } = await landed(await open(), '1', { 'a.txt': 'agent\n' });
        assert.ok(result.kind === 'held');
        assert.deepEqual(result.files, [STORIES]);
        assert.deepEqual([await status(), await git('ls-files', '-s')], before);
        assert.equal(await read(STORIES), list);
        await git('update-ref', '-d', TIP);
      }
    });

    test('are recognized with the line endings that git writes', async () => {
      await git('config', 'core.autocrlf', 'true');
      const target = await open();
      const to = await behind(target);
      await rm(at('a.txt'));
      await git('checkout', '--quiet', 'a.txt');
      await write(STORIES, prd('1').replaceAll('\n', '\r\n'));
      assert.deepEqual(await target.follow(), { kind: 'followed', commit: to });
    });
  });

  describe('a person commits while the tip is ahead of the branch', () => {
    async function diverged(target: Target, files: Readonly<Record<string, string>>) {
      await write('a.txt', 'local\n');
      const one = await landed(target, '1', { 'a.txt': 'agent\n', 'c.txt': 'c\n' });
      assert.equal(one.result.kind, 'held');
      await git('checkout', '--quiet', 'a.txt');
      for (const [file, content] of Object.entries(files)) {
        await write(file, content);
      }
      return { tip: one.to, branch: await commit('Person') };
    }

    test('both are merged, shared files by meaning', async () => {
      const target = await open();
      const sides = await diverged(target, {
        'b.txt': 'person\n',
        [STORIES]: prd('3'),
        [LOG]: '# Log\n\nperson\n',
      });
      assert.deepEqual(await target.look(), { ...sides, kind: 'diverged' });
      const held = await target.follow();
      assert.ok(held.kind === 'held' && held.code === 'diverged');
      // Landing continues in parallel.
      const two = await landed(target, '2', { 'd.txt': 'd\n' });
      assert.ok(two.result.kind === 'held' && two.result.code === 'diverged');
      const join = await target.joinBase();
      assert.ok(join?.kind === 'join');
      assert.equal(await status(), '');
      assert.equal(
        await git('log', '-1', '--format=%P %s', join.commit),
        `${sides.branch} ${two.to} Merge what has landed into main`,
      );
      assert.deepEqual(await target.advance(two.to, join.commit), { kind: 'followed' });
      assert.deepEqual([await head(), await tipOf(TIP), await status()], [join.commit, '', '']);
      assert.equal(await read(STORIES), prd('1', '2', '3'));
      assert.equal(
        await read(LOG),
        '# Log\n\nperson\n\n## Story 1\n- note 1\n## Story 2\n- note 2\n',
      );
      assert.equal(await read('b.txt'), 'person\n');
      assert.equal(await read('c.txt'), 'c\n');
      assert.equal(await target.joinBase(), undefined);
    });

    test('a merge that the branch cannot follow at once is kept as the tip', async () => {
      const target = await open();
      const { tip } = await diverged(target, { 'b.txt': 'person\n' });
      const join = await target.joinBase();
      assert.ok(join?.kind === 'join');
      await write('b.txt', 'person again\n');
      const again = await commit();
      const result = await target.advance(tip, join.commit);
      assert.ok(result.kind === 'held' && result.code === 'diverged');
      assert.deepEqual(await target.look(), { tip: join.commit, branch: again, kind: 'diverged' });
    });

    test('a conflict names the files', async () => {
      const target = await open();
      await diverged(target, { 'a.txt': 'person\n', [STORIES]: prd('1', '4') });
      assert.deepEqual(await target.joinBase(), {
        kind: 'conflict',
        reason: 'files',
        files: ['a.txt'],
      });
    });
  });

  test('a deleted branch is reported with the next step, and the tip is kept', async () => {
    const target = await open('work');
    await git('branch', '--quiet', '-D', 'work');
    await assert.rejects(target.look(), /no longer exists\. Create it again: git branch work$/);
    await git('update-ref', TIP, first);
    await assert.rejects(target.look(), new RegExp(`is kept; .* git branch work ${first}$`));
    await assert.rejects(target.isLanded(first), /no longer exists/);
  });

  test('a branch that was deleted or renamed meanwhile is created again where it was', async () => {
    const target = await open('work');
    await target.look();
    const was = await git('rev-parse', 'work');
    await git('branch', '--quiet', '-m', 'work', 'renamed');
    await assert.rejects(target.look(), new RegExp(`no longer exists.* git branch work ${was}$`));
  });

  test('isLanded accepts only branch and tip', async () => {
    const target = await open();
    const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
    assert.ok(await target.isLanded(from));
    assert.ok(!(await target.isLanded(to)));
    assert.ok(!(await target.isLanded('1'.repeat(40))));
    await target.advance(from, to);
    assert.ok(await target.isLanded(to));
  });

  describe('in parallel with a landing', { skip: process.platform === 'win32' }, () => {
    const ownPath = process.env['PATH'] ?? '';
    let shim: TempDir;

    /** A git that runs a script of the test once before a command, and writes down all commands. */
    before(async () => {
      shim = await tempDir('shim-');
      const real = ownPath.split(path.delimiter).find(dir => existsSync(path.join(dir, 'git')));
      const script = `#!/bin/sh
for arg in "$@"; do
  case "$skip$arg" in
    -c) skip=x;;
    -*) ;;
    x*) skip=;;
    *) command=$arg; break;;
  esac
done
echo "$command" >> '${shim.path}/log'
if [ -f '${shim.path}/before-'"$command" ]; then
  mv '${shim.path}/before-'"$command" '${shim.path}/running'
  PATH='${real}':$PATH sh '${shim.path}/running' > '${shim.path}/output' 2>&1
fi
exec '${real}/git' "$@"
`;
      await writeFile(path.join(shim.path, 'git'), script, { mode: 0o755 });
      process.env['PATH'] = `${shim.path}${path.delimiter}${ownPath}`;
    });
    after(async () => {
      process.env['PATH'] = ownPath;
      await shim.remove();
    });

    const meanwhile = (command: string, script: string) =>
      writeFile(path.join(shim.path, `before-${command}`), `cd '${folder}'\n${script}\n`);
    const isOver = (command: string) => !existsSync(path.join(shim.path, `before-${command}`));

    test('a person commits: the work has not landed', async () => {
      const target = await open();
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
      await meanwhile('merge', 'echo person > b.txt; git commit -q -a -m person');
      assert.deepEqual(await target.advance(from, to), { kind: 'moved' });
      assert.ok(isOver('merge'));
      assert.equal(await git('log', '--format=%s'), 'person\nStart\nFirst commit');
      assert.deepEqual([await status(), await tipOf(TIP)], ['', '']);
    });

    test('a person commits on a branch that nobody has checked out', async () => {
      const target = await open('work');
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
      await meanwhile('update-ref', 'git switch -q work; git commit -q --allow-empty -m person');
      assert.deepEqual(await target.advance(from, to), { kind: 'moved' });
      assert.equal(await git('log', '-1', '--format=%s', 'work'), 'person');
    });

    test('a person leaves the branch: the other branch is unchanged', async () => {
      const target = await open();
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
      await write('b.txt', 'local\n');
      await meanwhile('merge', 'git switch -q -c other');
      assert.deepEqual(await target.advance(from, to), { kind: 'followed' });
      assert.ok(isOver('merge'));
      assert.equal(await tipOf('refs/heads/main'), to);
      assert.equal(await tipOf('refs/heads/other'), first);
      assert.deepEqual([await read('a.txt'), await read('b.txt')], ['a\n', 'local\n']);
      assert.equal(await status(), 'M b.txt');
    });

    test('a person switches to a branch with other commits', async () => {
      await git('switch', '--quiet', '--create', 'other');
      await write('a.txt', 'other\n');
      const other = await commit('Other');
      await git('switch', '--quiet', 'main');
      const target = await open();
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
      await meanwhile('merge', 'git switch -q other');
      assert.deepEqual(await target.advance(from, to), { kind: 'followed' });
      assert.deepEqual([await tipOf('refs/heads/main'), await head()], [to, other]);
      assert.deepEqual([await read('a.txt'), await status()], ['other\n', '']);
    });

    test('a person checks the branch out before its ref moves: the files follow', async () => {
      const target = await open('work');
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
      await meanwhile('update-ref', 'git switch -q work');
      assert.deepEqual(await target.advance(from, to), { kind: 'followed' });
      assert.equal(await git('symbolic-ref', 'HEAD'), 'refs/heads/work');
      assert.deepEqual([await head(), await read('a.txt'), await status()], [to, 'agent\n', '']);
    });

    test('the same with a local change: the branch matches the files', async () => {
      const target = await open('work');
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
      await write('a.txt', 'local\n');
      await meanwhile('update-ref', 'git switch -q work');
      const result = await target.advance(from, to);
      assert.ok(result.kind === 'held');
      assert.deepEqual(result.files, ['a.txt']);
      assert.deepEqual([await head(), await status()], [first, 'M a.txt']);
      assert.equal(await tipOf(TIP), to);
    });

    test('the same in another work tree', async () => {
      const target = await open('work');
      const { from, to } = await candidate(target, '1', { 'a.txt': 'agent\n' });
      const other = path.join(temp.path, 'other tree');
      await meanwhile('update-ref', `git worktree add -q '${other}' work`);
      const result = await target.advance(from, to);
      assert.ok(result.kind === 'held' && result.code === 'otherWorktree');
      assert.equal(await git('-C', other, 'status', '--porcelain'), '');
      assert.equal(await tipOf('refs/heads/work'), first);
    });

    test('a switch that ends after the move is noticed at the next check', async () => {
      const target = await open('work');
      const { to } = await landed(target, '1', { 'a.txt': 'agent\n' });
      // The last step of a switch that read the branch before.
      await git('symbolic-ref', 'HEAD', 'refs/heads/work');
      assert.notEqual(await status(), '');
      assert.deepEqual(await target.look(), { tip: to, branch: first, kind: 'ahead' });
      assert.equal(await status(), '');
      assert.deepEqual(await target.follow(), { kind: 'followed', commit: to });
      assert.deepEqual([await read('a.txt'), await status()], ['agent\n', '']);
    });

    test('a switch after the move has no effect', async () => {
      const target = await open('work');
      const { to } = await landed(target, '1', { 'a.txt': 'agent\n' });
      await git('switch', '--quiet', 'work');
      assert.deepEqual(await target.look(), { tip: to, branch: to, kind: 'same' });
      assert.equal(await status(), '');
    });

    test('an edit after our own ticks were examined: the index is unchanged', async () => {
      const target = await open();
      await write('a.txt', 'local\n');
      await landed(target, '1', { 'a.txt': 'agent\n' });
      await git('checkout', '--quiet', 'a.txt');
      await write(STORIES, prd('1'));
      await write(LOG, '# Log\n## Story 1\n- note 1\n');
      const index = await git('ls-files', '--stage');
      await meanwhile('update-index', 'echo again > a.txt');
      assert.equal((await target.follow()).kind, 'held');
      assert.ok(isOver('update-index'));
      assert.equal(await git('ls-files', '--stage'), index);
      await git('checkout', '--quiet', 'a.txt');
      assert.equal((await target.follow()).kind, 'followed');
    });

    test('a landing needs at most eight processes', async () => {
      const target = await open();
      await target.look();
      const log = path.join(shim.path, 'log');
      const { tip } = await target.look();
      await agent.write('a.txt', 'agent\n');
      await agent.commit('Agent');
      await git('fetch', '--quiet', lane, 'HEAD');
      await writeFile(log, '');
      const made = await makeCandidate({
        root: folder,
        target: tip,
        work: await agent.head(),
        base: tip,
        ...SHARED,
        story: { id: 'US-1', position: 0 },
        progressText: 'note',
        landAs: 'squash',
        trailers: {},
      });
      assert.ok(made.kind === 'candidate');
      assert.equal((await target.advance(tip, made.commit)).kind, 'followed');
      const commands = (await readFile(log, 'utf8')).trim().split('\n');
      assert.ok(commands.length <= 8, commands.join(' '));
    });
  });

  type Step =
    | { readonly kind: 'land' | 'follow' | 'join' | 'newBranch' | 'stage' | 'commit' | 'stash' }
    | { readonly kind: 'edit'; readonly file: string }
    | { readonly kind: 'switch'; readonly branch: string }
    | { readonly kind: 'landLate'; readonly step: Step };

  const personSteps: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constantFrom('newBranch', 'stage', 'commit', 'stash' as const) }),
    fc.record({ kind: fc.constant('edit' as const), file: fc.constantFrom('a.txt', 'x.txt', LOG) }),
    fc.record({ kind: fc.constant('switch' as const), branch: fc.constantFrom('main', 'other') }),
  );
  const steps: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: personSteps },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constantFrom('land', 'follow', 'join' as const) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('landLate' as const), step: personSteps }),
    },
  );

  test("no commit or change is lost, in any order of landings and a person's actions", async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 8 }), async sequence => {
        runs += 1;
        await setUp(`run ${runs}`);
        await git('branch', 'other');
        const target = await open();
        const kept = new Set<string>();
        const safe: string[] = [];
        let count = 0;
        const next = () => {
          count += 1;
          return count;
        };
        const person = async (step: Step): Promise<void> => {
          switch (step.kind) {
            case 'edit':
              await appendFile(at(step.file), `person ${next()}\n`);
              return;
            case 'stage':
              await git('add', '--all');
              return;
            case 'commit':
              kept.add(await commit(`Person ${next()}`));
              return;
            case 'stash':
              await git('stash', '--quiet', '--include-untracked');
              return;
            case 'newBranch':
              await git('switch', '--quiet', '--create', `new-${next()}`);
              return;
            case 'switch':
              // Git may refuse, because of local changes.
              await git('switch', '--quiet', step.branch).catch(() => undefined);
              return;
            default:
          }
        };
        const localEdits = async () => {
          const [work, staged] = [await git('diff'), await git('diff', '--cached')];
          const added = `${work}\n${staged}`.split('\n').filter(line => line.startsWith('+person'));
          return [...new Set(added)].sort();
        };
        const land = async (late?: Step): Promise<void> => {
          next();
          const { from, to } = await candidate(target, String((count % 6) + 1), {
            [`f${count}.txt`]: 'new\n',
            'a.txt': `agent ${count}\n`,
          });
          if (late !== undefined) {
            await person(late);
          }
          const edits = await localEdits();
          const result = await target.advance(from, to);
          assert.deepEqual(await localEdits(), edits);
          if (result.kind !== 'moved') {
            safe.push(to);
          }
        };
        for (const step of sequence) {
          switch (step.kind) {
            case 'land':
              await land();
              break;
            case 'landLate':
              await land(step.step);
              break;
            case 'follow': {
              const edits = await localEdits();
              await target.follow();
              assert.deepEqual(await localEdits(), edits);
              break;
            }
            case 'join': {
              const { tip } = await target.look();
              const join = await target.joinBase();
              if (
                join?.kind === 'join' &&
                (await target.advance(tip, join.commit)).kind !== 'moved'
              ) {
                safe.push(join.commit);
              }
              break;
            }
            default:
              await person(step);
          }
          for (const made of safe) {
            assert.ok(await target.isLanded(made), `${made} has landed`);
          }
          const tips = (await tipOf(TIP)) === '' ? [] : [TIP];
          const reachable = new Set((await git('rev-list', '--branches', ...tips)).split('\n'));
          for (const made of [...kept, ...safe]) {
            assert.ok(reachable.has(made), `${made} is reachable`);
          }
        }
        await rm(folder, { recursive: true, force: true });
        await rm(lane, { recursive: true, force: true });
      }),
      { numRuns: 8, interruptAfterTimeLimit: 20_000 },
    );
  });
});
