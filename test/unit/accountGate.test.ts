import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AccountGate } from '../../src/orchestrator/agents/call/accountGate.ts';

describe('the account gate', () => {
  test('one rejection changes nothing, the second halves the agents, and so on down to one', () => {
    const gate = new AccountGate();
    assert.equal(gate.rejected('rateLimit', 8), undefined);
    assert.equal(gate.lanes(8), 8);
    assert.equal(gate.rejected('overloaded', 8), 4);
    assert.equal(gate.lanes(8), 4);
    gate.rejected('rateLimit', 4);
    assert.equal(gate.rejected('rateLimit', 4), 2);
    gate.rejected('rateLimit', 2);
    assert.equal(gate.rejected('rateLimit', 2), 1);
    gate.rejected('rateLimit', 1);
    assert.equal(gate.rejected('rateLimit', 1), undefined);
    assert.equal(gate.lanes(8), 1);
  });

  test('each call that ends well lets one more work, and a rejection before counts no more', () => {
    const gate = new AccountGate();
    gate.rejected('rateLimit', 4);
    gate.rejected('rateLimit', 4);
    gate.passed(4);
    assert.equal(gate.lanes(4), 3);
    gate.rejected('rateLimit', 3);
    gate.passed(4);
    assert.equal(gate.lanes(4), 4);
    assert.equal(gate.rejected('rateLimit', 4), undefined);
  });

  test('other errors say nothing of the number of agents', () => {
    const gate = new AccountGate();
    for (let n = 0; n < 5; n += 1) {
      assert.equal(gate.rejected('api', 4), undefined);
    }
    assert.equal(gate.lanes(4), 4);
  });
});
