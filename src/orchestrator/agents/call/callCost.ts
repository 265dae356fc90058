import { amount, whole } from '../../../base/numbers.ts';
import type { ResultEvent, TokenUsage } from '../agent.ts';
import { type CostEstimate, NO_TOKENS } from '../claude/costEstimate.ts';

/** What one call took, as its `agent.ended` tells it. */
export interface CallCost {
  /** In US dollars; absent when nobody knows, and where nothing was used yet. */
  readonly costUsd?: number;
  /** `costUsd` and `usage` are estimated, in whole or in part, from what the stream told. */
  readonly costEstimated?: true;
  readonly turns?: number;
  readonly usage?: Tokens;
}

/** As a type of its own, since an event takes no interface. */
type Tokens = Pick<TokenUsage, keyof TokenUsage>;

/** The call's own result tells what it took; what no result has told is estimated. */
export function callCost(
  result: Pick<ResultEvent, 'costUsd' | 'turns' | 'usage'> | undefined,
  estimate: CostEstimate,
): CallCost {
  const { costUsd, turns, usage } = result ?? {};
  const turnsTaken = turns === undefined ? {} : { turns: whole(turns) };
  if (estimate.costUsd === 0) {
    return {
      ...(costUsd === undefined ? {} : { costUsd: amount(costUsd) }),
      ...turnsTaken,
      ...(usage === undefined ? {} : { usage: wholeTokens(usage) }),
    };
  }
  // What comes after a result with a cost is not in it. A result without one may have counted the same tokens.
  const counted = costUsd === undefined ? undefined : usage;
  return {
    costUsd: amount((costUsd ?? 0) + estimate.costUsd),
    costEstimated: true,
    ...turnsTaken,
    usage: wholeTokens(sum(counted ?? NO_TOKENS, estimate.usage)),
  };
}

function sum(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
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
