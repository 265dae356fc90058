import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { clearWorkRefs } from '../../src/orchestrator/workspace/discardedWork.ts';
import { discardedRefsOf, workRefsOf } from '../../src/orchestrator/workspace/workRefs.ts';
import { openStories, type Step, until, Workspace } from '../support/ralph.ts';
import { sameValue } from '../support/sameValue.ts';
import { inAll } from '../support/variants.ts';

const run = promisify(execFile);

/** Writes a file, commits it, and says nothing of being done. */
const commits = (file: string): Step[] => [
  { write: [file, `${file}\n`] },
  { commit: `feat: ${file}` },
];
const done = (story: string): Step[] => [
  { tick: story },
  { commit: `feat: ${story} is done` },
  { result: [`${story} is done.`, {}] },
];
const notDone: Step = { result: ['More is to be done.', {}] };

async function git(workspace: Workspace, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', [...args], { cwd: workspace.folder, env: workspace.env });
  return stdout.trim();
}

async function refs(workspace: Workspace, prefix: string): Promise<string[]> {
  const output = await git(workspace, 'for-each-ref', '--format=%(refname)', prefix);
  return output.split('\n').filter(line => line !== '');
}

/** What a command prints; fails if it ends with another code. */
async function told(workspace: Workspace, code: number, ...args: readonly string[]) {
  const finished = await workspace.cli(...args).finished;
  assert.equal(finished.code, code, `${args.join(' ')}: ${finished.stdout}${finished.stderr}`);
  return finished.stdout + finished.stderr;
}

describe('a run with two lanes', { concurrency: 2 }, () => {
  test('prefixes each line with its story and can show a single story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const { code, stderr, stdout } = await workspace.run('succeeds', '--lanes', '2').finished;
    assert.equal(code, 0, stderr);
    for (const output of [stdout, await told(workspace, 0, 'logs')]) {
      assert.match(output, /^US-001 │ \[Ralph Fresh\] === Iteration \d\/20, lane [12] ===$/m);
      assert.match(output, /^US-002 │ ● Working on US-002\.$/m);
      assert.match(output, /^US-003 │ \[Ralph Fresh\] US-003 has landed$/m);
      assert.match(output, /^\[Ralph Fresh\] ✅ COMPLETE/m);
      assert.doesNotMatch(output, /^●/m);
    }
    const one = await told(workspace, 0, 'logs', '--story', 'US-002', '--follow');
    assert.match(one, /^● Working on US-002\.$/m);
    assert.doesNotMatch(one, /│|US-001|US-003/);
    const unknown = await told(workspace, 64, 'logs', '--story', 'US-009');
    assert.match(unknown, /has not worked on US-009, but on US-00/);
    const data = (await told(workspace, 0, 'logs', '--story', 'us-002', '--json')).trim();
    const events = data.split('\n').map(line => JSON.parse(line));
    assert.ok(events.some(({ type }) => type === 'landing.landed'));
    assert.ok(events.every(({ storyId = 'US-002' }) => storyId === 'US-002'));
  });

  test('leaves only removable places and no pending work', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    // One ticks after its commit, and the check leaves a file.
    const ticksLast: Step[] = [
      ...commits('a.txt'),
      { tick: 'US-001' },
      { append: ['.omc/progress.txt', '## US-001\n- Learned\n'] },
      { result: ['US-001 is done.', {}] },
    ];
    const check = 'echo report >> report.txt';
    const calls = { 'US-001': [ticksLast], 'US-002': [[...commits('b.txt'), ...done('US-002')]] };
    const finished = await workspace.scriptOf(calls, '--lanes', '2', '--verify', check).finished;
    assert.equal(finished.code, 0, finished.stderr);
    const listed = await told(workspace, 0, 'places');
    assert.match(listed, /^lane-1 +\d.* US-00\d +\d +nothing can be lost$/m);
    assert.match(listed, /^Nothing is kept that has not landed\.$/m);
    const data = JSON.parse(await told(workspace, 0, 'places', '--json'));
    sameValue(
      data.kept.map(({ landed, story }: { landed: boolean; story: string }) => [story, landed]),
      [
        ['US-001', true],
        ['US-002', true],
      ],
    );
    assert.ok(data.places[0].bytes > 10_000);
    assert.equal(data.places[0].unsafe, null);
    // A person has written something there.
    await writeFile(path.join(data.places[0].path, 'mine.txt'), 'mine\n');
    const cleaned = await told(workspace, 0, 'places', 'clean');
    assert.match(
      cleaned,
      /^lane-1 stays, in .*lane-1\. It has uncommitted work that has not been kept\./m,
    );
    assert.match(cleaned, /^lane-2 is removed\.$/m);
    assert.match(cleaned, /^queue is removed\.$/m);
    assert.ok(existsSync(path.join(data.places[0].path, 'mine.txt')));
    assert.ok(!existsSync(data.places[1].path));
    assert.match(
      await told(workspace, 1, 'places', 'discard', 'US-001', '--yes'),
      /All work on US-001 has landed\. To take it back: ralph-fresh revert US-001/,
    );
    // Of a run that is not kept any more.
    assert.equal((await refs(workspace, workRefsOf(workspace.folder))).length, 2);
    await clearWorkRefs(workspace.files, []);
    sameValue(await refs(workspace, workRefsOf(workspace.folder)), []);
  });

  test('rolls back to before a landing and reports what overlapped', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.run('succeeds', '--lanes', '2').finished;
    const landed = (await workspace.events('landing.landed')).map(event => event);
    const [first, second, third] = landed;
    assert.ok(first && second && third);
    const said = await told(workspace, 0, 'rollback', String(second.iteration));
    assert.match(
      said,
      new RegExp(
        `Taken back, in the order in which it had landed: ${second.storyId}, ${third.storyId}\\. Landed before, and kept: ${first.storyId}\\.`,
      ),
    );
    assert.equal(
      await git(workspace, 'rev-parse', 'HEAD^{tree}'),
      await git(workspace, 'rev-parse', `${first.commit}^{tree}`),
    );
    sameValue(await workspace.done(), [first.storyId]);
    const forward = await told(workspace, 0, 'rollback', String(third.iteration));
    assert.match(forward, /^Commit \S+ brings /);
    assert.ok(forward.includes(`\nRestored: ${second.storyId}.\n`), forward);
    assert.match(
      forward,
      new RegExp(
        `Taken back, in the order in which it had landed: nothing\\. Landed before, and kept: ${first.storyId}\\.`,
      ),
    );
    await git(workspace, 'switch', '--quiet', '-c', 'other', 'HEAD~1');
    assert.match(
      await told(workspace, 1, 'rollback', '1'),
      /The run worked on the branch main, but HEAD is on other\. Switch to it first: git switch --no-overwrite-ignore --merge main/,
    );
  });
});

describe('status', { concurrency: 2 }, () => {
  test('shows each agent, what is paused, and the branch that receives the work', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const calls = [[{ text: 'I am waiting.' }, { wait: 'go' }, notDone]];
    const running = workspace.script(calls, '--lanes', '2', '--max-iterations', '2');
    await until('both agents', async () => (await workspace.events('agent.text')).length === 2);
    // No agent works on it, so the message promises none that finishes.
    assert.match(
      await told(workspace, 0, 'pause', 'US-003'),
      /^No further agent starts for US-003; one at work finishes first\. "ralph-fresh resume US-003" continues\.$/m,
    );
    assert.match(
      await told(workspace, 0, 'pause', '--lane', '2'),
      /^No further agent starts in lane 2; .*"ralph-fresh resume --lane 2" continues\.$/m,
    );
    const text = await told(workspace, 0, 'status');
    assert.match(
      text,
      /^Up to 2 agents at once · work lands on main · paused lanes: 2 · paused stories: US-003$/m,
    );
    assert.match(text, /^ {2}lane 1 · US-00[12]: Story number [12] · I am waiting\.$/m);
    assert.match(text, /^ {2}lane 2 · US-00[12]: Story number [12] · I am waiting\.$/m);
    const data = JSON.parse(await told(workspace, 0, 'status', '--json'));
    sameValue(
      [data.branch, data.lanes, data.isolated, data.pausedLanes, data.pausedStories, data.held],
      ['main', 2, true, [2], ['US-003'], null],
    );
    sameValue(
      data.running
        .map(({ lane, queued, step }: Record<string, unknown>) => [lane, queued, step])
        .sort(),
      [
        [1, false, 'agent'],
        [2, false, 'agent'],
      ],
    );
    await workspace.note('go');
    await running.finished;
  });

  test('reports a branch that is held back even after the run, until it has caught up', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write('a.txt', 'of the person\n');
    const finished = await workspace.script([[...commits('a.txt'), ...done('US-001')]], '--isolate')
      .finished;
    // What a script is to take for done must be on the branch.
    assert.equal(finished.code, 1, finished.stderr);
    const text = await told(workspace, 0, 'status');
    assert.match(
      text,
      /^main follows as soon as these files are committed, stashed or moved away:\n {2}a\.txt$/m,
    );
    assert.match(text, /"ralph-fresh run --isolate" brings it in/);
    const [, command = ''] = /by hand: (git merge .* --autostash \S+)/.exec(text) ?? [];
    const held = JSON.parse(await told(workspace, 0, 'status', '--json')).held;
    sameValue([held.reason, held.files], ['localChanges', ['a.txt']]);
    for (const args of [
      ['revert', 'US-001'],
      ['rollback', '1'],
    ]) {
      const said = await told(workspace, 1, ...args);
      assert.match(
        said,
        /"ralph-fresh status" says what is in the way; "ralph-fresh run --isolate" brings it in/,
      );
      assert.ok(said.includes(command), said);
    }
    await rm(path.join(workspace.folder, 'a.txt'));
    await git(workspace, 'stash', '--quiet');
    await git(workspace, ...command.split(' ').slice(1));
    assert.equal(await workspace.read('a.txt'), 'a.txt\n');
    assert.doesNotMatch(await told(workspace, 0, 'status'), /follows|git merge/);
    assert.match(await told(workspace, 0, 'revert', 'US-001'), /Reopened: US-001/);
  });

  inAll(test)(
    'says how to bring in what has landed without overwriting a file that git ignores',
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      await workspace.write('.gitignore', '.env\n');
      await workspace.write('a.txt', 'before\n');
      await git(workspace, 'add', '-A');
      await git(workspace, 'commit', '--quiet', '-m', 'Files of the project');
      await workspace.write('.env', 'mine\n');
      const force = { shell: 'echo agent > .env; git add -f .env' };
      const steps = [force, ...commits('a.txt'), ...done('US-001')];
      const { code, stdout } = await workspace.script([steps], '--isolate').finished;
      assert.equal(code, 1, stdout);
      const text = await told(workspace, 0, 'status');
      assert.match(text, /committed, stashed or moved away:\n {2}\.env$/m);
      const [, command = ''] = /by hand: git (merge .* \S+)/.exec(text) ?? [];
      assert.match(stdout, new RegExp(`by hand: git ${command}`));
      for (const args of [
        ['revert', 'US-001'],
        ['rollback', '1'],
      ]) {
        const said = await told(workspace, 1, ...args);
        assert.ok(said.includes(`By hand: git ${command}`), said);
      }
      await assert.rejects(git(workspace, ...command.split(' ')), /\.env/);
      assert.equal(await workspace.read('.env'), 'mine\n');

      // No flag of git protects such a file once the branch has a commit of its own.
      await workspace.write('a.txt', 'of the person\n');
      await git(workspace, 'commit', '--quiet', '-am', 'Mine');
      const again = await workspace.script([], '--isolate', '--new').finished;
      assert.equal(again.code, 1, again.stdout);
      assert.match(
        again.stderr,
        /Move these files away first, because a merge would overwrite them: \.env\. Merge it by hand: git merge --autostash refs\//,
      );
      assert.equal(await workspace.read('.env'), 'mine\n');
    },
  );
});

describe('a story in its own place', { concurrency: 2 }, () => {
  test('has landed on a branch that status names as it is called now', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { code, stderr } = await workspace.run('succeeds', '--isolate').finished;
    assert.equal(code, 0, stderr);
    await git(workspace, 'switch', '--quiet', '-c', 'other', 'HEAD~1');
    const work = async () => /The work is on .*/.exec(await told(workspace, 0, 'status'))?.[0];
    const way = (branch: string) =>
      `The work is on ${branch}. Go there with: git switch --no-overwrite-ignore --merge ${branch}`;
    assert.equal(await work(), way('main'));
    await git(workspace, 'branch', '-m', 'main', 'trunk');
    // Others may build on it.
    await git(workspace, 'switch', '--quiet', '-c', 'alpha', 'trunk');
    await git(workspace, 'commit', '--quiet', '--allow-empty', '-m', 'An experiment');
    await git(workspace, 'switch', '--quiet', 'other');
    assert.equal(await work(), way('trunk'));
    await git(workspace, 'switch', '--quiet', '-c', 'merged');
    await git(workspace, 'merge', '--quiet', '--no-edit', 'trunk');
    assert.equal(await work(), undefined);
    await git(workspace, 'switch', '--quiet', 'other');
    await git(workspace, 'branch', '--quiet', '-D', 'merged', 'alpha');
    await git(workspace, 'switch', '--quiet', 'trunk');
    assert.equal(await work(), undefined);
    await git(workspace, 'switch', '--quiet', 'other');
    await git(workspace, 'branch', '--quiet', '-D', 'trunk');
    assert.equal(await work(), undefined);
  });

  test('that landed as a merge is reverted as a whole', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const calls = [
      [...commits('a.txt'), ...commits('b.txt'), ...done('US-001')],
      [...commits('c.txt'), ...done('US-002')],
    ];
    const finished = await workspace.script(calls, '--isolate').finished;
    assert.equal(finished.code, 0, finished.stderr);
    const [merge] = await workspace.events('commit.recorded');
    assert.ok(merge);
    assert.equal(
      (await git(workspace, 'rev-list', '--parents', '-1', merge.hash)).split(' ').length,
      3,
    );
    const receipt = JSON.parse(await told(workspace, 0, 'receipt', '--json'));
    sameValue(
      receipt.iterations.map(({ commitList }: { commitList: unknown[] }) => commitList.length),
      [1, 1],
    );
    await git(workspace, 'switch', '--quiet', '-c', 'elsewhere', 'HEAD~2');
    assert.match(
      await told(workspace, 1, 'revert', 'US-001'),
      /This work has landed on the branch main, and elsewhere is checked out\. Go there with "git switch --no-overwrite-ignore --merge main", then try again\./,
    );
    await git(workspace, 'switch', '--quiet', 'main');
    assert.match(await told(workspace, 0, 'revert', 'US-001'), /Reopened: US-001/);
    sameValue(
      ['a.txt', 'b.txt', 'c.txt'].map(file => existsSync(path.join(workspace.folder, file))),
      [false, false, true],
    );
    sameValue(await workspace.done(), ['US-002']);
  });

  test('that has not landed is listed, can be discarded, and is then not continued', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const calls = [
      [...commits('a.txt'), { write: ['half.txt', 'half\n'] }, notDone],
      [{ shell: 'test ! -e a.txt && test ! -e half.txt' }, ...commits('b.txt'), ...done('US-001')],
    ];
    const first = await workspace.script(calls, '--isolate', '--max-iterations', '1').finished;
    assert.equal(first.code, 1, first.stderr);
    const listed = await told(workspace, 0, 'places');
    assert.match(
      listed,
      /^Work that has not landed:\n {2}US-001: 1 attempt, 1 commit, uncommitted changes$/m,
    );
    const before = await refs(workspace, workRefsOf(workspace.folder));
    assert.equal(before.length, 2);
    const asked = await told(workspace, 1, 'places', 'discard', 'US-001');
    assert.match(asked, / feat: a\.txt$/m);
    assert.match(asked, / Uncommitted work of US-001 \(kept by Ralph Fresh\)$/m);
    assert.match(asked, /nobody can be asked here\. Add --yes/);
    sameValue(await refs(workspace, workRefsOf(workspace.folder)), before);

    const discarded = await told(workspace, 0, 'places', 'discard', 'US-001', '--yes');
    sameValue(await refs(workspace, workRefsOf(workspace.folder)), []);
    const moved = await refs(workspace, discardedRefsOf(workspace.folder));
    assert.equal(moved.length, 2);
    const [, command = ''] = /To get it back: (git branch rescued \S+)/.exec(discarded) ?? [];
    await git(workspace, ...command.split(' ').slice(1));
    assert.equal(await git(workspace, 'show', 'rescued:half.txt'), 'half');
    assert.match(
      await told(workspace, 0, 'places'),
      /Discarded, but held for a while:\n {2}until /,
    );
    assert.match(
      await told(workspace, 1, 'places', 'discard', 'US-001', '--yes'),
      /No work on US-001 is kept\. Nothing is kept that has not landed\./,
    );
    const args = ['--isolate', '--resume', '--max-iterations', '3'];
    const second = await workspace.script(calls, ...args).finished;
    assert.equal(second.code, 0, second.stdout + second.stderr);
    assert.ok(!existsSync(path.join(workspace.folder, 'a.txt')));
    assert.ok(existsSync(path.join(workspace.folder, 'b.txt')));
  });

  inAll(test)(
    'that waited to land when the run stopped does not land after it is discarded',
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const check = `node -e "setTimeout(() => 0, ${'process.env.FAST'} ? 0 : 600000)"`;
      const calls = [
        [...commits('a.txt'), ...done('US-001')],
        [...commits('b.txt'), ...done('US-001')],
      ];
      const first = workspace.script(calls, '--isolate', '--verify', check);
      await workspace.event('check.started');
      await told(workspace, 0, 'stop');
      assert.equal((await first.finished).code, 130);
      await told(workspace, 0, 'places', 'discard', 'US-001', '--yes');
      const second = await workspace.cliWith(
        { FAKE_AGENT_SCRIPT: JSON.stringify(calls), FAST: '1' },
        ...['run', '--resume', '--retry-delay', '0.01', '--isolate'],
        ...['--claude-path', path.join(import.meta.dirname, '../support/fakeAgents/scripted.mjs')],
      ).finished;
      assert.equal(second.code, 0, second.stdout + second.stderr);
      const [returned] = await workspace.events('landing.returned');
      assert.equal(returned?.reason, 'person');
      assert.ok(!existsSync(path.join(workspace.folder, 'a.txt')));
      assert.ok(existsSync(path.join(workspace.folder, 'b.txt')));
    },
  );

  inAll(test)('cannot be discarded while an agent works on it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const calls = [
      [...commits('a.txt'), notDone],
      [{ wait: 'go' }, ...done('US-001')],
    ];
    const running = workspace.script(calls, '--isolate');
    await workspace.agent(2);
    await until(
      'the second iteration',
      async () => (await workspace.events('iteration.started')).length > 1,
    );
    assert.match(
      await told(workspace, 1, 'places', 'discard', 'US-001', '--yes'),
      /An agent works on US-001 now\. Stop the story first \("Stop This Story" in VS Code, or "ralph-fresh stop US-001"\)/,
    );
    assert.match(await told(workspace, 0, 'places'), /in use by process \d+/);
    await workspace.note('go');
    assert.equal((await running.finished).code, 0);
    // The second agent had continued the work of the first one.
    assert.ok(existsSync(path.join(workspace.folder, 'a.txt')));
    assert.match(await told(workspace, 0, 'places'), /Nothing is kept that has not landed\./);
  });

  test('is forgotten 30 days after it was discarded', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const prefix = discardedRefsOf(workspace.folder);
    const [old, young] = [40, 20].map(days => {
      const time = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 19);
      return `${prefix}${time.replaceAll(':', '-')}/r1/US-001/1`;
    });
    await git(workspace, 'update-ref', old ?? '', 'HEAD');
    await git(workspace, 'update-ref', young ?? '', 'HEAD');
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    sameValue(await refs(workspace, prefix), [young]);
  });
});

describe('before a run with lanes starts', { concurrency: 2 }, () => {
  const lanes = ['--lanes', '2', '--agent', 'command', '--command', process.execPath];
  /** What doctor, --dry-run and run say, which is the same. */
  async function all(workspace: Workspace, ...more: readonly string[]) {
    const doctor = JSON.parse(
      (await workspace.cli('doctor', '--json', ...lanes, ...more).finished).stdout,
    );
    const found = (id: string) =>
      doctor.checks.find((check: { id: string }) => check.id === id) as
        | { readonly level: string; readonly message: string; readonly fix: string | null }
        | undefined;
    const dryRun = await workspace.cli('run', '--dry-run', ...lanes, ...more).finished;
    return { found, dryRun };
  }
  async function refused(workspace: Workspace, id: string, words: RegExp) {
    const { dryRun, found } = await all(workspace);
    const check = found(id);
    assert.equal(check?.level, 'error', check?.message);
    assert.match(check?.message ?? '', words);
    assert.equal(dryRun.code, 1);
    assert.match(dryRun.stderr, words);
    const started = await workspace.run('succeeds', '--lanes', '2').finished;
    assert.equal(started.code, 1);
    assert.match(started.stderr, words);
    sameValue(await workspace.agents(), []);
  }

  test('doctor and --dry-run show lanes, branch and what the agents do not get', async t => {
    const workspace = await Workspace.create(t, {
      prd: JSON.stringify({ branchName: 'ralph/x', userStories: openStories(2) }),
    });
    await workspace.write('mine.txt', 'mine\n');
    const hook = path.join(workspace.folder, '.git', 'hooks', 'pre-commit');
    await writeFile(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    await git(workspace, 'config', 'commit.gpgsign', 'true');
    const { dryRun, found } = await all(workspace);
    assert.equal(dryRun.code, 0, dryRun.stderr);
    assert.match(dryRun.stdout, /^Lanes: 2, each agent in a clone of its own$/m);
    assert.match(dryRun.stdout, /^Branch: work lands on ralph\/x$/m);
    assert.match(found('lanes')?.message ?? '', /Up to 2 agents .* lands on the branch ralph\/x\./);
    assert.equal(found('branch')?.level, 'ok', 'the tree stays where it is');
    assert.equal(found('places')?.level, 'ok');
    for (const [id, words] of [
      ['unseen', /they do not see your uncommitted changes in mine\.txt\./],
      ['hooks', /The git hooks pre-commit run neither/],
      ['signing', /the commits by which work lands are not\./],
    ] as const) {
      assert.equal(found(id)?.level, 'warning', id);
      assert.match(found(id)?.message ?? '', words);
      assert.match(dryRun.stdout, words);
    }
    const one = JSON.parse((await workspace.cli('doctor', '--json').finished).stdout);
    const ids = one.checks.map(({ id }: { id: string }) => id);
    assert.ok(ids.includes('lanes') && !ids.includes('hooks') && !ids.includes('places'));
  });

  test('a plan whose items would be started together is warned of, but for those put aside', async t => {
    const workspace = await Workspace.create(t, { prd: '{}' });
    const plan = (second: string) => workspace.write('PLAN.md', `- [x] a\n- [ ] T1 b\n${second}\n`);
    await plan('- [ ] T2 c');
    const warned = async () => {
      const { dryRun } = await all(workspace, '--file', 'PLAN.md');
      assert.equal(dryRun.code, 0, dryRun.stderr);
      return dryRun.stdout;
    };
    assert.match(await warned(), /Up to 2 agents start on the items of this plan at once/);
    await plan('- [~] T2 DROPPED - c');
    assert.doesNotMatch(await warned(), /start on the items of this plan/);
  });

  test('landed work on no branch blocks a run that would continue without it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.write('m.txt', 'one\n');
    await git(workspace, 'add', '-A');
    await git(workspace, 'commit', '--quiet', '-m', 'm');
    await workspace.write('m.txt', 'mine\n');
    const steps = [{ write: ['m.txt', 'agent\n'] }, 'work'];
    const held = workspace.scriptOf({ 'US-001': [steps] }, '--lanes', '2', '--max-iterations', '1');
    await held.finished;
    assert.match(
      held.stdout,
      /main follows as soon as these files are committed, stashed or moved away/,
    );
    await git(workspace, 'checkout', '--quiet', 'm.txt');

    const withoutLanes = await workspace.run('succeeds', '--new').finished;
    assert.equal(withoutLanes.code, 1);
    assert.match(
      withoutLanes.stderr,
      /landed \(refs\/\S+\) is on no branch, .*\. The same command with --isolate/,
    );
    await git(workspace, 'branch', '-m', 'main', 'trunk');
    await workspace.write('US-001.txt', 'mine\n');
    const renamed = await workspace.run('succeeds', '--new', '--lanes', '2').finished;
    assert.equal(renamed.code, 1);
    assert.match(
      renamed.stderr,
      /Move these files away first, because a merge would overwrite them: US-001\.txt\. Bring it to your branch: git merge --no-overwrite-ignore refs\/ralph-fresh\/landed\//,
    );
    await rm(path.join(workspace.folder, 'US-001.txt'));
    await git(workspace, 'branch', '-m', 'trunk', 'main');
    const last = await workspace.scriptOf({}, '--new', '--isolate').finished;
    assert.deepEqual([last.code, last.stderr], [0, '']);
    assert.equal(await workspace.read('m.txt'), 'agent\n');
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });

  test('a detached HEAD without a named branch blocks it', async t => {
    const workspace = await Workspace.create(t);
    await git(workspace, 'switch', '--quiet', '--detach');
    await refused(workspace, 'lanes', /HEAD is detached, so there is no branch/);
  });

  test('submodules block it', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write('.gitmodules', '[submodule "a"]\n\tpath = a\n\turl = ../a\n');
    await git(workspace, 'add', '.gitmodules');
    await git(workspace, 'commit', '--quiet', '-m', 'a submodule');
    await refused(workspace, 'lanes', /has submodules, which more than one lane does not support/);
  });

  test('git may have its folder elsewhere', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await git(workspace, 'init', '--quiet', '--separate-git-dir', '../separate');
    const { code, stderr } = await workspace.run('succeeds', '--lanes', '2').finished;
    assert.equal(code, 0, stderr);
    assert.deepEqual(await workspace.done(), ['US-001']);
  });

  test('a branch of another worktree blocks it', async t => {
    const workspace = await Workspace.create(t, {
      prd: JSON.stringify({ branchName: 'ralph/x', userStories: openStories(2) }),
    });
    await git(workspace, 'worktree', 'add', '--quiet', '-b', 'ralph/x', '../other');
    await refused(
      workspace,
      'lanes',
      /ralph\/x, which is checked out in .*other, so it could not follow/,
    );
  });

  test('a read-only cache folder blocks it', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write('../cache', 'a file');
    workspace.env['XDG_CACHE_HOME'] = path.join(workspace.folder, '..', 'cache', 'below');
    await refused(workspace, 'places', /cache/);
  });

  test('a story file outside of the repository blocks it', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await workspace.write('../stories.json', JSON.stringify({ userStories: openStories(1) }));
    const { dryRun, found } = await all(workspace, '--file', '../stories.json');
    assert.match(found('lanes')?.message ?? '', /stories\.json is not in the repository/);
    assert.equal(dryRun.code, 1);
    assert.match(dryRun.stderr, /Move it into the repository, or work with one lane\./);
  });

  test('a task without stories has one lane, and says so', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const { code, stdout } = await workspace.run('succeeds', '--lanes', '2', 'a task').finished;
    assert.equal(code, 0);
    assert.match(stdout, /Only runs with stories have lanes, so one agent works in your work tree/);
  });
});
