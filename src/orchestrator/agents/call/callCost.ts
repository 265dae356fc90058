import { amount, whole } from '../../../base/numbers.ts';
import { addTokens } from '../../journal/tokenCounts.ts';
import type { ResultEvent, TokenUsage } from '../agent.ts';
import { type CostEstimate, NO_TOKENS } from '../claude/costEstimate.ts';

/** The usage of one call, for its `agent.ended`. */
export interface CallCost {
  /** In US dollars; absent if unknown, or if nothing has been used yet. */
  readonly costUsd?: number;
  /** `costUsd` and `usage` are at least partly estimated from the stream. */
  readonly costEstimated?: true;
  readonly turns?: number;
  readonly usage?: Tokens;
}

/** A type of its own, because an event does not accept an interface. */
type Tokens = Pick<TokenUsage, keyof TokenUsage>;

/** The usage according to the call's own result; whatever no result covers is estimated. */
export function callCost(
  result: Pick<ResultEvent, 'costUsd' | 'turns' | 'usage'> | undefined,
  estimate: CostEstimate,
): CallCost {
  const { costUsd, turns, usage } = result ?? {};
  const turnsTaken = turns === undefined ? {} : { turns: whole(turns) };
  if (estimate.costUsd === 0) {
    return {
      costUsd: costUsd === undefined ? undefined : amount(costUsd),
      ...turnsTaken,
      usage: usage === undefined ? undefined : wholeTokens(usage),
    };
  }
  // A result with a cost does not include what comes after it. A result without one may have counted the same
  // tokens.
  const counted = costUsd === undefined ? undefined : usage;
  return {
    costUsd: amount((costUsd ?? 0) + estimate.costUsd),
    costEstimated: true,
    ...turnsTaken,
    usage: wholeTokens(addTokens(counted ?? NO_TOKENS, estimate.usage)),
  };
}

function wholeTokens({ cacheRead, cacheWrite, input, output }: TokenUsage): Tokens {
  return {
    input: whole(input),
    output: whole(output),
    cacheRead: whole(cacheRead),
    cacheWrite: whole(cacheWrite),
  };
}
