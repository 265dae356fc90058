import type { RunConfig } from '../../settings/config.ts';

/** Amounts are sums of small ones; what is left of a budget by rounding buys nothing. */
export const LESS_THAN_A_CENT = 0.005;

/** What was spent so far, in US dollars, by calls that have ended. */
export interface Spent {
  readonly run: () => number;
  readonly iteration: (iteration: number) => number;
}

/** What one call may spend. */
export interface Reservation {
  /** In US dollars; absent without a budget. */
  readonly usd?: number;
  /** The call is over, and what it cost is counted as spent. A second time changes nothing. */
  settle(): void;
}

/**
 * The budgets of a run and of its iterations. A call reserves what it may spend before it starts, so that calls that run
 * at the same time do not spend the same money.
 */
export class BudgetLedger {
  private readonly budgets: Pick<RunConfig, 'budgetUsd' | 'iterationBudgetUsd'>;
  private readonly spent: Spent;
  private readonly lanes: number;
  private readonly open = new Set<{ readonly iteration: number; readonly usd: number }>();

  /** @param lanes calls that may run at once; each may reserve an equal share of what is left */
  constructor(
    budgets: Pick<RunConfig, 'budgetUsd' | 'iterationBudgetUsd'>,
    spent: Spent,
    lanes = 1,
  ) {
    this.budgets = budgets;
    this.spent = spent;
    this.lanes = lanes;
  }

  /**
   * @param own what the call may cost by itself, in US dollars
   * @returns at most what is left of the budgets, less what others have reserved; never less than nothing
   */
  reserve(iteration: number, own?: number): Reservation {
    const { budgetUsd, iterationBudgetUsd } = this.budgets;
    const open = [...this.open];
    const reserved = (of: typeof open) => of.reduce((sum, { usd }) => sum + usd, 0);
    const limits = [
      ...(own === undefined ? [] : [own]),
      ...(budgetUsd === undefined
        ? []
        : [
            (budgetUsd - this.spent.run() - reserved(open)) / Math.max(1, this.lanes - open.length),
          ]),
      ...(iterationBudgetUsd === undefined
        ? []
        : [
            iterationBudgetUsd -
              this.spent.iteration(iteration) -
              reserved(open.filter(call => call.iteration === iteration)),
          ]),
    ];
    if (limits.length === 0) {
      return { settle: () => undefined };
    }
    const entry = { iteration, usd: Math.max(0, Math.min(...limits)) };
    this.open.add(entry);
    return { usd: entry.usd, settle: () => void this.open.delete(entry) };
  }
}
