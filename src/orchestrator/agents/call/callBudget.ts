import type { RunConfig } from '../../settings/config.ts';

/** Amounts are sums of small ones; what is left of a budget by rounding buys nothing. */
export const LESS_THAN_A_CENT = 0.005;

/** What is left of the budgets, in US dollars; `undefined` without one. */
export function callBudget(
  { budgetUsd, iterationBudgetUsd }: Pick<RunConfig, 'budgetUsd' | 'iterationBudgetUsd'>,
  spent: { readonly run: number; readonly iteration: number },
): number | undefined {
  const limits = [
    ...(budgetUsd === undefined ? [] : [budgetUsd - spent.run]),
    ...(iterationBudgetUsd === undefined ? [] : [iterationBudgetUsd - spent.iteration]),
  ];
  return limits.length === 0 ? undefined : Math.min(...limits);
}
