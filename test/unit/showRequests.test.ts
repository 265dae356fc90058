import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShowRequests } from '../../src/views/terminal/showRequests.ts';

const stopped = { runId: 'run-1', alive: false };

test('each request is for one terminal of its folder', () => {
  const requests = new ShowRequests();
  assert.equal(requests.take('/shop', stopped), false);
  requests.add('/shop', stopped);
  requests.add('/shop', stopped);
  assert.equal(requests.take('/other', stopped), false);
  assert.deepEqual(
    [1, 2, 3].map(() => requests.take('/shop', stopped)),
    [true, true, false],
  );
});

test('what VS Code forgets while it shows a run does not keep the next run from starting', () => {
  const requests = new ShowRequests();
  requests.add('/shop', stopped);
  requests.add('/shop', stopped);
  assert.equal(requests.take('/shop', { ...stopped, alive: true }), true);
  assert.equal(requests.take('/shop', stopped), false);
});

test('a request for an older run no longer counts', () => {
  const requests = new ShowRequests();
  requests.add('/shop', {});
  requests.add('/shop', stopped);
  assert.equal(requests.take('/shop', { runId: 'run-2', alive: false }), false);
  assert.equal(requests.take('/shop', stopped), false);
});
