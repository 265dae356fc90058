import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { englishOf } from '../../src/base/say.ts';
import { isAlive, openStories, type Step, until, Workspace } from '../support/ralph.ts';
import { inAll, variants } from '../support/variants.ts';

const switchTo = (...args: string[]): Step => ({ git: ['switch', '--quiet', ...args] });
const done: Step = { result: ['Done.'] };

async function git(workspace: Workspace, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, {
    cwd: workspace.folder,
    env: workspace.env,
  });
  return stdout.trim();
}

async function oneStory(
  t: Parameters<typeof Workspace.create>[0],
  steps: readonly Step[],
  ...args: string[]
) {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  const end = await workspace.script([steps], ...args).finished;
  return { workspace, ...end };
}

/** The run continues and accepts the claim of its only agent. */
async function acceptsTheClaim(workspace: Workspace): Promise<void> {
  const { code, stderr, stdout } = await workspace.script([['work']]).finished;
  assert.equal(code, 0, stdout + stderr);
  assert.equal((await workspace.agents()).length, 1);
}

const lastDetail = async (workspace: Workspace) =>
  (await workspace.events('run.ended')).at(-1)?.detail ?? '';

describe('a run is complete only if its commits are on its branch', {
  concurrency: 3,
}, () => {
  for (const [what, there, found] of [
    ['a new branch', [switchTo('-c', 'side')], 'side'],
    ['a detached HEAD', [switchTo('--detach')], ''],
  ] as const) {
    test(`work on ${what} is brought back and reported`, async t => {
      const { code, stdout, stderr, workspace } = await oneStory(t, [...there, 'work']);
      assert.equal(code, 0, stderr);
      assert.equal(await git(workspace, 'branch', '--show-current'), 'main');
      assert.equal(await git(workspace, 'log', '-1', '--format=%s', 'main'), 'feat: US-001');
      const [left, ...others] = await workspace.events('branch.left');
      assert.deepEqual(others, []);
      assert.deepEqual([left?.branch, left?.found, left?.broughtBack], ['main', found, true]);
      assert.deepEqual(
        left?.commits.map(({ subject }) => subject),
        ['feat: US-001'],
      );
      assert.match(stdout, /left the branch main for .*; its work was brought back/);
      assert.equal((await workspace.events('commit.recorded')).length, 1);
    });
  }

  test('a claim about commits on a branch that the agent has left again is not accepted until they are merged', async t => {
    const { code, stdout, workspace } = await oneStory(t, [
      switchTo('-c', 'side'),
      { write: ['work.txt', 'work\n'] },
      { commit: 'feat: on side' },
      switchTo('main'),
      { tick: 'US-001' },
      done,
    ]);
    assert.equal(code, 1, stdout);
    const tip = await git(workspace, 'rev-parse', 'side');
    assert.match(stdout, /The work is not on the branch main, but on side/);
    assert.match(
      stdout,
      new RegExp(
        `What iteration 1 committed elsewhere is not on main yet: ${tip.slice(0, 10)}\\. Merge it \\(git merge ${tip.slice(0, 10)}\\)`,
      ),
    );
    const again = await workspace.script([['work']]).finished;
    assert.equal(again.code, 1, again.stdout);
    await git(workspace, 'merge', '--quiet', 'side');
    const merged = await workspace.script([['work']]).finished;
    assert.equal(merged.code, 0, merged.stdout + merged.stderr);
    assert.equal((await workspace.agents()).length, 1);
    assert.match(merged.stdout, /COMPLETE after 1 iteration/);
  });

  const onSide: readonly Step[] = [
    { write: ['work.txt', 'work\n'] },
    { git: ['add', 'work.txt'] },
    { git: ['commit', '--quiet', '-m', 'feat: on side'] },
  ];
  const tickOnMain: readonly Step[] = [
    { tick: 'US-001' },
    { git: ['commit', '--quiet', '-a', '-m', 'docs: done'] },
    done,
  ];
  const elsewhere: readonly (readonly [string, readonly Step[]])[] = [
    ['and commits the tick', [switchTo('-c', 'side'), ...onSide, switchTo('main'), ...tickOnMain]],
    [
      'with a reset',
      [
        ...onSide,
        { git: ['branch', 'side'] },
        { git: ['reset', '--hard', '--quiet', 'HEAD~1'] },
        ...tickOnMain,
      ],
    ],
    [
      'and visits another one',
      [
        switchTo('-c', 'side'),
        ...onSide,
        switchTo('main'),
        switchTo('-c', 'other'),
        switchTo('main'),
        ...tickOnMain,
      ],
    ],
  ];
  for (const [how, steps] of variants(elsewhere, 2)) {
    test(`a claim without the commits that its agent has left elsewhere is not accepted: it returns ${how}`, async t => {
      const { code, stdout, workspace } = await oneStory(t, steps);
      assert.equal(code, 1, stdout);
      assert.match(stdout, /What iteration 1 committed elsewhere is not on main yet/);
      // A squash is as good as a merge.
      await git(workspace, 'merge', '--quiet', '--squash', 'side');
      await git(workspace, 'commit', '--quiet', '-m', 'feat: squashed');
      await acceptsTheClaim(workspace);
    });
  }

  test('what an iteration commits on another branch is named, also to the next agent, whose claim needs it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const first = [switchTo('-c', 'side'), ...onSide, switchTo('main'), done];
    const second = [
      switchTo('side'),
      { append: ['work.txt', 'more\n'] },
      { git: ['commit', '--quiet', '-a', '-m', 'feat: more'] },
      switchTo('main'),
      ...tickOnMain,
    ];
    const { code, stdout } = await workspace.script([first, second as readonly Step[]]).finished;
    assert.equal(code, 1, stdout);
    assert.match(stdout, /The work is not on the branch main, but on side\n.*feat: on side/);
    assert.match(stdout, /Iteration 1: no progress/);
    assert.match(
      await workspace.prompt(2),
      /\*\*The previous iteration on this story committed elsewhere\*\*: .*\(on side\)/,
    );
    assert.match(stdout, /What iteration 2 committed elsewhere is not on main yet/);
  });

  test('an attempt that an agent leaves on another branch is not asked for once there is work on the branch', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const work: readonly Step[] = [
      { write: ['main.txt', 'work\n'] },
      { commit: 'feat: on main' },
      // Git tells seconds: the next iteration must not begin in that of the attempt.
      {
        shell:
          'until [ "$(date +%s)" -gt "$(($(git log -1 --format=%ct side) + 1))" ]; do sleep 0.1; done',
      },
      done,
    ];
    const attempt = [switchTo('-c', 'side'), ...onSide, switchTo('main'), done];
    const { code, stdout } = await workspace.script([attempt, work, tickOnMain]).finished;
    assert.equal(code, 0, stdout);
    assert.match(stdout, /COMPLETE after 3 iterations/);
  });

  test('of what an agent has amended elsewhere, only the newest commit is asked for', async t => {
    const { code, stdout, workspace } = await oneStory(t, [
      switchTo('-c', 'side'),
      ...onSide,
      { write: ['work.txt', 'better\n'] },
      { git: ['commit', '--quiet', '-a', '--amend', '-m', 'feat: in other words'] },
      switchTo('main'),
      ...tickOnMain,
    ]);
    assert.equal(code, 1, stdout);
    await git(workspace, 'merge', '--quiet', '--no-edit', 'side');
    await acceptsTheClaim(workspace);
  });

  test('in its own place, what cannot be merged is kept, and its story gets another agent', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const first = [
      switchTo('-c', 'side'),
      ...onSide,
      switchTo('main'),
      { write: ['work.txt', 'in the way\n'] },
      { tick: 'US-001' },
      done,
    ];
    const { code, stdout } = await workspace.script(
      [first as readonly Step[], ['work']],
      '--isolate',
    ).finished;
    assert.equal(code, 0, stdout);
    assert.match(stdout, /The work is not on the branch main, but on side/);
    assert.match(stdout, /Iteration 1: claim refused/);
    assert.match(await workspace.prompt(2), /committed elsewhere\*\*: .*\(on side\)/);
    const kept = await git(workspace, 'log', '--all', '--format=%s');
    assert.match(kept, /feat: on side/);
  });

  test("commits of somebody else on a branch that the agent only visits are not the agent's", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await git(workspace, 'switch', '--quiet', '-c', 'hers');
    await promisify(execFile)('git', ['commit', '--quiet', '--allow-empty', '-m', 'hers'], {
      cwd: workspace.folder,
      env: { ...workspace.env, GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' },
    });
    await git(workspace, 'switch', '--quiet', 'main');
    const visit = [switchTo('hers'), switchTo('main'), { tick: 'US-001' }, done];
    const { code, stdout } = await workspace.script([visit]).finished;
    assert.equal(code, 0, stdout);
    assert.deepEqual(await workspace.events('branch.left'), []);
  });

  test('in its own place, what an agent committed on a branch that it has left again is brought back', async t => {
    const { code, stdout, workspace } = await oneStory(
      t,
      [switchTo('-c', 'side'), ...onSide, switchTo('main'), ...tickOnMain],
      '--isolate',
    );
    assert.equal(code, 0, stdout);
    assert.match(stdout, /left the branch main for side; its work was brought back/);
    assert.equal(await git(workspace, 'show', 'main:work.txt'), 'work');
  });

  test('a renamed branch is created again', async t => {
    const { code, stderr, workspace } = await oneStory(t, [
      'work',
      { git: ['branch', '-m', 'main', 'mine'] },
    ]);
    assert.equal(code, 0, stderr);
    assert.equal(await git(workspace, 'branch', '--show-current'), 'main');
    assert.equal(
      await git(workspace, 'rev-parse', 'mine'),
      await git(workspace, 'rev-parse', 'main'),
    );
  });

  test('commits of a deleted branch that HEAD does not have are named', async t => {
    const { code, stdout, stderr, workspace } = await oneStory(t, [
      { write: ['first.txt', 'first'] },
      { commit: 'feat: first attempt' },
      switchTo('--detach', 'HEAD~1'),
      { git: ['branch', '--quiet', '-D', 'main'] },
      'work',
    ]);
    assert.equal(code, 0, stderr);
    assert.equal(await git(workspace, 'log', '-1', '--format=%s', 'main'), 'feat: US-001');
    const [left] = await workspace.events('branch.left');
    assert.deepEqual(
      left?.onNoBranch?.map(({ subject }) => subject),
      ['feat: first attempt'],
    );
    const [, command = ''] = /Keep them with "git (branch rescued \w+)"/.exec(stdout) ?? [];
    await git(workspace, ...command.split(' '));
    assert.equal(await git(workspace, 'show', 'rescued:first.txt'), 'first');
  });

  test('the run just goes back if nothing was committed elsewhere', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await git(workspace, 'branch', 'old');
    await git(workspace, 'commit', '--quiet', '--allow-empty', '-m', 'later');
    const cli = workspace.script([[switchTo('old'), done], ['work']]);
    const { code, stdout } = await cli.finished;
    assert.equal(code, 0);
    assert.match(stdout, /left the branch main for old, without commits there; the run went back/);
    assert.equal(await git(workspace, 'log', '-2', '--format=%s', 'main'), 'feat: US-001\nlater');
  });

  test('diverged branches end the run with the next step; after a manual merge it completes', async t => {
    const { code, stdout, workspace } = await oneStory(t, [
      { git: ['commit', '--quiet', '--allow-empty', '-m', 'on main'] },
      switchTo('-c', 'side', 'HEAD~1'),
      'work',
    ]);
    assert.equal(code, 1);
    assert.match(stdout, /left its work on side instead of main/);
    assert.match(stdout, /git switch main; git merge side/);
    assert.deepEqual(await workspace.events('iteration.ended'), []);
    const status = await workspace.cli('status').finished;
    assert.match(status.stdout, /git switch main; git merge side[^\n]*\n0\/1 stories complete/);
    const listed = await workspace.cli('stories', '--json').finished;
    assert.equal(JSON.parse(listed.stdout).stories[0].state, 'unjudged');
    const rollback = await workspace.cli('rollback', '1').finished;
    assert.equal(rollback.code, 1);
    assert.match(
      rollback.stderr,
      /worked on the branch main.*git switch --no-overwrite-ignore main/,
    );
    // Still there: the same command finds the same, and starts no agent.
    const again = await workspace.script([['work']]).finished;
    assert.equal(again.code, 1);
    await git(workspace, 'switch', '--quiet', 'main');
    const forgotten = await workspace.script([['work']]).finished;
    assert.match(forgotten.stdout, /is not on main yet/);
    await git(workspace, 'merge', '--quiet', 'side');
    const merged = await workspace.script([['work']]).finished;
    assert.equal(merged.code, 0, merged.stderr);
    assert.equal((await workspace.agents()).length, 1);
  });

  test('after a manual merge, the last allowed iteration is judged, too', async t => {
    const last = ['--max-iterations', '1'];
    const steps: readonly Step[] = [
      { git: ['commit', '--quiet', '--allow-empty', '-m', 'on main'] },
      switchTo('-c', 'side', 'HEAD~1'),
      'work',
    ];
    const { code, workspace } = await oneStory(t, steps, ...last);
    assert.equal(code, 1);
    await git(workspace, 'switch', '--quiet', 'main');
    await git(workspace, 'merge', '--quiet', 'side');
    const again = await workspace.script([['work']], ...last).finished;
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(
      [(await workspace.runIds()).length, (await workspace.agents()).length],
      [1, 1],
    );
  });

  test('a branch name chosen by an agent is quoted for the shell', async t => {
    const { stdout } = await oneStory(t, [
      { git: ['commit', '--quiet', '--allow-empty', '-m', 'on main'] },
      switchTo('-c', 'side;id', 'HEAD~1'),
      'work',
    ]);
    assert.match(stdout, /git switch main; git merge "side;id"\)/);
  });

  for (const [how, option] of [
    ['continues', '--continue'],
    ['aborts', '--abort'],
  ] as const) {
    const define = how === 'aborts' ? test : inAll(test);
    define(
      `an agent that ends in the middle of a rebase is judged once a person ${how} it`,
      async t => {
        const { code, stdout, workspace } = await oneStory(t, [
          { write: ['a.txt', 'work\n'] },
          { commit: 'feat: first half' },
          { tick: 'US-001' },
          { write: ['b.txt', 'work\n'] },
          { git: ['add', '--all'] },
          { git: ['commit', '--quiet', '-m', 'feat: US-001'] },
          // The command fails the first time.
          {
            shell:
              'git rebase -q --force-rebase --exec "test -e .git/tried || { touch .git/tried; false; }" HEAD~2 || true',
          },
          done,
        ]);
        assert.equal(code, 1, stdout);
        assert.match(
          stdout,
          /Iteration 1 ended in the middle of a "git rebase"\. Finish it with "git rebase --continue", or abort it with "git rebase --abort", then run again to continue\./,
        );
        assert.doesNotMatch(stdout, /git switch|git merge/);
        const { stderr: refusal } = await workspace.script([['work']]).finished;
        assert.match(refusal, /git rebase --abort/);
        await git(workspace, 'rebase', option);
        const later = await workspace.script([['work']]).finished;
        assert.equal(later.code, 0, later.stdout + later.stderr);
        assert.equal((await workspace.agents()).length, 1);
        assert.deepEqual(await workspace.done(), ['US-001']);
      },
    );
  }

  for (const [what, rewrite] of [
    [
      'amends',
      [{ git: ['commit', '--quiet', '--amend', '-m', 'feat: the first, in better words'] }],
    ],
    [
      'amends with other changes to the same lines of',
      [
        { write: ['US-001.txt', 'better\n'] },
        { git: ['commit', '--quiet', '-a', '--amend', '--no-edit'] },
      ],
    ],
    [
      'squashes',
      [
        { append: ['US-001.txt', 'more\n'] },
        { git: ['reset', '--quiet', '--soft', 'HEAD~1'] },
        { git: ['commit', '--quiet', '-a', '-m', 'feat: all of it'] },
      ],
    ],
    [
      'rebases',
      [
        switchTo('-c', 'base', 'HEAD~1'),
        { git: ['commit', '--quiet', '--allow-empty', '-m', 'the new base'] },
        { git: ['rebase', '--quiet', 'base', 'main'] },
      ],
    ],
  ] as const satisfies readonly (readonly [string, readonly Step[]])[]) {
    test(`an agent that ${what} the commit of a done story loses nothing`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const cli = workspace.script([['work'], [...rewrite, 'work']]);
      assert.equal((await cli.finished).code, 0, (await cli.finished).stdout);
      assert.deepEqual(await workspace.events('commits.lost'), []);
      const warnings = await workspace.events('warning');
      assert.ok(warnings.some(({ code }) => code === 'historyRewritten'));
    });
  }

  for (const [what, count, isLast] of [
    ['the last story', 2, true],
    ['a story in between', 3, false],
  ] as const) {
    test(`the run ends if the agent of ${what} removes commits of a done story, and continues once they are merged`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(count) });
      const reset: Step = { git: ['reset', '--quiet', '--hard', 'HEAD~1'] };
      const limit = ['--max-iterations', isLast ? '2' : '9'];
      const { code, stdout } = await workspace.script([['work'], [reset, 'work']], ...limit)
        .finished;
      assert.equal(code, 1, stdout);
      const [first] = await workspace.events('commit.recorded');
      const hash = first?.hash ?? '';
      const [lost, ...others] = await workspace.events('commits.lost');
      assert.deepEqual(others, []);
      assert.deepEqual(
        lost?.commits.map(commit => [commit.hash, commit.storyId]),
        [[hash, 'US-001']],
      );
      assert.match(
        englishOf(await lastDetail(workspace)),
        new RegExp(`git merge ${hash.slice(0, 10)}\\b`),
      );
      assert.match(
        englishOf(await lastDetail(workspace)),
        new RegExp(`git branch \\S+ ${hash.slice(0, 10)}`),
      );
      assert.match(stdout, /feat: US-001/);
      assert.equal((await workspace.agents()).length, 2);
      // It is kept, also when git forgets what was reset.
      await git(workspace, 'reflog', 'expire', '--expire=now', '--all');
      await git(workspace, 'gc', '--quiet', '--prune=now');
      assert.equal(await git(workspace, 'cat-file', '-t', hash), 'commit');
      // Still lost: the same command says the same, starts no agent, and does not begin anew.
      const again = await workspace.script([['work']], ...limit).finished;
      assert.equal(again.code, 1, again.stdout);
      assert.equal((await workspace.agents()).length, 2);
      assert.equal((await workspace.runIds()).length, 1);
      await git(workspace, 'checkout', '--quiet', '--', '.');
      await git(workspace, 'merge', '--quiet', '-X', 'ours', hash);
      const merged = await workspace.script([['work']], ...limit).finished;
      assert.equal(merged.code, 0, merged.stdout + merged.stderr);
      assert.equal((await workspace.agents()).length, count);
    });
  }

  test('commits that a person removes from the branch while the run is stopped are noticed, too', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const reset = ['reset', '--quiet', '--soft', 'HEAD~1'];
    const cli = workspace.script([['work'], [{ wait: 'never' }]]);
    await workspace.agent(2);
    assert.equal((await workspace.cli('stop').finished).code, 0);
    await cli.finished;
    await git(workspace, ...reset);
    await git(workspace, 'rm', '--quiet', '-f', 'US-001.txt');
    const { code, stdout } = await workspace.script([['work']]).finished;
    assert.equal(code, 1, stdout);
    assert.match(englishOf(await lastDetail(workspace)), /no longer on main/);
    assert.equal((await workspace.agents()).length, 2);
  });

  test('an agent may undo commits of an earlier attempt at its own story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const attempt: Step[] = [{ write: ['try.txt', 'bad\n'] }, { commit: 'a bad try' }, done];
    const reset: Step = { git: ['reset', '--quiet', '--hard', 'HEAD~1'] };
    const { code, stdout } = await workspace.script([attempt, [reset, 'work']]).finished;
    assert.equal(code, 0, stdout);
    assert.deepEqual(await workspace.events('commits.lost'), []);
  });

  test("another person's branch is not mistaken for the agent's work", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const old = { GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' };
    await git(workspace, 'switch', '--quiet', '-c', 'hers');
    await promisify(execFile)('git', ['commit', '--quiet', '--allow-empty', '-m', 'hers'], {
      cwd: workspace.folder,
      env: { ...workspace.env, ...old },
    });
    await git(workspace, 'switch', '--quiet', 'main');
    const before = await git(workspace, 'rev-parse', 'main');
    const { code, stdout } = await workspace.script([[switchTo('hers'), 'work']]).finished;
    assert.equal(code, 1);
    assert.match(stdout, /has commits that are older than the iteration/);
    assert.equal(await git(workspace, 'rev-parse', 'main'), before);
  });

  test('a claim of an iteration abandoned with --new is set back to not done', async t => {
    const { workspace } = await oneStory(t, [
      { git: ['commit', '--quiet', '--allow-empty', '-m', 'on main'] },
      switchTo('-c', 'side', 'HEAD~1'),
      { tick: 'US-001' },
      { git: ['commit', '--quiet', '--allow-empty', '-m', 'on side'] },
      done,
    ]);
    assert.deepEqual(await workspace.done(), ['US-001']);
    await git(workspace, 'stash', '--quiet');
    await git(workspace, 'switch', '--quiet', 'main');
    await git(workspace, 'stash', 'pop', '--quiet');
    const anew = await workspace.script([['work'], ['work']], '--new').finished;
    assert.equal(anew.code, 0, anew.stderr);
    assert.match(anew.stdout, /set back to not done: US-001/);
    assert.equal((await workspace.agents()).length, 2);
  });

  inAll(test)('a run without a branch is found by its commit', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await git(workspace, 'switch', '--quiet', '--detach');
    await workspace.script([['work']], '--max-iterations', '1').finished;
    const work = await git(workspace, 'rev-parse', '--short=10', 'HEAD');
    await git(workspace, 'switch', '--quiet', 'main');
    const goOn = ['--resume', '--max-iterations', '9'];
    const { code, stderr } = await workspace.script([['work']], ...goOn).finished;
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `"git switch --no-overwrite-ignore --detach ${work}".*"git merge --no-overwrite-ignore ${work}"`,
      ),
    );
    await git(workspace, 'merge', '--quiet', work);
    const again = await workspace.script([['work']], ...goOn).finished;
    assert.equal(again.code, 0, again.stderr);
  });

  test('a missing repository ends the run at once; once it is restored, the run continues', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const kept = path.join(workspace.notesDir, 'git');
    await cp(path.join(workspace.folder, '.git'), kept, { recursive: true });
    const { code, stdout } = await workspace.script([['work', { delete: '.git' }]]).finished;
    assert.equal(code, 1);
    assert.match(
      stdout,
      /git repository of .* has been missing since iteration 1, and the restore points with it/,
    );
    assert.match(englishOf(await lastDetail(workspace)), /Restore the folder \.git/);
    assert.equal((await workspace.events('run.ended'))[0]?.outcome, 'error');
    assert.equal((await workspace.agents()).length, 1);
    const without = await workspace.script([['work']]).finished;
    assert.match(without.stderr, /git repository of .* is missing, .* Restore the folder \.git/);
    const rollback = await workspace.cli('rollback', '1').finished;
    assert.equal(rollback.code, 1);
    assert.doesNotMatch(rollback.stderr, /at .*\.ts/);
    await rename(kept, path.join(workspace.folder, '.git'));
    const again = await workspace.script([['work']]).finished;
    assert.equal(again.code, 0, again.stderr);
  });

  test('a new repository in place of the old one counts as a different one', async t => {
    const { code, stdout } = await oneStory(t, [
      { delete: '.git' },
      { git: ['init', '--quiet', '--initial-branch=main'] },
      'work',
    ]);
    assert.equal(code, 1);
    assert.match(stdout, /has been a different one since iteration 1/);
  });

  inAll(test)('an unreadable repository also ends a run on chosen stories', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const damage: Step = { write: ['.git/HEAD', 'no reference'] };
    const calls = [['work', damage]];
    const { code, stdout } = await workspace.script(calls, '--story', 'US-001').finished;
    assert.equal(code, 1);
    assert.match(stdout, /git has not been able to read the repository of .* since iteration 1/);
    await workspace.write('.git/HEAD', 'ref: refs/heads/main\n');
    const again = await workspace.script([['work']], '--story', 'US-001').finished;
    assert.equal(again.code, 0, again.stderr);
    assert.equal((await workspace.events('commit.recorded')).length, 1);
    assert.equal((await workspace.agents()).length, 1);
  });

  test('a repository that an agent has declared bare gets no further agent, until that is taken back', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const calls: Step[][] = [[{ git: ['config', 'core.bare', 'true'] }, { tick: 'US-001' }, done]];
    const { code, stdout } = await workspace.script(calls).finished;
    assert.equal(code, 1, stdout);
    assert.match(stdout, /git has not been able to read the repository of .* since iteration 1/);
    const advice = /core\.bare declares that .* has no files.*git config --unset core\.bare/;
    assert.match(englishOf(await lastDetail(workspace)), advice);
    const refused = await workspace.script([['work']]).finished;
    assert.match(refused.stderr, advice);
    assert.equal((await workspace.agents()).length, 1);
    await git(workspace, 'config', '--unset', 'core.bare');
    const again = await workspace.script([['work']]).finished;
    assert.equal(again.code, 0, again.stderr);
  });

  test('a resumed run needs the branch that has its work, or says which one that is', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await git(workspace, 'branch', 'elsewhere');
    await workspace.script([['work']], '--max-iterations', '1').finished;
    await git(workspace, 'switch', '--quiet', 'elsewhere');
    const { code, stderr } = await workspace.script(
      [['work']],
      ...['--resume', '--max-iterations', '9'],
    ).finished;
    assert.equal(code, 1);
    assert.match(stderr, /worked on the branch main.*git switch --no-overwrite-ignore main/);
    assert.equal((await workspace.agents()).length, 1);
    await git(workspace, 'merge', '--quiet', 'main');
    const followed = await workspace.script([['work']]).finished;
    assert.equal(followed.code, 0, followed.stderr);
  });
});

/** A hook that never ends when our git runs it. @returns its pid and that of what it runs, once it is there */
async function hangingHook(workspace: Workspace, name: string): Promise<() => Promise<number[]>> {
  const pids = path.join(workspace.notesDir, 'pids');
  const ofAgent = '[ -n "$RALPH_FRESH_RUN" ] && exit 0';
  const hook = `#!/bin/sh\n${ofAgent}\nsleep 400 & echo $$ $! > ${pids}.new\nmv ${pids}.new ${pids}\nwait\n`;
  await writeFile(path.join(workspace.folder, '.git', 'hooks', name), hook, { mode: 0o755 });
  return async () => {
    await until('the hook', () => existsSync(pids));
    return (await readFile(pids, 'utf8')).trim().split(' ').map(Number);
  };
}

describe('a hook that hangs does not keep a run from being stopped', {
  concurrency: 2,
  skip: process.platform === 'win32',
}, () => {
  const prd = (branchName: string) => JSON.stringify({ branchName, userStories: openStories(1) });

  for (const [what, stop] of [
    ['stop', ['stop']],
    ['stop --now', ['stop', '--now']],
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGTERM'],
  ] as const) {
    test(`while it starts: ${what}`, async t => {
      const workspace = await Workspace.create(t, { prd: prd('ralph/x') });
      const started = await hangingHook(workspace, 'post-checkout');
      const run = workspace.script([['work']]);
      const pids = await started();
      if (typeof stop === 'string') {
        run.child.kill(stop);
      } else {
        const { code, stderr, stdout } = await workspace.cli(...stop).finished;
        assert.equal(code, 0, stderr);
        assert.match(stdout, /Stopped/i);
      }
      const { code, signal } = await run.finished;
      assert.deepEqual([code, signal], [130, null]);
      assert.deepEqual(pids.filter(isAlive), []);
      assert.equal(existsSync(path.join(workspace.folder, '.git', 'index.lock')), false);
      // Git had checked out the branch before it ran the hook.
      assert.equal(await git(workspace, 'branch', '--show-current'), 'ralph/x');
      assert.equal((await workspace.agents()).length, 0);
      assert.equal((await workspace.events('stop.requested')).length, 1);
      const again = await workspace.script([['work']], '--branch', 'stay').finished;
      assert.equal(again.code, 0, again.stderr);
    });
  }

  test('while agents work', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const started = await hangingHook(workspace, 'post-checkout');
    const run = workspace.script([[switchTo('-c', 'side'), 'work']]);
    const pids = await started();
    const { code, stderr } = await workspace.cli('stop', '--now').finished;
    assert.equal(code, 0, stderr);
    assert.equal((await run.finished).code, 130);
    assert.deepEqual(pids.filter(isAlive), []);
    assert.equal(await git(workspace, 'log', '-1', '--format=%s', 'main'), 'feat: US-001');
  });

  test('while it starts, before the branch is checked out', async t => {
    const workspace = await Workspace.create(t, { prd: prd('ralph/x') });
    const pids = path.join(workspace.notesDir, 'monitor');
    const monitor = path.join(workspace.notesDir, 'monitor.sh');
    await writeFile(monitor, `#!/bin/sh\necho $$ >> ${pids}\nsleep 400\n`, { mode: 0o755 });
    await git(workspace, 'config', 'core.fsmonitor', monitor);
    const run = workspace.script([['work']]);
    await until('the monitor', () => existsSync(pids));
    const { stdout } = await workspace.cli('stop').finished;
    assert.match(stdout, /Stopped/i);
    assert.notEqual((await run.finished).code, 0);
    const monitors = (await readFile(pids, 'utf8')).trim().split('\n').map(Number);
    assert.deepEqual(monitors.filter(isAlive), []);
  });
});
