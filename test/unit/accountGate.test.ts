import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AccountGate } from '../../src/orchestrator/agents/call/accountGate.ts';

/** Iterations whose agents work. */
const calls = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('the account gate', () => {
  test('one rejection changes nothing, the second halves the agents, and so on down to one', () => {
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

  test('one burst halves the agents once, however many calls it rejects', () => {
    const gate = new AccountGate();
    const told = calls(4).map(call => gate.reject('rateLimit', call, calls(4)));
    assert.deepEqual(told, [undefined, 2, undefined, undefined]);
    assert.equal(gate.lanes(4), 2);
    // They try again, although fewer may start now.
    gate.reject('rateLimit', 3, calls(4));
    assert.equal(gate.reject('rateLimit', 4, calls(4)), 1);
  });

  test('where only a reviewer is at work, there is nothing to halve', () => {
    const gate = new AccountGate();
    gate.reject('rateLimit', 7, []);
    assert.equal(gate.reject('rateLimit', 7, []), undefined);
    assert.equal(gate.lanes(4), 4);
  });

  test('each call that ends well lets one more work, and a rejection before counts no more', () => {
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

  test('other errors say nothing of the number of agents', () => {
    const gate = new AccountGate();
    for (let n = 0; n < 5; n += 1) {
      assert.equal(gate.reject('api', 1, calls(4)), undefined);
    }
    assert.equal(gate.lanes(4), 4);
  });
});
