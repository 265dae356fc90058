import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign, countOf, describeFailure } from '../faults/campaign.ts';
import { openStories, Workspace } from '../support/ralph.ts';
import { inAll } from '../support/variants.ts';

const posix = { skip: process.platform === 'win32' && 'Windows has no signals' };

/** The short form of `npm run test:faults`; a failure names the seeds that repeat it. */
test(
  'after a kill while an agent wrote the story file, the same command repairs it and continues',
  posix,
  async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const half = '{ "userStories": [ {';
    const first = workspace.script([
      [{ write: ['.omc/prd.json', half] }, { text: 'half' }, 'stay'],
    ]);
    await workspace.event('agent.text');
    first.child.kill('SIGKILL');
    await first.finished;
    const second = workspace.script([['stay'], ['work']]);
    const { code, stderr } = await second.finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    const [found] = await workspace.events('guard.found');
    assert.deepEqual([found?.iteration, found?.restored], [1, true]);
  },
);

test(
  'kill -9 of loops and agents at random moments: nothing is lost, done twice or left behind',
  posix,
  async () => {
    const { failed, kills } = await campaign({
      seed: Math.floor(Math.random() * 2 ** 31),
      ...{ kills: 10, stories: 6, killsPerRun: [5, 5], parallel: 2 },
    });
    assert.equal(failed.map(describeFailure).join('\n\n'), '');
    assert.ok(countOf(kills) >= 10);
  },
);

/** The short form of `npm run test:faults -- --lanes 4`; a failure names the seed that repeats it. */
inAll(test)(
  'kill -9 at random moments with several lanes: nothing is lost, landed twice or left behind',
  posix,
  async () => {
    const { failed, kills } = await campaign({
      ...{ seed: 1, kills: 6, stories: 6, lanes: 4, killsPerRun: [3, 3], parallel: 2 },
    });
    assert.equal(failed.map(describeFailure).join('\n\n'), '');
    assert.ok(countOf(kills) >= 4);
  },
);
