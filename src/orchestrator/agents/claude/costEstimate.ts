import type { AgentEvent, TokenUsage } from '../agent.ts';
import { listPrice } from './modelPrices.ts';

type UsageEvent = Extract<AgentEvent, { type: 'usage' }>;

/** The few lines of a message are close together; older messages are complete. */
const MAX_MESSAGES = 1_000;
/** A lower bound for characters per token in any language that agents write. */
const CHARS_PER_TOKEN = 3;

export const NO_TOKENS: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

interface CountedMessage {
  readonly usage: TokenUsage;
  readonly costUsd: number;
  /** Characters in all its lines so far. */
  readonly chars: number;
}

/**
 * Estimates the cost of a call without a result: from the usage in its messages, at list prices. A killed call has
 * no result, but it was billed.
 */
export class CostEstimate {
  private tokens = NO_TOKENS;
  private dollars = 0;
  /** By id, newest last. */
  private readonly messages = new Map<string, CountedMessage>();
  private unnamed = 0;

  /** In US dollars; 0 before the model's first answer, and after a result with a cost. */
  get costUsd(): number {
    return this.dollars;
  }

  get usage(): TokenUsage {
    return this.tokens;
  }

  take(event: AgentEvent): void {
    if (event.type === 'usage') {
      this.count(event);
    } else if (event.type === 'result' && event.costUsd !== undefined) {
      // A result's cost includes everything so far. What follows comes from background work.
      this.tokens = NO_TOKENS;
      this.dollars = 0;
    }
  }

  private count({ messageId, model, usage, outputChars }: UsageEvent): void {
    const id = messageId ?? `unnamed ${++this.unnamed}`;
    const before = this.messages.get(id) ?? { usage: NO_TOKENS, costUsd: 0, chars: 0 };
    const chars = before.chars + outputChars;
    // A message is printed while it is being written, when its usage only counts the first tokens.
    const output = Math.max(usage.output, Math.ceil(chars / CHARS_PER_TOKEN));
    const told = { ...usage, output };
    const costUsd = listPrice(model, told);
    this.messages.delete(id);
    this.messages.set(id, { usage: told, costUsd, chars });
    this.dollars = Math.max(0, this.dollars + costUsd - before.costUsd);
    this.tokens = difference(this.tokens, told, before.usage);
    const [oldest] = this.messages.keys();
    if (this.messages.size > MAX_MESSAGES && oldest !== undefined) {
      this.messages.delete(oldest);
    }
  }
}

function difference(sum: TokenUsage, now: TokenUsage, before: TokenUsage): TokenUsage {
  const of = (key: keyof TokenUsage) => Math.max(0, sum[key] + now[key] - before[key]);
  return {
    input: of('input'),
    output: of('output'),
    cacheRead: of('cacheRead'),
    cacheWrite: of('cacheWrite'),
  };
}
