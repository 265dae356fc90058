import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { openStories, type Step, Workspace } from '../support/ralph.ts';

const outcomes = async (workspace: Workspace) =>
  (await workspace.events('iteration.ended')).map(({ outcome }) => outcome);
const says = (words: string): Step => ({ result: [words] });
const limited: readonly Step[] = [
  {
    result: [
      "You've hit your session limit · resets 5pm (Europe/Berlin)",
      { is_error: true, api_error_status: 429, total_cost_usd: 0 },
    ],
  },
  { exit: 1 },
];

describe('nothing unproven counts as done', { concurrency: 3 }, () => {
  test("an agent that forges a person's tick in the inbox is still checked", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [[{ wait: 'go' }, { tick: 'US-001' }, says('Done.')]],
      ...['--verify', 'exit 1', '--max-iterations', '1'],
    );
    await workspace.agent();
    const [runId = ''] = await workspace.runIds();
    await appendFile(
      workspace.files.inboxFile(runId),
      '{"type":"tick","storyId":"US-001","done":true}\n',
    );
    await workspace.event('story.ticked');
    await workspace.note('go');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.done(), []);
    assert.deepEqual(await outcomes(workspace), ['rejected']);
  });

  test("a story ticked by a person and refused by the checks does not count as the agent's failure", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script(
      [[{ wait: 'go' }, { commit: 'feat: half of it' }, says('More to do.')]],
      ...['--verify', 'exit 1', '--max-iterations', '1'],
    );
    await workspace.agent();
    assert.equal((await workspace.cli('tick', 'US-002').finished).code, 0);
    await workspace.note('go');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.done(), []);
    assert.deepEqual(await outcomes(workspace), ['progress']);
  });

  test('ticked and unticked by a person, then ticked by the agent: the claim is checked', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script(
      [[{ wait: 'go' }, { tick: 'US-001' }, says('Done.')]],
      ...['--verify', 'exit 1', '--max-iterations', '1'],
    );
    await workspace.agent();
    assert.equal((await workspace.cli('tick', 'US-001').finished).code, 0);
    assert.equal((await workspace.cli('untick', 'US-001').finished).code, 0);
    await workspace.note('go');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.done(), []);
    assert.equal((await workspace.events('gate.ended')).length, 1);
  });

  test('all refused stories are set back, even those without an id', async t => {
    const nameless = ['One', 'Two'].map(title => ({ title, passes: false }));
    const workspace = await Workspace.create(t, { prd: JSON.stringify({ userStories: nameless }) });
    const done = JSON.stringify({ userStories: nameless.map(s => ({ ...s, passes: true })) });
    const cli = workspace.script(
      [[{ write: ['.omc/prd.json', done] }, says('Both done.')]],
      ...['--verify', 'exit 1', '--guard', 'off', '--max-iterations', '1'],
    );
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.done(), []);
    assert.deepEqual(
      (await workspace.stories()).map(({ passes }) => passes),
      [false, false],
    );
  });
});

describe('nothing is done twice or lost silently', { concurrency: 3 }, () => {
  test('a call that fails after its story is done is not repeated', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([
      [
        { tick: 'US-001' },
        { commit: 'feat: US-001' },
        { result: ['Overloaded', { is_error: true, api_error_status: 529 }] },
        { exit: 1 },
      ],
    ]);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.equal((await workspace.agents()).length, 1);
    assert.deepEqual(await outcomes(workspace), ['storyDone']);
  });

  test('commits removed from the branch are reported with where they are kept', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.cliWith(
      { FAKE_AGENT_SCRIPT: JSON.stringify([['work'], [{ wait: 'go' }, 'work']]) },
      ...['run', '--claude-path', `${import.meta.dirname}/../support/fakeAgents/scripted.mjs`],
    );
    await workspace.agent(2);
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: workspace.folder, env: workspace.env, encoding: 'utf8' });
    const before = git('rev-parse', 'HEAD');
    git('reset', '--quiet', '--soft', 'HEAD~1');
    await workspace.note('go');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    const lost = (await workspace.events('warning')).find(
      ({ code }) => code === 'historyRewritten',
    );
    assert.equal(lost?.iteration, 2);
    assert.match(englishOf(lost?.detail ?? ''), new RegExp(`git log ${before.slice(0, 10)}`));
  });
});

describe('waits ended by a person', { concurrency: 3 }, () => {
  test('a skip during a usage limit leaves the story, and the run continues', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script([limited, ['work']]);
    await workspace.event('limit.waiting');
    assert.equal((await workspace.cli('skip').finished).code, 0);
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await outcomes(workspace), ['skipped', 'storyDone']);
    assert.equal((await workspace.event('run.ended')).outcome, 'noReadyStory');
  });

  test('a stop after the iteration does not wait for the reset and is no failure', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([limited]);
    await workspace.event('limit.waiting');
    assert.equal((await workspace.cli('stop', '--after-iteration').finished).code, 0);
    assert.equal((await cli.finished).code, 130);
    assert.deepEqual(await outcomes(workspace), ['stopped']);
  });

  test('a blocked task without stories counts as a question', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const cli = workspace.script([[says('<promise>TASK BLOCKED: no key</promise>')]], 'Do it');
    assert.equal((await cli.finished).code, 2);
    assert.equal((await workspace.event('run.ended')).detail, 'no key');
  });
});
