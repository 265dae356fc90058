import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShowRequests } from '../../src/views/terminal/showRequests.ts';

test('each request is for one terminal of its folder', () => {
  const requests = new ShowRequests();
  assert.equal(requests.take('/shop'), false);
  requests.add('/shop');
  requests.add('/shop');
  assert.equal(requests.take('/other'), false);
  assert.deepEqual(
    [1, 2, 3].map(() => requests.take('/shop')),
    [true, true, false],
  );
});

test('a request that VS Code refuses or forgets is for no terminal', () => {
  let now = 0;
  const requests = new ShowRequests(() => now);
  const withdraw = requests.add('/shop');
  withdraw();
  withdraw();
  assert.equal(requests.take('/shop'), false);

  requests.add('/shop');
  now += 50_000;
  requests.add('/shop');
  now += 20_000;
  assert.equal(requests.take('/shop'), true);
  assert.equal(requests.take('/shop'), false);
});

test('a request that is withdrawn late leaves the others', () => {
  let now = 0;
  const requests = new ShowRequests(() => now);
  const withdraw = requests.add('/shop');
  now += 1;
  requests.add('/shop');
  assert.equal(requests.take('/shop'), true);
  withdraw();
  assert.equal(requests.take('/shop'), true);
});
