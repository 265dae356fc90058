import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { isAlive, openStories, until, Workspace } from '../support/ralph.ts';

/** Green when the file `green` is there; says what it looked for. */
const NEEDS_GREEN =
  "node -e \"console.log('looking for green'); process.exit(require('fs').existsSync('green') ? 0 : 3)\"";

const changes = async (workspace: Workspace) =>
  (await workspace.events('story.changed')).map(
    ({ storyId, done, by }) => `${storyId} ${done} ${by}`,
  );
const outcomes = async (workspace: Workspace) =>
  (await workspace.events('iteration.ended')).map(({ outcome }) => outcome);

describe('the gate: done is what the checks say', { concurrency: 3 }, () => {
  test('a red check puts the story back, and its output is in the next prompt', async t => {
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

  test('a claim under check does not count for people; data tell what the file says', async t => {
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

  test('a claim that is refused as often as the fail threshold says leaves the story alone', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([['work']], '--verify', 'exit 1', '--fail-threshold', '2');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await outcomes(workspace), ['rejected', 'rejected']);
    assert.deepEqual(await workspace.done(), []);
    assert.equal((await workspace.event('run.ended')).outcome, 'noReadyStory');
  });

  test('a run that is stopped in the same check again and again still checks the claim', async t => {
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
  });

  for (const [what, ...flags] of [
    ['is asked for', '--new'],
    ['has another task', 'Something else'],
    ['is begun since the cut-off one has no iterations left'],
  ]) {
    test(`a new run that ${what} does not believe a claim that the last one could not check`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      await workspace.write('.omc/config.json', '{ "verify": ["sleep 60"], "maxIterations": 1 }');
      const killed = workspace.run('succeeds');
      await workspace.event('check.started');
      killed.child.kill('SIGKILL');
      await killed.finished;
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
        /Ticked in the last run and never checked, so set back to not done: US-001$/m,
      );
      assert.deepEqual(await outcomes(workspace), ['rejected']);
      assert.deepEqual(await workspace.done(), ['US-002']);
    });
  }

  test('no check runs after an iteration that claims nothing', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [[{ commit: 'half' }, { result: ['I began.'] }]],
      ...['--verify', 'exit 1', '--max-iterations', '1'],
    );
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.events('gate.started'), []);
    assert.deepEqual(await outcomes(workspace), ['progress']);
  });

  test('the first red check is the last; all run in their order', async t => {
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

  test('a check that takes too long is ended and red', async t => {
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

  test('a stop during a check ends it; the claim is checked when the run goes on', async t => {
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

  test('an objection puts the story back and goes into the next prompt; approval is written down', async t => {
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

  test('a reviewer that fails is told of, and the claim stays as the checks found it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [['work'], [{ result: ['I like it.'] }]],
      ...['--reviewer', '--verify', 'exit 0'],
    );
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    const warnings = await workspace.events('warning');
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['reviewFailed'],
    );
    assert.equal((await workspace.stories())[0]?.['architectVerified'], undefined);
  });

  test('a reviewer that fails where there are no checks proves nothing', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [['work'], [{ result: ['I like it.'] }], [{ result: ['Me too.'] }]],
      ...['--reviewer', '--max-iterations', '1'],
    );
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await outcomes(workspace), ['rejected']);
    assert.deepEqual(await workspace.done(), []);
  });
});
