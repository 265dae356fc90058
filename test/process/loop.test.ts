import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { englishOf } from '../../src/base/say.ts';
import { HANDOFF_MAX_BYTES } from '../../src/orchestrator/iteration/handoff.ts';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import {
  fakeAgent,
  isAlive,
  openStories,
  type RunningCli,
  until,
  Workspace,
} from '../support/ralph.ts';
import { inAll, variants } from '../support/variants.ts';

const UNCOMMITTED = /There are uncommitted changes/;
const execFileText = promisify(execFile);
/** A program that is there, so that a run starts, and that the system cannot start. */
async function noProgram({ notesDir }: Workspace): Promise<string> {
  const file = path.join(notesDir, 'no-program');
  await writeFile(file, '#!/no/such/interpreter\n', { mode: 0o755 });
  return file;
}

/** A process can be told to end by signals only where there are any. */
const posix = { skip: process.platform === 'win32' && 'Windows has no signals' };
/** `setsid` and cgroups are Linux's own. */
const linux = { skip: process.platform !== 'linux' && 'Only Linux has cgroups' };
/** A limit that is reached soon, in minutes. Nothing but the limit ends those agents. */
const SOON = '0.01';

async function subjects(workspace: Workspace): Promise<string[]> {
  const { stdout } = await execFileText('git', ['log', '--reverse', '--format=%s'], {
    cwd: workspace.folder,
    env: workspace.env,
  });
  return stdout.trim().split('\n').slice(1);
}

function last(events: readonly RunEvent[]): Extract<RunEvent, { type: 'run.ended' }> {
  const event = events.at(-1);
  assert.equal(event?.type, 'run.ended');
  return event;
}

/** Exactly one recorded end, the last line, with the exit code that the process had. */
async function assertEnd(
  workspace: Workspace,
  cli: RunningCli,
  outcome: string,
  exitCode: number,
): Promise<void> {
  const { code, stderr } = await cli.finished;
  const events = await workspace.journal();
  assert.equal(events.filter(({ type }) => type === 'run.ended').length, 1);
  const end = last(events);
  assert.deepEqual([end.outcome, end.exitCode, code, stderr], [outcome, exitCode, exitCode, '']);
  events.forEach((event, i) => {
    assert.equal(event.seq, i + 1);
  });
  const state = JSON.parse(await readFile(workspace.files.stateFile, 'utf8'));
  assert.equal(state.active, false);
  assert.equal(existsSync(workspace.files.lockFile), false);
}

function assertOneLine(text: string, pattern: RegExp): void {
  assert.match(text, /^ralph-fresh: [^\n]+\n$/);
  assert.match(text, pattern);
}

const outcomes = async (workspace: Workspace) =>
  (await workspace.events('iteration.ended')).map(({ outcome }) => outcome);

describe('a run to its end', { concurrency: 4 }, () => {
  test('a fresh agent for each story, until all are done: exit code 0', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const cli = workspace.run('succeeds', '--model', 'fake-model');
    await assertEnd(workspace, cli, 'completed', 0);

    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
    assert.deepEqual(await subjects(workspace), ['feat: US-001', 'feat: US-002', 'feat: US-003']);
    assert.equal(new Set(await workspace.agents()).size, 3);
    const [started, ...rest] = await workspace.journal();
    assert.ok(started?.type === 'run.started');
    assert.equal(started.agent, 'claude');
    assert.equal(started.storyFile, '.omc/prd.json');
    assert.equal(started.branch, 'main');
    assert.equal(started.task, 'Make it work');
    assert.deepEqual(started.stories, { done: 0, total: 3 });
    const ofFirst = rest.slice(0, rest.findIndex(({ type }) => type === 'iteration.ended') + 1);
    assert.deepEqual(
      ofFirst.map(({ type }) => type),
      [
        'iteration.started',
        'agent.started',
        'agent.init',
        'agent.text',
        'agent.tool',
        'agent.ended',
        'commit.recorded',
        'story.changed',
        'iteration.ended',
      ],
    );
    const ended = await workspace.events('iteration.ended');
    assert.deepEqual(
      ended.map(({ outcome, storyId, costUsd, commits, stories, turns }) => ({
        ...{ outcome, storyId, costUsd, commits, done: stories.done, turns },
      })),
      [1, 2, 3].map(n => ({
        ...{ outcome: 'storyDone', storyId: `US-00${n}`, costUsd: 0.25, commits: 1 },
        ...{ done: n, turns: 2 },
      })),
    );
    const [promise, ...others] = await workspace.events('promise.seen');
    assert.deepEqual([promise?.iteration, promise?.accepted, others], [3, true, []]);
    const { stdout } = await cli.finished;
    assert.match(stdout, /=== Iteration 1\/20 ===/);
    assert.match(stdout, /COMPLETE after 3 iterations/);
  });

  test('if all stories are done at the start, no run begins and the output says so', async t => {
    const stories = openStories(2).map(story => ({ ...story, passes: true }));
    const workspace = await Workspace.create(t, { stories });
    for (const args of [[], ['--new'], ['--detach'], ['--story', 'US-002']]) {
      const { code, stderr, stdout } = await workspace.run('fails', ...args).finished;
      assert.deepEqual([code, stderr], [0, '']);
      const what = args.includes('--story') ? 'US-002 is' : 'All stories are';
      assert.match(
        stdout,
        new RegExp(`^${what} complete; there is nothing to do\\. .*untick ID\\.\n$`),
      );
    }
    assert.equal((await workspace.run('fails', '--quiet').finished).stdout, '');
    assert.deepEqual(await readdir(workspace.files.runsDir).catch(() => []), []);
    assert.equal(existsSync(workspace.files.lockFile), false);
    assert.deepEqual(await workspace.agents(), []);
    const status = await workspace.cli('status').finished;
    assert.match(status.stdout, /^No run in this folder yet/);
  });

  test('`run --quiet` says only why it has not started, or is not complete', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const quiet = async (...args: string[]) => {
      const { code, stdout, stderr } = await workspace.run('succeeds', '--quiet', ...args).finished;
      assert.equal(stdout, '');
      return { code, stderr };
    };
    const unknown = await quiet('--story', 'US-009');
    assert.equal(unknown.code, 64);
    assertOneLine(unknown.stderr, /US-009/);
    const setting = await quiet('--max-iterations', 'none');
    assert.equal(setting.code, 64);
    assertOneLine(setting.stderr, /max-iterations/);
    await workspace.write('.git/MERGE_HEAD', '');
    const unready = await quiet();
    assert.equal(unready.code, 1);
    assertOneLine(unready.stderr, /merge/);
    await rm(path.join(workspace.folder, '.git/MERGE_HEAD'));

    const some = await quiet('--max-iterations', '1');
    assert.equal(some.code, 1);
    assertOneLine(some.stderr, /1 of 2 stories complete\. .*--max-iterations/);
    const [ended] = (await workspace.cli('status').finished).stdout.split('\n');
    assert.equal(some.stderr, `ralph-fresh: ${ended}\n`);
    assert.deepEqual(await quiet('--max-iterations', '2'), { code: 0, stderr: '' });
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });

  test('if all stories are done, the open claim of the last run is still judged', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    // Stopped before anybody could check the claim; and what the person did meanwhile.
    const first = workspace.script(
      [['work']],
      ...['--verify', "node -e 'setInterval(() => {}, 1000)'"],
    );
    await workspace.event('check.started');
    first.child.kill('SIGINT');
    assert.equal((await first.finished).code, 130);
    assert.deepEqual(await workspace.done(), ['US-001']);
    const second = workspace.script([['work']], '--verify', 'exit 3', '--max-iterations', '2');
    assert.equal((await second.finished).code, 1);
    assert.equal((await workspace.runIds()).length, 1);
    assert.equal((await workspace.events('check.ended')).at(-1)?.exitCode, 3);

    // A run that was stopped with nothing left to do gets its end.
    const other = await Workspace.create(t, { stories: openStories(1) });
    const asks = { result: ['<promise>NEEDS_HUMAN: Which colour?</promise>'] };
    assert.equal((await other.script([[asks]]).finished).code, 2);
    assert.equal((await other.cli('tick', 'US-001').finished).code, 0);
    assert.equal((await other.script([[asks]]).finished).code, 0);
    assert.equal((await other.runIds()).length, 1);
    assert.equal((await other.events('run.ended')).at(-1)?.outcome, 'completed');
  });

  test('if all stories are done, the state file of a loop killed after its end is fixed', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    const state = async () => JSON.parse(await readFile(workspace.files.stateFile, 'utf8'));
    await writeFile(
      workspace.files.stateFile,
      JSON.stringify({ ...(await state()), active: true, outcome: undefined }),
    );
    assert.match((await workspace.run('succeeds').finished).stdout, /nothing to do/);
    const { active, outcome } = await state();
    assert.deepEqual([active, outcome], [false, 'completed']);
  });

  test('if all stories are done here but open on their own branch, the run switches to it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const file = '.omc/prd.json';
    const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace.folder });
    const prd = JSON.parse(await workspace.read(file));
    const save = async (passes: boolean) => {
      prd.branchName = 'ralph/x';
      prd.userStories[0].passes = passes;
      await workspace.write(file, JSON.stringify(prd));
      git('add', '-f', file);
      git('commit', '-qm', 'stories');
    };
    await save(false);
    git('branch', 'ralph/x');
    await save(true);
    const { code, stderr } = await workspace.run('succeeds').finished;
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      (await workspace.events('iteration.ended')).map(({ outcome }) => outcome),
      ['storyDone'],
    );
  });

  test('the maximum of iterations: exit code 1', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const cli = workspace.run('succeeds', '--max-iterations', '2');
    await assertEnd(workspace, cli, 'maxIterations', 1);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    assert.match((await cli.finished).stdout, /Max iterations reached \(2\) with 2 of 3/);
  });

  test('a later run continues with the remaining stories', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.run('succeeds', '--max-iterations', '1').finished;
    const cli = workspace.run('succeeds');
    assert.equal((await cli.finished).code, 0);
    assert.deepEqual(await subjects(workspace), ['feat: US-001', 'feat: US-002', 'feat: US-003']);
  });

  test('an agent that asks for a person: exit code 2 with its question', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('asksHuman');
    await assertEnd(workspace, cli, 'needsHuman', 2);
    assert.equal(last(await workspace.journal()).detail, 'Blue or green?');
    assert.deepEqual(await outcomes(workspace), ['needsHuman']);
    assert.match((await cli.finished).stdout, /Needs you: US-001 asks: Blue or green\?/);
  });

  test('a blocked story is given up, the others are done: exit code 1', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const cli = workspace.run('blocked');
    await assertEnd(workspace, cli, 'noReadyStory', 1);
    assert.deepEqual(await workspace.done(), ['US-002', 'US-003']);
    assert.deepEqual(await outcomes(workspace), ['blocked', 'storyDone', 'storyDone']);
    assert.equal(last(await workspace.journal()).detail, 'US-001');
  });

  test('a story that fails up to its threshold is given up', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.run('fails', '--fail-threshold', '2');
    await assertEnd(workspace, cli, 'noReadyStory', 1);
    const given = await workspace.events('iteration.started');
    assert.deepEqual(
      given.map(({ storyId }) => storyId),
      ['US-001', 'US-001', 'US-002', 'US-002'],
    );
    const [ended] = await workspace.events('agent.ended');
    assert.equal(ended?.exitCode, 1);
    assert.equal(ended?.error?.kind, 'api');
    assert.match(await prompt(workspace, 2), /previous iteration on this story failed.*bad day/);
    const { stdout } = await cli.finished;
    assert.match(stdout, /US-001 has failed too often in a row \(2\); the run leaves it alone\./);
  });

  test('a story that is given up is not also reported as stuck', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.run('fails', '--fail-threshold', '2', '--stuck-threshold', '2');
    await assertEnd(workspace, cli, 'noReadyStory', 1);
    assert.deepEqual(await workspace.events('story.stuck'), []);
    const { stdout } = await cli.finished;
    assert.equal(stdout.match(/the run leaves it alone/g)?.length, 1);
  });

  test('an agent that cannot start never counts against the story, however often it is tried', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const missing = ['run', '--claude-path', await noProgram(workspace)];
    for (let attempt = 1; attempt <= 4; attempt++) {
      const { code, stderr, stdout } = await workspace.cli(...missing).finished;
      assert.equal(code, 1);
      assert.match(`${stdout}${stderr}`, /Cannot continue: .*no-program/);
    }
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    assert.deepEqual(await workspace.done(), ['US-001']);
  });

  test('an account without credit ends the run at once: exit code 1; later the same command continues', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('billing');
    await assertEnd(workspace, cli, 'error', 1);
    const next =
      /Credit balance is too low\. Add credit .*choose another .*the same command continues/;
    assert.match(englishOf(last(await workspace.journal()).detail ?? ''), next);
    assert.match((await cli.finished).stdout, next);
    assert.match((await workspace.cli('status').finished).stdout, next);
    assert.equal((await workspace.agents()).length, 1);
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    assert.equal((await workspace.runIds()).length, 1);
  });

  test('the prompt after an agent that does nothing says that the story is stuck', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('noCommit', '--max-iterations', '3', '--stuck-threshold', '2');
    await assertEnd(workspace, cli, 'maxIterations', 1);
    assert.deepEqual(await outcomes(workspace), ['noProgress', 'noProgress', 'noProgress']);
    const started = await workspace.events('iteration.started');
    assert.deepEqual(
      started.map(({ stuckFor }) => stuckFor),
      [0, 1, 2],
    );
    assert.doesNotMatch(await prompt(workspace, 2), /\*\*Stuck\*\*/);
    assert.match(await prompt(workspace, 3), /\*\*Stuck\*\*/);
  });

  test('a stuck story with only a warning does not use up all iterations, even after a restart', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const idle = [{ result: ['Thought about it.'] }];
    const calls = [idle, idle, idle, ['stay'], ['work'], ['work']];
    const cli = workspace.script(calls, '--stuck-threshold', '1');
    await workspace.agent(4);
    const status = await workspace.cli('status').finished;
    assert.match(status.stdout, /US-002: .*\nAfter the others, because of no progress: US-001/);
    assert.match((await workspace.cli('next').finished).stdout, /US-002/);
    await workspace.cli('stop').finished;
    assert.match(
      (await cli.finished).stdout,
      /US-001 has made no progress for 3 iterations; the other stories come first/,
    );
    assert.equal((await workspace.script(calls).finished).code, 0);
    const started = await workspace.events('iteration.started');
    assert.deepEqual(
      started.map(({ storyId }) => storyId),
      ['US-001', 'US-001', 'US-001', 'US-002', 'US-002', 'US-001'],
    );
    assert.deepEqual(
      (await workspace.events('story.stuck')).map(({ action }) => action),
      ['warn', 'later'],
    );
  });

  test('a tick without a commit counts because it is in the story file', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('ticksWithoutCommit');
    await assertEnd(workspace, cli, 'completed', 0);
    const ended = await workspace.events('iteration.ended');
    assert.deepEqual(
      ended.map(({ outcome, commits }) => [outcome, commits]),
      [
        ['storyDone', 0],
        ['storyDone', 0],
      ],
    );
  });

  test('a premature promise is refused, and the next prompt says so', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('claimsTooEarly');
    await assertEnd(workspace, cli, 'completed', 0);
    const promises = await workspace.events('promise.seen');
    assert.deepEqual(
      promises.map(({ iteration, accepted }) => [iteration, accepted]),
      [
        [1, false],
        [3, false],
        [4, true],
      ],
    );
    assert.match((await cli.finished).stdout, /not accepted/);
  });

  test('a quoted promise does not count', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('quotesPromise', '--max-iterations', '1');
    await assertEnd(workspace, cli, 'maxIterations', 1);
    assert.deepEqual(await workspace.events('promise.seen'), []);
  });

  test('a free-form task without prd.json is complete once the agent promises it', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const cli = workspace.run('succeeds', 'Write a poem');
    await assertEnd(workspace, cli, 'completed', 0);
    const [started] = await workspace.events('run.started');
    assert.deepEqual(
      [started?.mode, started?.task, started?.storyFile],
      ['freeForm', 'Write a poem', undefined],
    );
    assert.deepEqual(await subjects(workspace), ['feat: task']);
    assert.match(await prompt(workspace, 1), /## Your Task\nWrite a poem/);
  });

  test('a quoted promise does not count in free-form mode either', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const cli = workspace.run('quotesPromise', 'Write a poem', '--max-iterations', '2');
    await assertEnd(workspace, cli, 'maxIterations', 1);
    assert.equal((await workspace.agents()).length, 2);
  });

  test('the completion phrase can be configured', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const cli = workspace.run('succeeds', '--completion-promise', 'ALLES FERTIG', 'Write a poem');
    await assertEnd(workspace, cli, 'completed', 0);
    assert.match(await prompt(workspace, 1), /<promise>ALLES FERTIG<\/promise>/);
  });
});

async function prompt(workspace: Workspace, iteration: number): Promise<string> {
  const runId = (await workspace.runIds()).at(-1) ?? '';
  return readFile(path.join(workspace.files.iterationDir(runId, iteration), 'prompt.md'), 'utf8');
}

describe('stop', { concurrency: 4, ...posix }, () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`${signal} ends the agent and the run: exit code 130`, async t => {
      const workspace = await Workspace.create(t);
      const cli = workspace.run('hangs');
      const agent = await workspace.agent();
      await workspace.event('agent.init');
      cli.child.kill(signal);
      await assertEnd(workspace, cli, 'stopped', 130);
      assert.equal(isAlive(agent), false);
      assert.deepEqual(await outcomes(workspace), ['stopped']);
      const [stop] = await workspace.events('stop.requested');
      assert.deepEqual([stop?.by, stop?.mode, stop?.signal], ['signal', 'end', signal]);
      assert.match((await cli.finished).stdout, new RegExp(`Received ${signal}, saving state`));
      const [ended] = await workspace.events('agent.ended');
      assert.equal(ended?.reason, 'cancelled');
      assert.match((await cli.finished).stdout, /run again to continue/);
    });
  }

  test('`stop` ends the run, and waits until nothing of it is left', async t => {
    const workspace = await Workspace.create(t);
    await workspace.note('hold');
    const cli = workspace.run('leavesChild');
    const agent = await workspace.agent();
    await workspace.event('agent.init');
    const { code, stdout, stderr } = await workspace.cli('stop').finished;

    // Looked at right away: `stop` has waited already.
    const left = (await workspace.notes()).flatMap(note => note.left ?? []);
    assert.equal(left.length, 2);
    assert.deepEqual([agent, ...left].filter(isAlive), []);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Stopped\. State saved/);
    await assertEnd(workspace, cli, 'stopped', 130);
    const [stop] = await workspace.events('stop.requested');
    assert.deepEqual([stop?.by, stop?.mode], ['inbox', 'end']);
  });

  test('`stop` kills an agent that ignores it', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('ignoresSigterm');
    const agent = await workspace.agent();
    await workspace.event('agent.init');
    assert.equal((await workspace.cli('stop').finished).code, 0);
    assert.equal(isAlive(agent), false);
    await assertEnd(workspace, cli, 'stopped', 130);
    const [ended] = await workspace.events('agent.ended');
    assert.deepEqual([ended?.reason, ended?.signal], ['cancelled', 'SIGKILL']);
    assert.ok((await workspace.notes()).some(({ heard }) => heard === 'SIGTERM'));
  });

  test('`stop --now` kills the agent without asking it first', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('ignoresSigterm');
    const agent = await workspace.agent();
    await workspace.event('agent.init');
    assert.equal((await workspace.cli('stop', '--now').finished).code, 0);
    assert.equal(isAlive(agent), false);
    await assertEnd(workspace, cli, 'stopped', 130);
    const [stop] = await workspace.events('stop.requested');
    assert.equal(stop?.mode, 'kill');
    const [ended] = await workspace.events('agent.ended');
    assert.equal(ended?.signal, 'SIGKILL');
  });

  test('a second Ctrl-C kills an agent that ignores the first', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('ignoresSigterm');
    await workspace.agent();
    await workspace.event('agent.init');
    cli.child.kill('SIGINT');
    await workspace.event('stop.requested');
    cli.child.kill('SIGINT');
    await assertEnd(workspace, cli, 'stopped', 130);
    const modes = (await workspace.events('stop.requested')).map(({ mode }) => mode);
    assert.deepEqual(modes, ['end', 'kill']);
  });

  test('`stop --after-iteration` lets the agent finish', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('waits');
    await workspace.agent();
    const stop = workspace.cli('stop', '--after-iteration');
    await workspace.event('stop.requested');
    const told = await workspace.cli('status').finished;
    assert.match(told.stdout, /Iteration 1\/20 .* stopping/);
    await workspace.note('go');
    await assertEnd(workspace, cli, 'stopped', 130);
    assert.equal((await stop.finished).code, 0);
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.deepEqual(await outcomes(workspace), ['storyDone']);
  });

  test('setting the state file to inactive cancels the run', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('hangs');
    const agent = await workspace.agent();
    await workspace.event('agent.init');
    const state = JSON.parse(await readFile(workspace.files.stateFile, 'utf8'));
    assert.equal(state.active, true);
    assert.equal(state.iteration, 1);
    assert.equal(state.pid, cli.pid);
    await writeFile(workspace.files.stateFile, JSON.stringify({ ...state, active: false }));
    await assertEnd(workspace, cli, 'stopped', 130);
    assert.equal(isAlive(agent), false);
    const [stop] = await workspace.events('stop.requested');
    assert.equal(stop?.by, 'stateFile');
  });

  test('removing the state file cancels the run', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('hangs');
    await workspace.event('agent.init');
    await rm(workspace.files.stateFile);
    await assertEnd(workspace, cli, 'stopped', 130);
    const [stop] = await workspace.events('stop.requested');
    assert.equal(stop?.by, 'stateFile');
  });

  test('`stop` without a run says so', async t => {
    const workspace = await Workspace.create(t);
    const { code, stdout } = await workspace.cli('stop').finished;
    assert.deepEqual([code, stdout], [0, 'No run is active in this folder.\n']);
  });

  test('`stop` also waits for the process of the loop', async t => {
    const workspace = await Workspace.create(t);
    const late = pathToFileURL(fakeAgent('exitsLate')).href;
    const cli = workspace.cliWith(
      { NODE_OPTIONS: `--import=${late}` },
      ...['run', '--claude-path', fakeAgent('hangs')],
    );
    await workspace.event('agent.init');
    const stop = workspace.cli('stop', '--now');
    const wasAlive = stop.finished.then(() => isAlive(cli.pid));
    await until('the free lock', () => !existsSync(workspace.files.lockFile));
    // One who does not wait for the process has ended before this one has.
    await workspace.cli('status').finished;
    await workspace.note('exit');
    assert.equal(await wasAlive, false);
  });

  test('`stop` after a kill -9 of the loop ends the remaining agent', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('hangs');
    const agent = await workspace.agent();
    await workspace.event('agent.init');
    cli.child.kill('SIGKILL');
    await cli.finished;
    assert.equal(isAlive(agent), true);
    await workspace.cli('stop').finished;
    assert.equal(isAlive(agent), false);
  });
});

describe('limits and agents out of control', { concurrency: 4, ...posix }, () => {
  test('the time limit ends an agent, even one that ignores SIGTERM', async t => {
    const workspace = await Workspace.create(t);
    // A shell ignores it at once; a Node that is slow to start would be ended before it does.
    const agent = path.join(workspace.notesDir, 'ignores-sigterm');
    await writeFile(agent, "#!/bin/sh\ntrap '' TERM\nexec sleep 600\n", { mode: 0o755 });
    const flags = ['--agent', 'claude', '--claude-path', agent];
    const cli = workspace.cli('run', ...flags, '--time-limit', '0.1', '--max-iterations', '1');
    await assertEnd(workspace, cli, 'maxIterations', 1);
    const [started] = await workspace.events('agent.started');
    assert.equal(isAlive(started?.pid ?? 0), false);
    const [ended] = await workspace.events('agent.ended');
    assert.deepEqual([ended?.reason, ended?.signal], ['hardLimit', 'SIGKILL']);
    assert.deepEqual(await outcomes(workspace), ['failed']);
  });

  test('an agent that prints nothing is ended, and the next iteration begins', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('hangs', '--idle-limit', SOON, '--max-iterations', '2');
    await assertEnd(workspace, cli, 'maxIterations', 1);
    const reasons = (await workspace.events('agent.ended')).map(({ reason }) => reason);
    assert.deepEqual(reasons, ['idleLimit', 'idleLimit']);
    assert.deepEqual((await workspace.agents()).filter(isAlive), []);
  });

  test('an agent that lingers after its result is ended, and its work counts', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.run('lingers');
    await assertEnd(workspace, cli, 'completed', 0);
    const [ended] = await workspace.events('agent.ended');
    assert.equal(ended?.reason, 'lingered');
    assert.deepEqual((await workspace.agents()).filter(isAlive), []);
  });

  test('processes that an agent leaves behind are ended before the next one starts', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('leavesChild');
    await assertEnd(workspace, cli, 'completed', 0);
    const left = (await workspace.notes()).flatMap(note => note.left ?? []);
    assert.equal(left.length, 4);
    assert.deepEqual(left.filter(isAlive), []);
    const ended = await workspace.events('agent.ended');
    assert.deepEqual(
      ended.map(({ reason, leftovers }) => [reason, leftovers]),
      [
        ['exited', 2],
        ['exited', 2],
      ],
    );
  });

  test('the next prompt names files written after the previous agent had ended', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('leavesWriter');
    await assertEnd(workspace, cli, 'completed', 0);
    assert.deepEqual(
      (await workspace.events('agent.ended')).map(({ leftovers }) => leftovers),
      [1, 1],
    );
    assert.doesNotMatch(await workspace.prompt(1), UNCOMMITTED);
    assert.match(await workspace.prompt(2), UNCOMMITTED);
  });

  test("a foreign process that holds an agent's output open does not delay the run", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.run('leavesStranger');
    const ended = until(
      'the end of the agent',
      async () => (await workspace.events('agent.ended'))[0],
      30_000,
    );
    await ended;
    await assertEnd(workspace, cli, 'completed', 0);
  });

  for (const [how, end] of [
    ['`stop`', async (workspace: Workspace) => void (await workspace.cli('stop').finished)],
    ['the end of its agent', (workspace: Workspace) => workspace.note('go')],
    [
      'the next command after a kill -9 of the loop',
      async (workspace: Workspace, cli: RunningCli) => {
        cli.child.kill('SIGKILL');
        await cli.finished;
        await workspace.cli('stop').finished;
      },
    ],
  ] as const) {
    test(`${how} ends a daemon that removed the mark of the run`, linux, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const cli = workspace.run('leavesDaemon');
      const { cgroup } = await workspace.event('agent.started');
      await workspace.event('agent.text');
      const [daemon = 0] = (await workspace.notes()).flatMap(({ left }) => left ?? []);
      assert.equal(isAlive(daemon), true);
      await end(workspace, cli);
      await cli.finished;
      // Where the system gives us no cgroup, one that lost its parent at once gets away (docs/ARCHITECTURE.md).
      assert.equal(isAlive(daemon), cgroup === undefined);
      assert.equal(cgroup !== undefined && existsSync(cgroup), false);
    });
  }

  test('an agent that dies in the middle of a line counts as failed without further effects', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('halfLine', '--max-iterations', '1');
    await assertEnd(workspace, cli, 'maxIterations', 1);
    const [ended] = await workspace.events('agent.ended');
    assert.deepEqual([ended?.reason, ended?.signal], ['exited', 'SIGKILL']);
    assert.deepEqual(await outcomes(workspace), ['failed']);
    const [output] = await workspace.events('agent.output');
    assert.match(output?.text ?? '', /^\{"type":"assistant"/);
  });

  test('garbage output is kept in full in the raw stream and cut in the journal', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.run('garbage');
    await assertEnd(workspace, cli, 'completed', 0);
    const [runId = ''] = await workspace.runIds();
    const raw = path.join(workspace.files.iterationDir(runId, 1), 'stream.jsonl');
    assert.ok((await stat(raw)).size > 24_000_000);
    assert.ok((await stat(workspace.files.journalFile(runId))).size < 300_000);
    const [ended] = await workspace.events('iteration.ended');
    assert.equal(ended?.costUsd, 0.25);
    // Nothing that steers a terminal, and no more of it than a person can read.
    const { stdout } = await cli.finished;
    assert.doesNotMatch(stdout, /[^\P{Cc}\n\t]/u);
    assert.ok(stdout.length < 300_000);
  });

  test('megabyte fields are not copied into the journal', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.run('hugeFields');
    await cli.finished;
    const [runId = ''] = await workspace.runIds();
    const { size } = await stat(workspace.files.journalFile(runId));
    assert.ok(size < 300_000, `${size} bytes`);
    await assertEnd(workspace, cli, 'completed', 0);
  });

  test('an absurd number of turns is capped in the journal', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([
      [{ tick: 'US-001' }, { commit: 'one' }, { result: ['Done.', { num_turns: 1e308 }] }],
    ]);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    const [ended] = await workspace.events('iteration.ended');
    assert.equal(ended?.turns, Number.MAX_SAFE_INTEGER);
  });

  test('every line the loop writes can be read back, whatever numbers the agent reports', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.run('oddNumbers');
    await assertEnd(workspace, cli, 'completed', 0);
    assert.deepEqual(await outcomes(workspace), ['storyDone']);
  });
});

describe('story file changes during a run', { concurrency: 4 }, () => {
  test('a story file broken by an agent gives a warning, is repaired by the next one, and loses no story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.run('breaksPrd', '--guard', 'warn');
    await assertEnd(workspace, cli, 'completed', 0);
    const warnings = await workspace.events('warning');
    assert.deepEqual(
      warnings.map(({ code, iteration }) => [code, iteration]),
      [['storyFileUnreadable', 1]],
    );
    assert.match(englishOf(warnings[0]?.detail ?? ''), /^Line \d+: /);
    const ended = await workspace.events('iteration.ended');
    assert.deepEqual(
      ended.map(({ outcome, stories }) => [outcome, stories.done, stories.total]),
      [
        ['noProgress', 0, 2],
        ['storyDone', 1, 2],
        ['storyDone', 2, 2],
      ],
    );
    assert.deepEqual(
      (await workspace.stories()).map(({ id, title, passes }) => [id, title, passes]),
      [
        ['US-001', 'Story number 1', true],
        ['US-002', 'Story number 2', true],
      ],
    );
    assert.match(await prompt(workspace, 2), /\.omc\/prd\.json is broken\*\*: Line \d+/);
  });

  test('stories that an agent removes from the file do not count as done', async t => {
    const [first, ...rest] = openStories(3);
    assert.ok(first);
    const workspace = await Workspace.create(t, { stories: [{ ...first, passes: true }, ...rest] });
    const cli = workspace.run('removesStories', '--max-iterations', '1');
    assert.notEqual((await cli.finished).code, 0);
    assert.notEqual(last(await workspace.journal()).outcome, 'completed');
    assert.deepEqual(
      (await workspace.events('promise.seen')).map(({ accepted }) => accepted),
      [false],
    );
  });

  test('a story ticked by a person during an iteration is not given to an agent', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const cli = workspace.run('waits');
    await workspace.agent();
    assert.equal((await workspace.cli('tick', 'US-002').finished).code, 0);
    await workspace.note('go');
    await assertEnd(workspace, cli, 'completed', 0);
    assert.deepEqual(await workspace.events('guard.found'), []);
    assert.deepEqual(await subjects(workspace), ['feat: US-001', 'feat: US-003']);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
  });
});

describe('one loop per workspace, any number of watchers', { concurrency: 4 }, () => {
  test('a second run is refused with a reason, and the first one continues', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('waits');
    await workspace.agent();
    const second = await workspace.run('succeeds').finished;
    assert.equal(second.code, 1);
    assertOneLine(second.stderr, new RegExp(`already active.*process ${cli.pid}.*status --watch`));
    const other = await workspace.cli('run').finished;
    assert.equal(other.code, 1);
    assertOneLine(other.stderr, new RegExp(`already active.*process ${cli.pid}.*status --watch`));
    assert.equal((await workspace.runIds()).length, 1);
    await workspace.note('go');
    await assertEnd(workspace, cli, 'completed', 0);
  });

  const watched: readonly (readonly [string, readonly string[], number])[] = [
    ['completed', [], 0],
    ['maxIterations', ['--max-iterations', '1'], 1],
  ];
  for (const [outcome, args, code] of watched) {
    test(`\`status --watch\` ends with the run's exit code: ${code}`, async t => {
      const workspace = await Workspace.create(t);
      const cli = workspace.run('waits', ...args);
      await workspace.agent();
      const watch = workspace.cli('status', '--watch');
      const json = workspace.cli('status', '--watch', '--json');
      await until('what was there before', () => watch.stdout.includes('Iteration 1/'));
      await workspace.note('go');
      await assertEnd(workspace, cli, outcome, code);
      const seen = await watch.finished;
      assert.deepEqual([seen.code, seen.stderr], [code, '']);
      // First the state, in place of what has led to it, and then what the run's own terminal shows.
      assert.match(seen.stdout, /^Iteration 1\/\d+ · 0\/2 stories complete\nUS-001: /);
      assert.doesNotMatch(seen.stdout, /Starting fresh-context|=== Iteration 1/);
      const [, fromDone = ''] = (await cli.finished).stdout.split(/(?=^.*US-001 is done)/m);
      assert.ok(fromDone !== '' && seen.stdout.endsWith(fromDone), seen.stdout);
      const told = (await json.finished).stdout.trim().split('\n');
      assert.deepEqual(
        told.map(line => JSON.parse(line)),
        await workspace.journal(),
      );
      const later = await workspace.cli('status', '--watch').finished;
      const { stdout } = await workspace.cli('status').finished;
      assert.deepEqual([later.code, later.stdout], [code, stdout]);
    });
  }

  test("`status --watch` ends with a stopped run's 130", posix, async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('hangs');
    await workspace.event('agent.init');
    const watch = workspace.cli('status', '--watch');
    await until('what was there before', () => watch.stdout.includes('Iteration 1/'));
    cli.child.kill('SIGINT');
    assert.equal((await watch.finished).code, 130);
  });

  test('`status --watch` reports a killed loop and ends', posix, async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('hangs');
    await workspace.event('agent.init');
    const watch = workspace.cli('status', '--watch');
    await until('what was there before', () => watch.stdout.includes('Iteration 1/'));
    cli.child.kill('SIGKILL');
    const { code, stdout } = await watch.finished;
    assert.equal(code, 1);
    assert.match(stdout, /killed in iteration 1/);
  });

  test('`status --json` before, during and after a run', async t => {
    const workspace = await Workspace.create(t);
    const status = async () => {
      const { code, stdout } = await workspace.cli('status', '--json').finished;
      assert.equal(code, 0);
      return JSON.parse(stdout);
    };
    const before = await status();
    assert.deepEqual(
      [before.run, before.phase, before.outcome, before.exitCode, before.pid],
      [null, 'none', null, null, null],
    );
    assert.deepEqual(before.stories, { done: 0, total: 2 });

    const cli = workspace.run('waits', '--max-iterations', '7');
    await workspace.agent();
    await workspace.event('agent.init');
    const during = await status();
    const [runId] = await workspace.runIds();
    assert.deepEqual(
      [during.run, during.phase, during.outcome, during.exitCode, during.pid],
      [runId, 'running', null, null, cli.pid],
    );
    assert.deepEqual(
      [during.iteration, during.maxIterations, during.story, during.agent],
      [1, 7, 'US-001', 'claude'],
    );
    assert.ok(Date.parse(during.startedAt) > 0);
    assert.equal(during.endedAt, null);

    await workspace.note('go');
    await assertEnd(workspace, cli, 'completed', 0);
    const after = await status();
    assert.deepEqual(
      [after.run, after.phase, after.outcome, after.exitCode, after.pid, after.story],
      [runId, 'ended', 'completed', 0, null, null],
    );
    assert.deepEqual(after.stories, { done: 2, total: 2 });
    assert.deepEqual([after.cost.usd, after.cost.budgetUsd], [0.5, null]);
    assert.equal(after.iteration, 2);
    assert.ok(Date.parse(after.endedAt) >= Date.parse(after.startedAt));
    const { stdout } = await workspace.cli('status').finished;
    assert.match(stdout, /COMPLETE after 2 iterations\n2\/2 stories complete · \$0\.50/);
  });

  test('`status` without a run', async t => {
    const workspace = await Workspace.create(t);
    for (const args of [['status'], ['status', '--watch']]) {
      const { code, stdout } = await workspace.cli(...args).finished;
      assert.equal(code, 0);
      assert.match(stdout, /^No run in this folder yet/);
    }
    const { stdout } = await workspace.cli('status', '--watch', '--json').finished;
    assert.equal(stdout, 'null\n');
  });

  test('`status --watch` does not wait for a run that there never was', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const { files } = workspace;
    assert.equal((await workspace.cli('tick', 'US-001').finished).code, 0);
    const [runId = ''] = await workspace.runIds();
    const look = async () => {
      const { code, stdout } = await workspace.cli('status', '--watch').finished;
      assert.equal(code, 0);
      assert.match(stdout, /^No run in this folder yet/);
    };
    await look();
    // A loop that was killed before its first entry leaves this.
    await writeFile(files.journalFile(runId), '');
    await look();
  });

  test("`status --json` counts the stories of the run's own file", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.write('other.json', JSON.stringify({ userStories: openStories(5) }));
    await workspace.run('fails', '--file', 'other.json', '--max-iterations', '1').finished;
    const { stdout } = await workspace.cli('status', '--json').finished;
    assert.deepEqual(JSON.parse(stdout).stories, { done: 0, total: 5 });
  });
});

describe('a background run', { concurrency: 4, ...posix }, () => {
  test('`run --detach` outlives its starter', async t => {
    const workspace = await Workspace.create(t);
    const starter = workspace.run('waits', '--detach', '--max-iterations', '9');
    const { code, stdout, stderr } = await starter.finished;
    assert.deepEqual([code, stderr], [0, '']);
    const { pid, runId, maxIterations } = await workspace.event('run.started');
    assert.notEqual(pid, starter.pid);
    assert.equal(maxIterations, 9);
    assert.match(stdout, new RegExp(`Started run ${runId}\\.`));
    // Ending the starter's group (a closed terminal, a killed window) does not end the loop.
    assert.throws(() => process.kill(-starter.pid, 'SIGKILL'), { code: 'ESRCH' });
    assert.equal(isAlive(pid), true);
    await workspace.note('go');
    const watch = await workspace.cli('status', '--watch').finished;
    assert.equal(watch.code, 0);
    await until('the end of the loop', () => !isAlive(pid));
    assert.equal(last(await workspace.journal()).outcome, 'completed');
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });

  inAll(test)('`run --detach` reports that it continues a run', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('waits');
    await workspace.agent();
    await workspace.event('agent.init');
    await workspace.cli('stop').finished;
    await cli.finished;
    const [runId = ''] = await workspace.runIds();
    const { code, stdout, stderr } = await workspace.run('waits', '--detach').finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      new RegExp(`^Run ${runId} continues after 1 iteration\\. Watch it with "ralph-fresh status`),
    );
    await workspace.cli('stop').finished;
    assert.match(
      (await workspace.run('waits', '--detach', '--new').finished).stdout,
      /^Started run \S+\. Watch it/,
    );
    await workspace.cli('stop').finished;
  });

  test('a free-form task that looks like an option is passed on unchanged', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const task = '--detach "$HOME" `date`\nsecond line';
    const starter = workspace.run('succeeds', '--detach', '--', task);
    assert.equal((await starter.finished).code, 0);
    assert.equal((await workspace.event('run.started')).task, task);
    assert.equal((await workspace.event('run.ended')).outcome, 'completed');
  });

  const flags = [
    ['command', '--command'],
    ['claude', '--claude-path'],
  ] as const;
  for (const [agent, flag] of variants(flags, 1)) {
    test(`\`run --detach\` reports why the agent ${agent} cannot be started`, posix, async t => {
      const workspace = await Workspace.create(t);
      const file = await noProgram(workspace);
      const start = ['run', '--detach', '--max-iterations', '1', flag, file];
      // Trying again uses up no iteration.
      for (const attempt of ['first', 'second']) {
        const { code, stderr, stdout } = await workspace.cli(...start).finished;
        assert.deepEqual([code, stdout], [1, ''], attempt);
        assertOneLine(stderr, /Cannot continue: .*no-program/);
      }
      const { code, stderr } = await workspace.run('succeeds', '--max-iterations', '2').finished;
      assert.deepEqual([code, stderr], [0, '']);
      const [runId] = await workspace.runIds();
      const begun = await workspace.events('iteration.started', runId);
      assert.deepEqual(
        begun.map(({ iteration }) => iteration),
        [1, 1, 1, 2],
      );
    });
  }

  test('`run --detach` reports at once what the run waits for', async t => {
    const workspace = await Workspace.create(t);
    const stuck = workspace.run('noCommit', '--stuck-threshold', '1', '--on-stuck', 'ask');
    await workspace.event('pause.started');
    await workspace.cli('stop').finished;
    await stuck.finished;
    const { code, stderr, stdout } = await workspace.run('waits', '--detach').finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /continues after 2 iterations\. Stuck: no progress on US-001 .*skip US-001\. Watch it with/,
    );
    await workspace.cli('stop').finished;
  });

  test('`run --detach` reports why the loop cannot start', async t => {
    const workspace = await Workspace.create(t, { prd: '{ "userStories": [ }' });
    const { code, stderr } = await workspace.run('succeeds', '--detach').finished;
    assert.equal(code, 1);
    assertOneLine(stderr, /prd\.json: Line 1: /);
  });

  test('a refused `run --detach` does not hide the active run from watchers', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('waits');
    await workspace.agent();
    const watch = workspace.cli('status', '--watch');
    await until('what was there before', () => watch.stdout.includes('Iteration 1/'));
    // Ids have a resolution of a second; the refused one must be the newer.
    const { runId } = await workspace.event('run.started');
    await until('the next second', () => new Date().toISOString().slice(0, 19) > iso(runId));
    const refused = await workspace.run('succeeds', '--detach').finished;
    assert.equal(refused.code, 1);
    assertOneLine(refused.stderr, /already active/);
    await workspace.note('go');
    assert.equal((await cli.finished).code, 0);
    const { stdout } = await workspace.cli('status').finished;
    assert.match(stdout, /COMPLETE after 2 iterations/);
    assert.equal((await watch.finished).code, 0);
  });
});

/** The time in a run's id, as `Date` writes it. */
function iso(runId: string): string {
  return runId.slice(0, 19).replace(/-(\d\d)-(\d\d)$/, ':$1:$2');
}

describe('a killed loop', { concurrency: 4, ...posix }, () => {
  test('is detected, its agent is ended, and every story is done once', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.note('go-US-001');
    const cli = workspace.run('waits');
    const orphan = await workspace.agent(2);
    await until(
      'the second agent in the journal',
      async () => (await workspace.events('agent.init'))[1],
    );
    cli.child.kill('SIGKILL');
    await cli.finished;
    assert.equal(isAlive(orphan), true);

    const told = await workspace.cli('status').finished;
    assert.match(told.stdout, /killed in iteration 2\. Run again to continue\.\n1\/3 stories/);
    const status = JSON.parse((await workspace.cli('status', '--json').finished).stdout);
    assert.deepEqual(
      [status.phase, status.outcome, status.exitCode, status.pid],
      ['interrupted', 'interrupted', 1, null],
    );

    const next = workspace.run('succeeds');
    assert.equal((await next.finished).code, 0);
    assert.equal(isAlive(orphan), false);
    assert.equal((await workspace.runIds()).length, 1);
    const [dead, end] = await workspace.events('run.ended');
    assert.deepEqual(
      [dead?.outcome, dead?.exitCode, dead?.stories.done, dead?.iterations],
      ['interrupted', 1, 1, 2],
    );
    assert.deepEqual([end?.outcome, end?.iterations], ['completed', 4]);
    assert.deepEqual(await outcomes(workspace), ['storyDone', 'stopped', 'storyDone', 'storyDone']);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
    assert.deepEqual(await subjects(workspace), ['feat: US-001', 'feat: US-002', 'feat: US-003']);
  });

  inAll(test)('is reported as killed between two iterations if it was', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('waits');
    await workspace.agent();
    await workspace.cli('pause').finished;
    await workspace.note('go');
    await workspace.event('pause.started');
    cli.child.kill('SIGKILL');
    await cli.finished;
    const told = async (command: string) => (await workspace.cli(command).finished).stdout;
    assert.match(
      await told('status'),
      /^The loop was killed after iteration 1\. Run again to continue\./,
    );
    assert.match(await told('doctor'), /was killed after iteration 1\./);
    await workspace.cli('stop').finished;
    assert.match(
      await told('status'),
      /^The loop was killed after iteration 1\. Run again to continue\./,
    );
  });

  inAll(test)('is closed after the last complete line if the last one is torn', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('hangs');
    await workspace.event('agent.init');
    cli.child.kill('SIGKILL');
    await cli.finished;
    const [dead = ''] = await workspace.runIds();
    await writeFile(workspace.files.journalFile(dead), '{"seq":99,"type":"agent.te', {
      flag: 'a',
    });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    const events = await workspace.journal(dead);
    const interrupted = events.find(({ type }) => type === 'run.ended');
    assert.equal(interrupted?.type === 'run.ended' && interrupted.outcome, 'interrupted');
    assert.equal(last(events).outcome, 'completed');
    events.forEach((event, i) => {
      assert.equal(event.seq, i + 1);
    });
  });
});

describe('what prevents a start', { concurrency: 4 }, () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['run', '--max-iterations', '0'], /--max-iterations.*whole number from 1/],
    [['run', '--max-iterations', '1.5'], /whole number from 1/],
    [['run', '--time-limit', '-1'], /minutes above 0/],
    [['run', '--idle-limit', 'soon'], /minutes above 0/],
    [['run', '--agent', 'nobody'], /--agent.*"claude".*"demo"/],
    [['run', '--no-such-option'], /unknown option.* See "ralph-fresh run --help"\.\n$/],
    [['run', '--prd', 'one', 'two'], /needs quotes around it: ralph-fresh run --prd "one two"\n$/],
    [
      ['run', '--verify', 'npm run lint', '--verify', 'npm', 'run', 'build', '--quiet'],
      /: ralph-fresh run --quiet --verify "npm run lint" --verify "npm run build"\n$/,
    ],
    [['run', '--verify', 'npm', 'run', 'a', '--verify', 'npm', 'run', 'b'], /it: --verify "…"\n$/],
    [
      ['run', '--verify', 'npm test', 'fix', 'it'],
      /: ralph-fresh run "--verify=npm test" "fix it"\n$/,
    ],
    [['run', 'fix', 'x'.repeat(600)], /: ralph-fresh run "…"\n$/],
    [['run', '--cwd', 'no-such-folder'], /There is no folder/],
    [['run', '--file'], /--file.*argument missing/],
    [['stop', '--now', '--after-iteration'], /--now.*cannot be used with.*--after-iteration/],
    [['walk'], /unknown command 'walk'.* See "ralph-fresh --help"\.\n$/],
    [
      ['run', 'stories'],
      /"stories" would be the task of an agent here\. .* run: ralph-fresh stories\./,
    ],
    [['run', '--dry-run', 'stories'], /For the command, run: ralph-fresh stories\./],
    [['help', 'nope'], /unknown command 'nope'\. See "ralph-fresh --help"\.\n$/],
    [['help', 'storys'], /unknown command 'storys' \(Did you mean stories\?\)\. See /],
    [['untik', '--help'], /unknown command 'untik' \(Did you mean untick\?\)\. See /],
  ];
  for (const [args, message] of wrong) {
    test(`wrong arguments: ${args.join(' ')}: exit code 64`, async t => {
      const workspace = await Workspace.create(t, { git: false });
      const { code, stdout, stderr } = await workspace.cli(...args).finished;
      assert.deepEqual([code, stdout], [64, '']);
      assertOneLine(stderr, message);
      assert.deepEqual(await workspace.runIds(), []);
    });
  }

  test('help and version succeed', async t => {
    const workspace = await Workspace.create(t);
    const help = await workspace.cli('run', '--help').finished;
    assert.equal(help.code, 0);
    assert.match(help.stdout, /--completion-promise/);
    assert.equal((await workspace.cli('help', 'help').finished).code, 0);
    const version = await workspace.cli('--version').finished;
    assert.deepEqual([version.code, version.stderr], [0, '']);
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
  });

  async function refused(workspace: Workspace, message: RegExp, ...args: string[]) {
    const { code, stdout, stderr } = await workspace.run('succeeds', ...args).finished;
    assert.deepEqual([code, stdout], [1, '']);
    assertOneLine(stderr, message);
    assert.deepEqual(await workspace.agents(), []);
    // The way is free for the next try.
    assert.equal(existsSync(workspace.files.lockFile), false);
  }

  test('no git repository', async t => {
    const workspace = await Workspace.create(t, { git: false });
    await refused(workspace, /not in a git repository.*git init/);
  });

  test('several plans without a named one', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    for (const name of ['login', 'search']) {
      await mkdir(path.join(workspace.folder, 'specs', name), { recursive: true });
      await workspace.write(`specs/${name}/tasks.md`, '- [ ] T001 Begin\n');
    }
    await refused(
      workspace,
      /several story files in .*: specs.login.tasks\.md, specs.search.tasks\.md\. Name .*--file specs.login.tasks\.md\.$/m,
    );
    const { code, stdout } = await workspace.cli('next', '--file', 'specs/login/tasks.md').finished;
    assert.deepEqual([code, stdout.includes('T001')], [0, true]);
  });

  test('no prd.json and no task', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await refused(
      workspace,
      /No story file was found in .*workspace: no prd\.json, no Markdown plan, .*Task Master, .*BMAD, Beads.* plan "your task" --write, .*run --prd "your task"; .*--file; .*ralph-fresh run "/,
    );
  });

  test('a named story file that does not exist', async t => {
    const workspace = await Workspace.create(t);
    await refused(workspace, /no story file at .*gone\.json/, '--file', 'gone.json');
  });

  test('an invalid prd.json: its file and line', async t => {
    const prd = '{\n  "userStories": [\n    { "id": "A", }\n  ]\n}\n';
    const workspace = await Workspace.create(t, { prd });
    await refused(workspace, /\.omc\/prd\.json: Line 3: /);
  });

  test('no stories in prd.json', async t => {
    const workspace = await Workspace.create(t, { prd: '{ "userStories": [] }' });
    await refused(workspace, /prd\.json.*(no stories|stories)/);
  });

  test('claude is not found: refused with the next step', async t => {
    const workspace = await Workspace.create(t);
    const { code, stderr } = await workspace.cli('run', '--claude-path', 'no-such-claude').finished;
    assert.equal(code, 1);
    assertOneLine(stderr, /no-such-claude.*--claude-path.*full path/);
  });

  test('claude is not executable', posix, async t => {
    const workspace = await Workspace.create(t);
    const file = path.join(workspace.folder, 'claude');
    await writeFile(file, '#!/no/such/interpreter\n', { mode: 0o755 });
    const cli = workspace.cli('run', '--claude-path', file);
    await assertEnd(workspace, cli, 'error', 1);
    assert.match(
      englishOf(last(await workspace.journal()).detail ?? ''),
      /the first line of .*claude names/,
    );
    const [ended] = await workspace.events('agent.ended');
    assert.equal(ended?.reason, 'notStarted');
  });
});

describe('the files of a run', { concurrency: 4 }, () => {
  test('they exist, and git never sees them', async t => {
    const workspace = await Workspace.create(t);
    const cli = workspace.run('succeeds');
    await assertEnd(workspace, cli, 'completed', 0);
    const { files } = workspace;
    const [runId = ''] = await workspace.runIds();

    const handoffText = await readFile(files.handoffFile, 'utf8');
    assert.ok(Buffer.byteLength(handoffText) <= HANDOFF_MAX_BYTES);
    const handoff = JSON.parse(handoffText);
    assert.deepEqual(
      [handoff.version, handoff.iteration, handoff.completed, handoff.prd.storiesTotal],
      ['1.0', 2, true, 2],
    );
    const state = JSON.parse(await readFile(files.stateFile, 'utf8'));
    assert.deepEqual(
      [state.active, state.iteration, state.run_id, state.outcome],
      [false, 2, runId, 'completed'],
    );
    assert.ok(Date.parse(state.started_at) > 0);
    assert.equal(await readFile(files.promptFile, 'utf8'), await prompt(workspace, 2));
    const told = async (iteration: number) =>
      JSON.parse(
        await readFile(path.join(files.iterationDir(runId, iteration), 'handoff.json'), 'utf8'),
      );
    assert.deepEqual([(await told(1)).iteration, (await told(2)).iteration], [1, 2]);
    for (const n of [1, 2]) {
      const stream = path.join(files.iterationDir(runId, n), 'stream.jsonl');
      assert.match(await readFile(stream, 'utf8'), /"subtype":"init"/);
      assert.match(await prompt(workspace, n), new RegExp(`on story US-00${n}\\b`));
    }
    const started = await workspace.events('iteration.started');
    const sizes = await Promise.all([1, 2].map(async n => (await prompt(workspace, n)).length));
    assert.deepEqual(
      started.map(({ promptBytes }) => promptBytes),
      sizes,
    );

    assert.equal(await workspace.read('.omc/state/.gitignore'), '*\n');
    // The agents committed with `git add -A`.
    const { stdout } = await execFileText('git', ['ls-files', '--', '.omc'], {
      cwd: workspace.folder,
      env: workspace.env,
    });
    assert.equal(stdout, '.omc/prd.json\n');
    const status = await execFileText('git', ['status', '--porcelain'], {
      cwd: workspace.folder,
      env: workspace.env,
    });
    assert.equal(status.stdout, '');
  });

  test("a person's own .gitignore in the state folder is kept", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await mkdir(workspace.files.stateDir, { recursive: true });
    await workspace.write('.omc/state/.gitignore', '# mine\n*\n');
    await workspace.run('succeeds').finished;
    assert.equal(await workspace.read('.omc/state/.gitignore'), '# mine\n*\n');
  });

  test('work in a subfolder of the repository with a space in its name', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const inner = path.join(workspace.folder, 'my app');
    await mkdir(inner);
    await writeFile(
      path.join(inner, 'prd.json'),
      JSON.stringify({ userStories: openStories(1) }, null, 2),
    );
    const cli = workspace.cli('run', '--cwd', inner, '--claude-path', fakeAgent('succeeds'));
    assert.equal((await cli.finished).code, 0);
    const prd = JSON.parse(await readFile(path.join(inner, 'prd.json'), 'utf8'));
    assert.equal(prd.userStories[0].passes, true);
    assert.deepEqual(await subjects(workspace), ['feat: US-001']);
  });

  test("environment variables of an editor's terminal do no harm", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const editor = {
      ...{ GIT_ASKPASS: '/usr/share/code/askpass.sh', EDITOR: 'vi', GIT_EDITOR: 'code --wait' },
      ...{ PAGER: 'less', GIT_PAGER: 'cat', GIT_SSH_COMMAND: 'ssh -v', SSH_ASKPASS: '/bin/true' },
      ...{ VSCODE_GIT_IPC_HANDLE: '/tmp/vscode-git.sock', CLAUDECODE: '1' },
    };
    const cli = workspace.cliWith(editor, 'run', '--claude-path', fakeAgent('succeeds'));
    await assertEnd(workspace, cli, 'completed', 0);
  });
});
