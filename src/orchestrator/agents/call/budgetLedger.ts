import type { RunConfig } from '../../settings/config.ts';

/** In US dollars. Amounts are sums of small amounts; a remainder caused by rounding buys nothing. */
export const LESS_THAN_A_CENT = 0.005;

/** Whether a budget is used up. */
export function isSpent(budgetUsd: number | undefined, costUsd: number): boolean {
  return budgetUsd !== undefined && costUsd >= budgetUsd - LESS_THAN_A_CENT;
}

/** The cost of calls that have ended, in US dollars. */
export interface Spent {
  readonly run: () => number;
  readonly iteration: (iteration: number) => number;
}

/** The budget of one call. */
export interface Reservation {
  /** In US dollars; absent without a budget. */
  readonly usd?: number;
  /** Ends the reservation and records the cost of the call. A second call has no effect. */
  settle(): void;
}

/**
 * The budgets of a run and of its iterations. A call reserves its budget before it starts, so that parallel calls
 * do not spend the same money.
 */
export class BudgetLedger {
  private readonly budgets: Pick<RunConfig, 'budgetUsd' | 'iterationBudgetUsd'>;
  private readonly spent: Spent;
  private readonly lanes: () => number;
  private readonly open = new Set<{ readonly iteration: number; readonly usd: number }>();

  /** @param lanes number of parallel calls now; each may reserve an equal share of the rest */
  constructor(
    budgets: Pick<RunConfig, 'budgetUsd' | 'iterationBudgetUsd'>,
    spent: Spent,
    lanes: () => number = () => 1,
  ) {
    this.budgets = budgets;
    this.spent = spent;
    this.lanes = lanes;
  }

  /** Whether another call could still spend something, next to those that are under way. */
  get isMoneyLeft(): boolean {
    const { budgetUsd } = this.budgets;
    const reserved = [...this.open].reduce((sum, { usd }) => sum + usd, 0);
    return budgetUsd === undefined || budgetUsd - this.spent.run() - reserved >= LESS_THAN_A_CENT;
  }

  /**
   * @param own the call's own budget, in US dollars
   * @returns at most the rest of the budgets, minus the reservations of others; never negative
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
            (budgetUsd - this.spent.run() - reserved(open)) /
              Math.max(1, this.lanes() - open.length),
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
