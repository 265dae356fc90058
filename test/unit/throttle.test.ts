import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Throttle } from '../../src/views/common/throttle.ts';

test('many calls are combined into one, and none is made after disposal', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let count = 0;
  const soon = new Throttle(() => {
    count += 1;
  }, 100);
  for (let i = 0; i < 1_000; i += 1) {
    soon.call();
  }
  assert.equal(count, 0);
  t.mock.timers.tick(100);
  assert.equal(count, 1);
  soon.call();
  t.mock.timers.tick(100);
  assert.equal(count, 2);
  soon.call();
  soon.dispose();
  t.mock.timers.tick(1_000);
  assert.equal(count, 2);
});
