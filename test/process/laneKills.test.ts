import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign, countOf, describeFailure } from '../faults/campaign.ts';

/** The short form of `npm run test:faults -- --lanes 4`; a failure names the seed that repeats it. */
test('kill -9 at random moments with several lanes: nothing is lost, landed twice or left behind', {
  skip: process.platform === 'win32' && 'Windows has no signals',
}, async () => {
  const { failed, kills } = await campaign({
    ...{ seed: 1, kills: 6, stories: 6, lanes: 4, killsPerRun: [3, 3], parallel: 2 },
  });
  assert.equal(failed.map(describeFailure).join('\n\n'), '');
  assert.ok(countOf(kills) >= 4);
});
