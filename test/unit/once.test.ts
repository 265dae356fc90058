import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onceItSucceeds } from '../../src/base/once.ts';

test('what may fail is made once: calls share an attempt, and the next call after a failure tries again', async () => {
  const outcomes = [Promise.reject(new Error('no such file')), Promise.resolve('loaded')];
  let attempts = 0;
  const loaded = onceItSucceeds(() => outcomes[attempts++] ?? Promise.reject(new Error('again')));
  const first = [loaded(), loaded()];
  for (const call of first) {
    await assert.rejects(call, /no such file/);
  }
  assert.deepEqual(await Promise.all([loaded(), loaded()]), ['loaded', 'loaded']);
  assert.equal(await loaded(), 'loaded');
  assert.equal(attempts, 2);
});
