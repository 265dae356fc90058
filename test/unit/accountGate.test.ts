import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AccountGate } from '../../src/orchestrator/agents/call/accountGate.ts';

/** Iterations whose agents work. */
const calls = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('the account gate', () => {
  test('one rejection changes nothing; each one after that halves the agents, down to one', () => {
    const gate = new AccountGate();
    assert.equal(gate.reject('rateLimit', 1, calls(8)), undefined);
    assert.equal(gate.lanes(8), 8);
    assert.equal(gate.reject('overloaded', 2, calls(8)), 4);
    assert.equal(gate.lanes(8), 4);
    gate.reject('rateLimit', 1, calls(4));
    assert.equal(gate.reject('rateLimit', 2, calls(4)), 2);
    gate.reject('rateLimit', 1, calls(2));
    assert.equal(gate.reject('rateLimit', 2, calls(2)), 1);
    gate.reject('rateLimit', 1, calls(1));
    assert.equal(gate.reject('rateLimit', 1, calls(1)), undefined);
    assert.equal(gate.lanes(8), 1);
  });

  test('a burst of rejected calls halves the agents only once', () => {
    const gate = new AccountGate();
    const told = calls(4).map(call => gate.reject('rateLimit', call, calls(4)));
    assert.deepEqual(told, [undefined, 2, undefined, undefined]);
    assert.equal(gate.lanes(4), 2);
    // They try again, although fewer may start now.
    gate.reject('rateLimit', 3, calls(4));
    assert.equal(gate.reject('rateLimit', 4, calls(4)), 1);
  });

  test('nothing is halved if only a reviewer is active', () => {
    const gate = new AccountGate();
    gate.reject('rateLimit', 7, []);
    assert.equal(gate.reject('rateLimit', 7, []), undefined);
    assert.equal(gate.lanes(4), 4);
  });

  test('each successful call allows one more agent and clears earlier rejections', () => {
    const gate = new AccountGate();
    gate.reject('rateLimit', 1, calls(4));
    gate.reject('rateLimit', 2, calls(4));
    gate.pass(4);
    assert.equal(gate.lanes(4), 3);
    gate.reject('rateLimit', 1, calls(3));
    gate.pass(4);
    assert.equal(gate.lanes(4), 4);
    assert.equal(gate.reject('rateLimit', 1, calls(4)), undefined);
  });

  test('other errors do not affect the number of agents', () => {
    const gate = new AccountGate();
    for (let n = 0; n < 5; n += 1) {
      assert.equal(gate.reject('api', 1, calls(4)), undefined);
    }
    assert.equal(gate.lanes(4), 4);
  });
});
