import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { englishOf } from '../../src/base/say.ts';
import { readRunState } from '../../src/orchestrator/journal/foldJournal.ts';
import { makeCgroup, removeCgroup } from '../../src/orchestrator/process/agentCgroup.ts';
import { keepRunState, readRun } from '../../src/orchestrator/workspace/runCheckpoint.ts';
import { fakeAgent, isAlive, openStories, until, Workspace } from '../support/ralph.ts';
import { inAll, variants } from '../support/variants.ts';

/** Green when the file `green` is there; says what it looked for. */
const NEEDS_GREEN =
  "node -e \"console.log('looking for green'); process.exit(require('fs').existsSync('green') ? 0 : 3)\"";

/** Loaded into the loop's process. */
const MOUNT_POINT = `--import=${pathToFileURL(path.resolve(import.meta.dirname, '../support/mountPoint.mjs')).href}`;

const changes = async (workspace: Workspace) =>
  (await workspace.events('story.changed')).map(
    ({ storyId, done, by }) => `${storyId} ${done} ${by}`,
  );
const outcomes = async (workspace: Workspace) =>
  (await workspace.events('iteration.ended')).map(({ outcome }) => outcome);

/** Other files with the name of this one and more. */
const besides = async (file: string) =>
  (await readdir(path.dirname(file))).filter(
    name => name.startsWith(path.basename(file)) && name !== path.basename(file),
  );

/** A run whose loop is killed while the first claim is checked. */
async function killInCheck(workspace: Workspace, ...flags: readonly string[]): Promise<void> {
  const killed = workspace.run('succeeds', ...flags);
  await workspace.event('check.started');
  killed.child.kill('SIGKILL');
  await killed.finished;
}

describe('the gate: the checks decide what is done', { concurrency: 3 }, () => {
  test('a failing check sets the story back to not done, and its output is in the next prompt', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [['work'], [{ write: ['green', ''] }, 'work']],
      '--verify',
      NEEDS_GREEN,
    );
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(await outcomes(workspace), ['rejected', 'storyDone']);
    assert.deepEqual(await changes(workspace), [
      'US-001 true agent',
      'US-001 false gate',
      'US-001 true agent',
    ]);
    const [red, green] = await workspace.events('check.ended');
    assert.deepEqual([red?.ok, red?.exitCode, red?.timedOut], [false, 3, false]);
    assert.match(red?.outputTail ?? '', /looking for green/);
    assert.equal(green?.ok, true);
    const prompt = await workspace.prompt(2);
    assert.match(prompt, /looking for green/);
    assert.match(prompt, /exit code 3/i);
    assert.doesNotMatch(await workspace.prompt(1), /exit code/i);
    const runId = (await workspace.runIds())[0] ?? '';
    const log = path.join(workspace.files.iterationDir(runId, 1), 'check-1.log');
    assert.equal(await readFile(log, 'utf8'), 'looking for green\n');
    assert.deepEqual(await workspace.done(), ['US-001']);
  });

  test('a refused story is set back in a file that is mounted by itself', {
    skip: process.platform === 'win32' && 'Windows has no such mounts',
  }, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const file = path.join(workspace.folder, '.omc/prd.json');
    const { ino } = await stat(file);
    const mounted = { NODE_OPTIONS: MOUNT_POINT, MOUNT_POINT: 'prd.json' };
    const cli = workspace.cliWith(
      {
        ...mounted,
        FAKE_AGENT_SCRIPT: JSON.stringify([['work'], [{ write: ['green', ''] }, 'work']]),
      },
      ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted')],
      ...['--verify', NEEDS_GREEN],
    );
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(await outcomes(workspace), ['rejected', 'storyDone']);
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.equal((await stat(file)).ino, ino);
    assert.deepEqual(await besides(file), []);
  });

  test('a loop that is killed while it writes such a file leaves a copy of it', {
    skip: process.platform === 'win32' && 'Windows has no such mounts',
  }, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const file = path.join(workspace.folder, '.omc/prd.json');
    const before = await readFile(file, 'utf8');
    const { signal } = await workspace.cliWith(
      { NODE_OPTIONS: MOUNT_POINT, MOUNT_POINT: 'prd.json', MOUNT_POINT_KILL: '20' },
      ...['tick', 'US-001'],
    ).finished;
    assert.equal(signal, 'SIGKILL');
    const [kept] = (await besides(file)).filter(name => name.endsWith('.ralph-fresh.old'));
    assert.equal(await readFile(path.join(path.dirname(file), kept ?? ''), 'utf8'), before);
  });

  test('a refused story that cannot be set back ends the run, and never counts as done', {
    skip: process.platform === 'win32' && 'Windows has no such folders',
  }, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const sealed = {
      NODE_OPTIONS: MOUNT_POINT,
      MOUNT_POINT: 'prd.json',
      MOUNT_POINT_CODE: 'EPERM',
    };
    const calls = JSON.stringify([['work'], [{ write: ['green', ''] }, 'work']]);
    const start = (env: Readonly<Record<string, string>>, ...flags: readonly string[]) =>
      workspace.cliWith(
        { ...env, FAKE_AGENT_SCRIPT: calls },
        ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted'), ...flags],
      ).finished;
    const checks = ['--verify', NEEDS_GREEN];
    const first = await start(sealed, ...checks);
    assert.equal(first.code, 1, first.stdout);
    assert.match(first.stdout, /US-001 was refused, and could not be set back to not done/);
    assert.deepEqual(await outcomes(workspace), ['rejected']);
    // Its file says something else.
    assert.deepEqual(await workspace.done(), ['US-001']);
    const { stdout } = await workspace.cli('stories').finished;
    assert.match(stdout, /^0\/1 stories complete/);
    for (const flags of [['--resume'], [], checks]) {
      const { code, stderr } = await start(sealed, ...flags);
      assert.equal(code, 1);
      assert.match(stderr, /prd\.json cannot be written \(EPERM\)/);
    }
    assert.equal((await workspace.agents()).length, 1);
    const last = await start({}, '--resume');
    assert.equal(last.code, 0, last.stderr);
    assert.match(last.stdout, /so set back to not done: US-001/);
    assert.deepEqual(await outcomes(workspace), ['rejected', 'storyDone']);
    assert.deepEqual(await workspace.done(), ['US-001']);
  });

  for (const [what, after] of [
    ['moves behind the others', '# Plan\n\n- [ ] Beta\n\n## Completed\n\n- [x] Alpha\n'],
    ['writes another one above', '# Plan\n\n- [x] Prepared\n- [x] Alpha\n- [ ] Beta\n'],
  ] as const) {
    test(`an item without an id is checked, too, if its agent ${what}`, async t => {
      const workspace = await Workspace.create(t, { stories: undefined });
      const plan = 'IMPLEMENTATION_PLAN.md';
      await workspace.write(plan, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
      workspace.git('add', '-A');
      workspace.git('commit', '-qm', 'A plan');
      const { code, stdout } = await workspace.script(
        [[{ write: [plan, after] }, { commit: 'Alpha' }]],
        ...['--verify', 'false', '--max-iterations', '1'],
      ).finished;
      assert.notEqual(code, 0, stdout);
      assert.deepEqual(await outcomes(workspace), ['rejected']);
      const text = await readFile(path.join(workspace.folder, plan), 'utf8');
      assert.equal(text, after.replace('- [x] Alpha', '- [ ] Alpha'));
    });
  }

  for (const flags of [[], ['--isolate']]) {
    test(`an item without an id is not done because its agent adds a done one above: ${flags.join(' ') || 'one agent'}`, async t => {
      const workspace = await Workspace.create(t, { stories: undefined });
      const plan = 'IMPLEMENTATION_PLAN.md';
      await workspace.write(plan, '# Plan\n\n- [ ] Alpha\n');
      workspace.git('add', '-A');
      workspace.git('commit', '-qm', 'A plan');
      const explored = '# Plan\n\n- [x] Explored\n- [ ] Alpha\n';
      const { code, stdout } = await workspace.script(
        [[{ write: [plan, explored] }, { commit: 'Half of it' }]],
        ...[...flags, '--max-iterations', '1'],
      ).finished;
      assert.notEqual(code, 0, stdout);
      assert.deepEqual(await outcomes(workspace), ['progress']);
      const text = await readFile(path.join(workspace.folder, plan), 'utf8');
      assert.ok(text.includes('- [ ] Alpha'), text);
    });
  }

  test('a claim in the middle of a merge is judged only when the merge is finished', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const shell =
      'git switch -qc side && git commit -q --allow-empty -m Side && git switch -q - && git merge -q --no-ff --no-commit side';
    const { code, stdout } = await workspace.script(
      [[{ shell }, { write: ['US-001.txt', 'One.\n'] }, { tick: 'US-001' }]],
      ...['--verify', 'true'],
    ).finished;
    assert.notEqual(code, 0);
    assert.match(
      stdout,
      /done in the middle of a "git merge"\. Finish it with "git merge --continue"/,
    );
    assert.deepEqual(await outcomes(workspace), []);
    assert.deepEqual(await workspace.events('check.started'), []);
    assert.equal((await workspace.script([], '--resume').finished).code, 1);
    workspace.git('add', '-A');
    workspace.git('commit', '-qm', 'Merge side');
    const resumed = await workspace.script([], '--resume', '--verify', 'true').finished;
    assert.equal(resumed.code, 0, resumed.stdout + resumed.stderr);
    assert.deepEqual(await outcomes(workspace), ['storyDone']);
    assert.equal((await workspace.events('check.ended')).length, 1);
  });

  test('a claim under check is not counted as done; JSON output reports what the file says', async t => {
    const workspace = await Workspace.create(t);
    const hang =
      "node -e \"const look = () => require('fs').existsSync('green') || setTimeout(look, 20); look()\"";
    const cli = workspace.script([['work']], '--verify', hang, '--max-iterations', '1');
    const told = async (...args: readonly string[]) =>
      (await workspace.cli(...args).finished).stdout;
    await workspace.event('check.started');
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.match(await told('status'), /· 0\/2 stories complete/);
    assert.match(await told('stories'), /^0\/2 stories complete .*\n(.*\n)?· +US-001 +running /m);
    const status = JSON.parse(await told('status', '--json'));
    assert.deepEqual([status.stories, status.story], [{ done: 1, total: 2 }, 'US-001']);
    const [story] = JSON.parse(await told('stories', '--json')).stories;
    assert.deepEqual([story.done, story.state], [true, 'running']);
    // What a person ticks meanwhile counts at once.
    await told('tick', 'US-002');
    assert.match(await told('status'), /· 1\/2 stories complete/);
    await workspace.write('green', '');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.match(await told('status'), /^2\/2 stories complete/m);
    assert.match(await told('stories'), /^2\/2 stories complete .*\n(.*\n)?✓ +US-001 +verified /m);
  });

  test('a story is given up once its claims are refused as often as the fail threshold allows', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([['work']], '--verify', 'exit 1', '--fail-threshold', '2');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await outcomes(workspace), ['rejected', 'rejected']);
    assert.deepEqual(await workspace.done(), []);
    assert.equal((await workspace.event('run.ended')).outcome, 'noReadyStory');
  });

  /** A check that writes something else into the story file. */
  async function checkThatChanges(workspace: Workspace, change: string): Promise<string> {
    const program = path.join(workspace.notesDir, 'check.cjs');
    await writeFile(
      program,
      `const fs = require('node:fs');
       const text = fs.readFileSync('.omc/prd.json', 'utf8');
       fs.writeFileSync('.omc/prd.json', ${change});`,
    );
    return `node ${program}`;
  }

  const told = async (workspace: Workspace) =>
    (await workspace.events('warning')).flatMap(({ code, detail }) =>
      code === 'checkChangedStories' ? [englishOf(detail)] : [],
    );

  const harmful = [
    'sed -i.old s/true/false/ .omc/prd.json',
    'git clean -qfdx',
    'rm .omc/prd.json && mkdir .omc/prd.json',
    'git stash -qa',
    'rm .omc/prd.json',
    'echo broken > .omc/prd.json',
  ];
  for (const check of variants(harmful, 3)) {
    test(`what a check does to the story file does not count: ${check}`, {
      skip: process.platform === 'win32',
    }, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      await workspace.write('.git/info/exclude', '.omc\n');
      workspace.git('rm', '-r', '--quiet', '--cached', '--ignore-unmatch', '.omc');
      workspace.git('commit', '--quiet', '--allow-empty', '-m', 'Not in git');
      const { code, stderr, stdout } = await workspace.script(
        [['work']],
        ...['--verify', check, '--verify', 'test -f .omc/prd.json', '--max-iterations', '2'],
      ).finished;
      assert.equal(code, 0, stdout + stderr);
      assert.deepEqual(await outcomes(workspace), ['storyDone', 'storyDone']);
      assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
      assert.deepEqual(await workspace.events('guard.found'), []);
      assert.doesNotMatch(stdout, /agent changed/i);
      const [first = '', ...others] = await told(workspace);
      assert.equal(others.length, 1, 'once for each iteration');
      assert.match(first, /changed the story file \.omc\/prd\.json, which was restored/);
      assert.ok(first.includes(check), first);
      assert.match(first, /git clean -e \.omc/);
    });
  }

  test('what a check does to the story file is undone byte for byte', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const seen = path.join(workspace.notesDir, 'seen.json');
    const check = await checkThatChanges(
      workspace,
      `(require('fs').existsSync('seen') || require('fs').writeFileSync(${JSON.stringify(seen)}, text), '{"userStories": []}')`,
    );
    const { code, stdout } = await workspace.script([['work']], '--verify', check).finished;
    assert.equal(code, 0, stdout);
    assert.equal(
      await readFile(path.join(workspace.folder, '.omc', 'prd.json'), 'utf8'),
      await readFile(seen, 'utf8'),
    );
  });

  test('a tick of a person stays although a check changes the story file', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const check = await checkThatChanges(
      workspace,
      `(() => { while (!require('fs').existsSync('go')); return '{"userStories": []}'; })()`,
    );
    const run = workspace.script([['work']], '--verify', check, '--max-iterations', '1');
    await workspace.event('check.started');
    const tick = await workspace.cli('tick', 'US-003').finished;
    assert.equal(tick.code, 0, tick.stderr);
    await workspace.event('story.ticked');
    await workspace.write('go', '');
    await run.finished;
    assert.deepEqual(await workspace.done(), ['US-001', 'US-003']);
    assert.equal((await told(workspace)).length, 1);
  });

  test('a check cannot tick other stories', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const check = await checkThatChanges(
      workspace,
      'text.replaceAll(/"passes": false/g, \'"passes": true\')',
    );
    const { code, stdout } = await workspace.script([['work']], '--verify', check).finished;
    assert.equal(code, 0, stdout);
    // Each has had an agent of its own.
    assert.deepEqual(
      (await workspace.events('iteration.started')).map(({ storyId }) => storyId),
      ['US-001', 'US-002'],
    );
    assert.deepEqual(await workspace.events('guard.found'), []);
    assert.equal((await told(workspace)).length, 1);
  });

  test('a check cannot remove stories', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const check = await checkThatChanges(
      workspace,
      'JSON.stringify({ userStories: JSON.parse(text).userStories.slice(0, 1) })',
    );
    const args = ['--verify', check, '--max-iterations', '1'];
    assert.equal((await workspace.script([['work']], ...args).finished).code, 1);
    assert.deepEqual(await workspace.events('guard.found'), []);
    const { userStories } = JSON.parse(
      await readFile(path.join(workspace.folder, '.omc', 'prd.json'), 'utf8'),
    );
    assert.deepEqual(
      userStories.map(({ id, passes }: { id: string; passes: boolean }) => [id, passes]),
      [
        ['US-001', true],
        ['US-002', false],
      ],
    );
  });

  test('the run is not complete if a check leaves the branch and cannot be brought back', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { code, stdout } = await workspace.script(
      [['work']],
      ...['--verify', 'git switch --quiet --orphan elsewhere && git commit -qm x --allow-empty'],
    ).finished;
    assert.equal(code, 1);
    assert.match(stdout, /Iteration 1 left its work on elsewhere instead of main/);
  });

  test('a daemon started by a check ends with it on systems with cgroups', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const pidFile = path.join(workspace.notesDir, 'daemon');
    const daemon = `env -i setsid sh -c 'echo $$ > ${pidFile}; exec sleep 600' & while ! [ -s ${pidFile} ]; do sleep 0.05; done`;
    const { code } = await workspace.script([['work']], '--verify', daemon).finished;
    assert.equal(code, 0);
    const pid = Number(await readFile(pidFile, 'utf8'));
    const cgroup = makeCgroup('probe');
    if (cgroup === undefined) {
      // docs/ARCHITECTURE.md says so: nothing marks it there.
      process.kill(pid);
    } else {
      removeCgroup(cgroup.dir);
      await until('the end of the daemon', () => !isAlive(pid));
    }
  });

  test('a daemon of a check is found after a kill -9 of the loop, even from another cgroup', async t => {
    const parent = makeCgroup(`elsewhere-${process.pid}`);
    if (parent === undefined) {
      t.skip('This system gives us no cgroup');
      return;
    }
    let left: number | undefined;
    t.after(() => {
      if (left !== undefined && isAlive(left)) {
        process.kill(left, 'SIGKILL');
      }
      removeCgroup(parent.dir);
    });
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const pidFile = path.join(workspace.notesDir, 'daemon');
    const daemon = `env -i setsid sh -c 'echo $$ > ${pidFile}; exec sleep 600' >/dev/null 2>&1 & sleep 600`;
    const cli = workspace.script([['work']], '--verify', daemon);
    // Before it has begun to run; the event below tells that it was so.
    writeFileSync(path.join(parent.dir, 'cgroup.procs'), `${cli.pid}`);
    const { cgroup } = await workspace.event('check.started');
    const pid = await until(
      'the daemon',
      async () => Number(await readFile(pidFile, 'utf8').catch(() => '')) || undefined,
    );
    left = pid;
    cli.child.kill('SIGKILL');
    await cli.finished;
    assert.equal((await workspace.cli('stop').finished).code, 0);
    assert.equal(isAlive(pid), false);
    // The group of the check is in the one of its run.
    assert.equal(path.dirname(path.dirname(cgroup ?? '')), parent.dir);
    assert.equal(existsSync(cgroup ?? ''), false);
  });

  test('a commit made by a check belongs to the iteration', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const check = 'git commit -q --allow-empty -m "style: format"';
    const cli = workspace.script([['work']], '--verify', check);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(
      (await workspace.events('commit.recorded')).map(({ iteration, storyId, subject }) => [
        iteration,
        storyId,
        subject,
      ]),
      [
        [1, 'US-001', 'feat: US-001'],
        [1, 'US-001', 'style: format'],
      ],
    );
    assert.equal((await workspace.event('iteration.ended')).commits, 2);
  });

  inAll(test)(
    'a run that is repeatedly stopped in the same check still checks the claim',
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const verify = ['--verify', 'test -e ok || sleep 60; exit 1'];
      for (const stopped of [1, 2]) {
        const cli = workspace.script([['work']], ...verify);
        await until(
          `check ${stopped}`,
          async () => (await workspace.events('check.started')).length === stopped,
        );
        cli.child.kill('SIGINT');
        assert.equal((await cli.finished).code, 130);
      }
      await workspace.write('ok', '');
      const { code, stdout } = await workspace.script([['work']], ...verify).finished;
      assert.equal(code, 1, stdout);
      assert.equal((await outcomes(workspace))[0], 'rejected');
      assert.deepEqual(await workspace.done(), []);
    },
  );

  for (const [what, ...flags] of [
    ['is asked for', '--new'],
    ['has another task', 'Something else'],
    ['is begun since the cut-off one has no iterations left'],
  ]) {
    test(`a new run that ${what} does not trust a claim that the last one could not check`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      await workspace.write('.omc/config.json', '{ "verify": ["sleep 60"], "maxIterations": 1 }');
      await killInCheck(workspace);
      assert.deepEqual(await workspace.done(), ['US-001']);
      await workspace.write('.omc/config.json', '{ "verify": ["exit 1"], "maxIterations": 1 }');

      // A person closes the run and does the other story, whose word stands.
      await workspace.cli('stop').finished;
      await workspace.cli('tick', 'US-002').finished;
      const cli = workspace.run('succeeds', ...flags);

      const { code, stdout } = await cli.finished;
      assert.equal(code, 1, stdout);
      assert.match(
        stdout,
        /Ticked in the last run and not accepted, so set back to not done: US-001$/m,
      );
      assert.deepEqual(await outcomes(workspace), ['rejected']);
      assert.deepEqual(await workspace.done(), ['US-002']);
    });
  }

  inAll(test)('an unchecked claim does not count after a run on another list', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await killInCheck(workspace, '--verify', 'sleep 60');
    await workspace.write('other.json', JSON.stringify({ userStories: openStories(1) }));
    const other = await workspace.run('succeeds', '--file', 'other.json').finished;
    assert.equal(other.code, 0, other.stdout);

    const { code, stdout } = await workspace.run(
      'succeeds',
      ...['--verify', 'exit 1', '--max-iterations', '1'],
    ).finished;
    assert.equal(code, 1, stdout);
    assert.match(stdout, /not accepted, so set back to not done: US-001$/m);
    assert.deepEqual(await workspace.done(), []);
  });

  test('a checkpoint that an agent has written does not hide an unchecked claim', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await killInCheck(workspace, '--verify', 'sleep 60');
    await workspace.cli('stop').finished;
    const [runId = ''] = await workspace.runIds();
    const { files } = workspace;
    // With all that a checkpoint of ours has, but another story file.
    const state = await readRunState(files.journalFile(runId));
    await keepRunState(files, runId, { ...state, storyFile: 'other.json' });
    assert.equal((await readRun(files, runId)).storyFile, 'other.json');

    const { code, stdout } = await workspace.run(
      'succeeds',
      ...['--new', '--verify', 'exit 1', '--max-iterations', '1'],
    ).finished;
    assert.equal(code, 1, stdout);
    assert.match(stdout, /not accepted, so set back to not done: US-001$/m);
    assert.deepEqual(await workspace.done(), []);
  });

  test('no check runs after an iteration without a claim', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [[{ commit: 'half' }, { result: ['I began.'] }]],
      ...['--verify', 'exit 1', '--max-iterations', '1'],
    );
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.events('gate.started'), []);
    assert.deepEqual(await outcomes(workspace), ['progress']);
  });

  test('checks run in order up to the first failing one', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [['work']],
      ...['--verify', 'echo one', '--verify', 'exit 7', '--verify', 'echo three'],
      ...['--max-iterations', '1'],
    );
    assert.equal((await cli.finished).code, 1);
    const checks = await workspace.events('check.ended');
    assert.deepEqual(
      checks.map(({ command, ok }) => [command, ok]),
      [
        ['echo one', true],
        ['exit 7', false],
      ],
    );
  });

  test('the journal records the end of each check when it ends', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const waits =
      "node -e \"const look = () => require('fs').existsSync('go') || setTimeout(look, 20); look()\"";
    const cli = workspace.script([['work']], '--verify', 'echo one', '--verify', waits);
    await until(
      'the second check to start',
      async () => (await workspace.events('check.started')).length === 2,
    );
    assert.deepEqual(
      (await workspace.events('check.ended')).map(({ command, ok }) => [command, ok]),
      [['echo one', true]],
    );
    await workspace.write('go', '');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(
      (await workspace.journal()).flatMap(({ type }) => (type.startsWith('check.') ? [type] : [])),
      ['check.started', 'check.ended', 'check.started', 'check.ended'],
    );
  });

  test('a check that exceeds its time limit is killed and fails', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [['work']],
      ...['--verify', 'node -e "setInterval(() => {}, 1000)"', '--verify-time-limit', '0.01'],
      ...['--max-iterations', '1'],
    );
    assert.equal((await cli.finished).code, 1);
    const [check] = await workspace.events('check.ended');
    assert.deepEqual([check?.ok, check?.timedOut], [false, true]);
    assert.deepEqual(await workspace.done(), []);
  });

  test('a stop ends the running check; the claim is checked when the run continues', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const hang = "node -e \"if (!require('fs').existsSync('green')) setInterval(() => {}, 1000)\"";
    const first = workspace.script([['work']], '--verify', hang);
    const { pid } = await workspace.event('check.started');
    first.child.kill('SIGINT');
    assert.equal((await first.finished).code, 130);
    await until('the check to end', () => !isAlive(pid));
    assert.deepEqual(await outcomes(workspace), []);
    await workspace.write('green', '');
    const second = workspace.script([[{ exit: 9 }]], '--verify', hang);
    assert.equal((await second.finished).code, 0, (await second.finished).stderr);
    assert.deepEqual(await outcomes(workspace), ['storyDone']);
    assert.equal((await workspace.agents()).length, 1, 'no other agent was needed');
    assert.equal((await workspace.runIds()).length, 1);
  });
});

describe('the reviewer', { concurrency: 2 }, () => {
  const verdict = (approved: boolean, objections: string[]) => ({
    result: [
      'Reviewed.',
      {
        structured_output: {
          approved,
          objections,
          criteria: [{ criterion: 'It works', met: approved, evidence: 'US-001.txt' }],
        },
      },
    ],
  });

  test('an objection sets the story back to not done and is in the next prompt; an approval is recorded', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [['work'], [verdict(false, ['There is no test.'])], ['work'], [verdict(true, [])]],
      '--reviewer',
    );
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(await outcomes(workspace), ['rejected', 'storyDone']);
    assert.match(await workspace.prompt(2), /There is no test\./);
    const [story] = await workspace.stories();
    assert.deepEqual([story?.passes, story?.['architectVerified']], [true, true]);
    const calls = await workspace.events('agent.ended');
    assert.deepEqual(
      calls.map(({ purpose }) => purpose ?? 'story'),
      ['story', 'review', 'story', 'review'],
    );
    // Each call of the fake costs a quarter; both of an iteration are its cost.
    const ended = await workspace.events('iteration.ended');
    assert.deepEqual(
      ended.map(({ costUsd }) => costUsd),
      [0.5, 0.5],
    );
  });

  test('the reviewer sees the work of all iterations on the story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [
        [{ write: ['first.txt', 'begun in the first iteration\n'] }, { commit: 'one' }, 'exit'],
        ['work'],
        [verdict(true, [])],
      ],
      '--reviewer',
    );
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    const [runId = ''] = await workspace.runIds();
    const prompt = await readFile(
      path.join(workspace.files.iterationDir(runId, 2), 'review-US-001-1.md'),
      'utf8',
    );
    assert.match(prompt, /^\+begun in the first iteration$/m);
    assert.match(prompt, /^\+work of process/m);
    const [begin] = await workspace.events('iteration.started');
    assert.ok(prompt.includes(`Everything since commit ${begin?.startCommit?.slice(0, 9)}`));
  });

  for (const [how, review, said] of [
    ['crashes', [{ stderr: 'out of memory' }, { exit: 3 }], /The reviewer failed: out of memory/],
    ['gives no verdict', [{ result: ['I like it.'] }], /no usable answer in 2 tries/],
  ] as const) {
    for (const checks of [[], ['--verify', 'exit 0']]) {
      test(`a reviewer that ${how} ${checks.length === 0 ? 'without' : 'with'} checks leaves the story undecided`, async t => {
        const workspace = await Workspace.create(t, { stories: openStories(1) });
        const cli = workspace.script(
          [['work'], [...review]],
          ...['--reviewer', '--retry-attempts', '1', '--fail-threshold', '1', ...checks],
        );
        const { code, stdout } = await cli.finished;
        assert.equal(code, 1);
        // Neither done nor failed, and nothing says so.
        assert.deepEqual(await outcomes(workspace), []);
        const warnings = await workspace.events('warning');
        assert.deepEqual(
          warnings.map(({ code }) => code),
          ['claimNotReviewed'],
        );
        assert.deepEqual(
          (await workspace.events('story.changed')).map(({ by }) => by),
          ['agent'],
        );
        assert.match(stdout, said);
        assert.match(
          stdout,
          /Cannot continue: US-001 waits for its reviewer.*run again.*--no-reviewer/,
        );
        assert.doesNotMatch(stdout, /is done$|only the checks count|reviewer objects/m);
        const status = (await workspace.cli('status').finished).stdout;
        assert.match(
          status,
          /^Cannot continue: US-001 waits for its reviewer.*\n0\/1 stories complete/,
        );
        assert.match((await workspace.cli('receipt').finished).stdout, /not ended/);
        const listed = (await workspace.cli('stories').finished).stdout;
        assert.match(
          listed,
          /^0\/1 stories complete[\s\S]*^· +US-001 +unjudged [\s\S]*^unjudged: /m,
        );
        assert.match(
          (await workspace.cli('next').finished).stdout,
          /this claim is still to be judged: US-001\. "ralph-fresh run" does that/,
        );
        // The same command repeats the review alone.
        const next = workspace.script([['work'], [verdict(true, [])]], '--reviewer', ...checks);
        assert.equal((await next.finished).code, 0, (await next.finished).stderr);
        assert.deepEqual(await outcomes(workspace), ['storyDone']);
        const calls = await workspace.events('agent.started');
        assert.equal(calls.filter(({ purpose }) => purpose === undefined).length, 1);
        assert.match((await workspace.cli('status').finished).stdout, /\n1\/1 stories complete/);
      });
    }
  }

  test('a story that a person sets to not done during the review stays not done', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [['work'], [{ wait: 'go' }, verdict(true, [])]],
      ...['--reviewer', '--max-iterations', '1'],
    );
    await workspace.agent(2);
    assert.equal((await workspace.cli('untick', 'US-001').finished).code, 0);
    await workspace.note('go');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.done(), []);
    assert.deepEqual(await outcomes(workspace), ['progress']);
    assert.doesNotMatch(await workspace.read('.omc/prd.json'), /architectVerified/);
  });

  test('a skip while the reviewer waits for a retry continues with the next story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script(
      [['work'], [{ exit: 3 }], ['work'], [verdict(true, [])]],
      ...['--reviewer', '--retry-delay', '600'],
    );
    await workspace.event('call.retried');
    assert.equal((await workspace.cli('skip', 'US-001').finished).code, 0);
    const { stdout } = await cli.finished;
    assert.deepEqual(await workspace.done(), ['US-002'], stdout);
    assert.match(stdout, /No story is ready\. US-001 is skipped; /);
  });

  for (const [what, script, flags] of [
    ['the review', [['work'], ['stay'], ['work'], [verdict(true, [])]], ['--reviewer']],
    ['a check', [['work']], ['--verify', 'test -e US-002.txt || sleep 60']],
  ] as const) {
    test(`a skip during ${what} ends it and withdraws the claim`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const cli = workspace.script(script, ...flags);
      await (what === 'a check' ? workspace.event('check.started') : workspace.agent(2));
      assert.equal((await workspace.cli('skip', 'US-001').finished).code, 0);
      const { code, stdout } = await cli.finished;
      assert.equal(code, 1, stdout);
      assert.deepEqual(await workspace.done(), ['US-002']);
      assert.deepEqual(await outcomes(workspace), ['skipped', 'storyDone']);
      assert.match(stdout, /US-001 was set back to not done: a skip ended its checks/);
    });
  }

  test('a reviewer that fails to start leaves the story undecided', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const program = path.join(workspace.notesDir, 'claude.mjs');
    await writeFile(
      program,
      `#!/usr/bin/env node\nawait import(${JSON.stringify(pathToFileURL(fakeAgent('scripted')).href)});\n`,
      { mode: 0o755 },
    );
    const cli = workspace.cliWith(
      { FAKE_AGENT_SCRIPT: JSON.stringify([['work', { delete: program }]]) },
      ...['run', '--agent', 'claude', '--claude-path', program, '--reviewer'],
      ...['--retry-delay', '0.01', '--retry-attempts', '1'],
    );
    const { code, stdout } = await cli.finished;
    assert.equal(code, 1);
    assert.match(stdout, /Cannot continue: US-001 waits for its reviewer.*claude\.mjs/);
    assert.deepEqual(await outcomes(workspace), []);
    const ends = await workspace.events('agent.ended');
    assert.deepEqual(
      ends.map(({ purpose, reason }) => [purpose ?? 'story', reason]),
      [
        ['story', 'exited'],
        ['review', 'notStarted'],
        ['review', 'notStarted'],
      ],
    );
  });

  test('a reviewer that crashes once is retried', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([['work'], [{ exit: 3 }], [verdict(true, [])]], '--reviewer');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(await outcomes(workspace), ['storyDone']);
    assert.deepEqual(await workspace.events('warning'), []);
    const [retried] = await workspace.events('call.retried');
    assert.equal(retried?.purpose, 'review');
  });
});
