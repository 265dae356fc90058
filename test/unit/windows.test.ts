import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  areClosed,
  noWindows,
  withHello,
  withoutWindows,
} from '../../src/orchestrator/workspace/openWindows.ts';

const GRACE = 60;
const gone = (...ids: string[]) => new Set(ids);

test('a run whose window never says hello counts as alone after the grace period', () => {
  const windows = noWindows(100);
  assert.equal(areClosed(windows, 159, GRACE), false);
  assert.equal(areClosed(windows, 160, GRACE), true);
});

test('nothing stops while a window is open', () => {
  const both = withHello(withHello(noWindows(0), { id: 'a' }), { id: 'b' });
  assert.equal(areClosed(both, 1_000_000, GRACE), false);
  assert.equal(areClosed(withoutWindows(both, gone('a'), 1_000), 1_000_000, GRACE), false);
});

test('after the last goodbye the grace period starts, and a hello within it cancels it', () => {
  const closed = withoutWindows(withHello(noWindows(0), { id: 'a' }), gone('a'), 500);
  assert.equal(areClosed(closed, 559, GRACE), false);
  assert.equal(areClosed(closed, 560, GRACE), true);
  const reloaded = withHello(closed, { id: 'b' });
  assert.equal(areClosed(reloaded, 1_000_000, GRACE), false);
});

test('the grace period starts when the last window closes, not at each later goodbye', () => {
  const closed = withoutWindows(withHello(noWindows(0), { id: 'a' }), gone('a'), 500);
  assert.equal(withoutWindows(closed, gone('a', 'stranger'), 900).goneSince, 500);
});

test('a repeated hello does not count as a second window', () => {
  const twice = withHello(withHello(noWindows(0), { id: 'a' }), { id: 'a', process: { pid: 7 } });
  assert.deepEqual(twice.open, [{ id: 'a', process: { pid: 7 } }]);
  assert.equal(areClosed(withoutWindows(twice, gone('a'), 10), 70, GRACE), true);
});

test('a flood of hellos is limited', () => {
  let windows = noWindows(0);
  for (let n = 0; n < 1_000; n += 1) {
    windows = withHello(windows, { id: `w${n}` });
  }
  assert.equal(windows.open.length, 100);
});
