import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BudgetLedger } from '../../src/orchestrator/agents/call/budgetLedger.ts';

/** What calls have cost, by iteration. */
class Costs {
  readonly byIteration = new Map<number, number>();
  readonly run = () => [...this.byIteration.values()].reduce((sum, usd) => sum + usd, 0);
  readonly iteration = (iteration: number) => this.byIteration.get(iteration) ?? 0;

  add(iteration: number, usd: number): void {
    this.byIteration.set(iteration, this.iteration(iteration) + usd);
  }
}

describe('the budget ledger', () => {
  test('without a budget, a call is unlimited or has its own limit', () => {
    const ledger = new BudgetLedger({}, new Costs());
    assert.equal(ledger.reserve(1).usd, undefined);
    assert.equal(ledger.reserve(1, 2).usd, 2);
  });

  test('a single call may spend all that is left', () => {
    const costs = new Costs();
    const ledger = new BudgetLedger({ budgetUsd: 5, iterationBudgetUsd: 4 }, costs);
    const first = ledger.reserve(1);
    assert.equal(first.usd, 4);
    costs.add(1, 3);
    first.settle();
    assert.equal(ledger.reserve(1).usd, 1);
  });

  test('what a call did not spend is available to the next one', () => {
    const costs = new Costs();
    const ledger = new BudgetLedger({ budgetUsd: 5 }, costs);
    const first = ledger.reserve(1);
    costs.add(1, 0.5);
    first.settle();
    first.settle();
    assert.equal(ledger.reserve(2).usd, 4.5);
  });

  test('two parallel calls share what is left; a third gets nothing', () => {
    const ledger = new BudgetLedger({ budgetUsd: 5 }, new Costs(), () => 2);
    assert.equal(ledger.reserve(1).usd, 2.5);
    assert.equal(ledger.reserve(2).usd, 2.5);
    assert.equal(ledger.reserve(3).usd, 0);
  });

  test('two calls of one iteration share its budget', () => {
    const ledger = new BudgetLedger({ iterationBudgetUsd: 3 }, new Costs(), () => 2);
    assert.equal(ledger.reserve(1, 2).usd, 2);
    assert.equal(ledger.reserve(1).usd, 1);
    assert.equal(ledger.reserve(2).usd, 3);
  });

  test('the remaining budget never becomes negative', () => {
    const costs = new Costs();
    costs.add(1, 9);
    assert.equal(new BudgetLedger({ budgetUsd: 5 }, costs).reserve(2).usd, 0);
  });

  test('calls together never exceed the budget, in whatever order they begin and end', () => {
    const step = fc.record({
      iteration: fc.integer({ min: 1, max: 4 }),
      ends: fc.boolean(),
      pick: fc.nat(),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    const budget = fc.double({ min: 0.1, max: 20, noNaN: true });
    const property = fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      budget,
      fc.option(budget, { nil: undefined }),
      (steps, lanes, budgetUsd, iterationBudgetUsd) => {
        const costs = new Costs();
        const budgets = {
          budgetUsd,
          ...(iterationBudgetUsd === undefined ? {} : { iterationBudgetUsd }),
        };
        const ledger = new BudgetLedger(budgets, costs, () => lanes);
        const open: { iteration: number; usd: number; settle: () => void }[] = [];
        for (const { ends, iteration, part, pick } of steps) {
          const call = ends ? open.splice(pick % Math.max(1, open.length), 1)[0] : undefined;
          if (call) {
            costs.add(call.iteration, call.usd * part);
            call.settle();
          } else {
            const { settle, usd = Number.NaN } = ledger.reserve(iteration);
            assert.ok(usd >= 0);
            open.push({ iteration, usd, settle });
          }
          const reserved = open.reduce((sum, { usd }) => sum + usd, 0);
          assert.ok(costs.run() + reserved <= budgetUsd + 1e-9);
          for (const number of [1, 2, 3, 4]) {
            const its = open.reduce(
              (sum, { iteration: at, usd }) => sum + (at === number ? usd : 0),
              0,
            );
            assert.ok(costs.iteration(number) + its <= (iterationBudgetUsd ?? budgetUsd) + 1e-9);
          }
        }
      },
    );
    fc.assert(property, { numRuns: 300 });
  });
});
