import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { callCost } from '../../src/orchestrator/agents/call/callCost.ts';
import { CostEstimate } from '../../src/orchestrator/agents/claude/costEstimate.ts';
import { listPrice } from '../../src/orchestrator/agents/claude/modelPrices.ts';
import { StreamJsonDecoder } from '../../src/orchestrator/agents/claude/streamJson.ts';
import { sameValue } from '../support/sameValue.ts';

const MILLION = { input: 1e6, output: 0, cacheRead: 0, cacheWrite: 0 };

/** What the lines of a stream are estimated to have cost. */
function estimateOf(...lines: readonly object[]): CostEstimate {
  const decoder = new StreamJsonDecoder();
  const estimate = new CostEstimate();
  for (const line of lines) {
    decoder.decode(JSON.stringify(line)).forEach(event => {
      estimate.take(event);
    });
  }
  return estimate;
}

const message = (id: string, output_tokens: number, text = '', more: object = {}) => ({
  type: 'assistant',
  message: {
    ...{ id, model: 'claude-opus-5-5', content: [{ type: 'text', text }] },
    usage: { input_tokens: 1_000, output_tokens, ...more },
  },
});
const result = (more: object) => ({ type: 'result', subtype: 'success', num_turns: 1, ...more });

describe('list prices', () => {
  test('depend on family and version, however a provider writes the name', () => {
    const input = (model: string) => listPrice(model, { ...MILLION, input: 1_000 }) * 1_000;
    for (const [model, dollars] of [
      ['claude-opus-5-5', 4],
      ['claude-opus-5-20260724', 5],
      ['us.anthropic.claude-opus-4-5-20251101-v1:0', 5],
      ['claude-opus-4-1@20250805', 15],
      ['claude-opus-4-20250514', 15],
      ['claude-sonnet-5', 2],
      ['claude-sonnet-4.5', 3],
      ['claude-haiku-4-5', 1],
      ['claude-fable-5-1', 10],
    ] as const) {
      assert.equal(Number(input(model).toFixed(6)), dollars, model);
    }
  });

  test('use the highest price for an unknown model, and that of the family for an unknown version', () => {
    for (const model of [undefined, 'fake-model', 'gpt-9', 'claude-opus-9']) {
      assert.equal(listPrice(model, MILLION), 15, model);
    }
    assert.equal(listPrice('claude-opus-5-7', { ...MILLION, input: 0, output: 1e6 }), 75);
  });

  test('are zero for the demo agent, so a killed call of it costs nothing', () => {
    assert.equal(listPrice('demo', { ...MILLION, output: 1e6 }), 0);
    assert.notEqual(listPrice('demo-2', MILLION), 0);
  });

  test('price cache reads, and cache writes as one hour unless a shorter time is known', () => {
    const written = { ...MILLION, input: 0, cacheWrite: 1e6 };
    assert.equal(listPrice('claude-opus-5-5', written), 8);
    assert.equal(listPrice('claude-opus-5-5', { ...written, cacheWrite5m: 1e6 }), 5);
    assert.equal(listPrice('claude-opus-5-5', { ...MILLION, input: 0, cacheRead: 1e6 }), 0.2);
  });

  test('are higher for long prompts if the price list has such a rate', () => {
    assert.equal(listPrice('claude-haiku-5-5', { ...MILLION, input: 100_000 }), 0.01);
    assert.equal(listPrice('claude-haiku-5-5', { ...MILLION, input: 200_000 }), 0.1);
  });
});

describe('the estimate of a call', () => {
  test('counts each message once, with its last usage', () => {
    const { costUsd, usage } = estimateOf(message('a', 1), message('b', 10), message('a', 100));
    sameValue(usage, { input: 2_000, output: 110, cacheRead: 0, cacheWrite: 0 });
    assert.equal(Number(costUsd.toFixed(6)), 0.0102);
  });

  test('counts printed text if the usage covers only the first tokens', () => {
    const { usage } = estimateOf(
      message('a', 1, 'x'.repeat(300)),
      message('a', 1, 'x'.repeat(600)),
    );
    assert.ok(usage.output >= 300, `${usage.output}`);
  });

  test('is zero before the first answer and for text not from a model', () => {
    const synthetic = { ...message('a', 5).message, model: '<synthetic>' };
    const estimate = estimateOf(
      { type: 'system', subtype: 'init' },
      { type: 'assistant', message: synthetic },
    );
    sameValue(callCost(undefined, estimate), {});
  });

  test('takes the cost of a result and adds what continues after it', () => {
    const done = { turns: 1, costUsd: 0.5 };
    const told = result({ total_cost_usd: 0.5 });
    sameValue(callCost(done, estimateOf(message('a', 1), told)), done);
    const { costEstimated, costUsd = 0 } = callCost(
      done,
      estimateOf(message('a', 1), told, message('a', 1), message('b', 0)),
    );
    sameValue([costUsd.toFixed(3), costEstimated], ['0.504', true]);
  });

  test('remains if the result has no cost', () => {
    const cost = callCost({ turns: 2 }, estimateOf(message('a', 0), result({})));
    sameValue([cost.costUsd, cost.costEstimated, cost.turns], [0.004, true, 2]);
  });

  test('uses bounded memory without losing part of the sum', () => {
    const { usage } = estimateOf(...Array.from({ length: 5_000 }, (_, i) => message(`m${i}`, 1)));
    sameValue([usage.input, usage.output], [5_000_000, 5_000]);
  });
});
