import type { AgentEvent, TokenUsage } from '../agent.ts';
import { listPrice } from './modelPrices.ts';

type UsageEvent = Extract<AgentEvent, { type: 'usage' }>;

/** Of each message there are a few lines, close together; older ones are not waited for. */
const MAX_MESSAGES = 1_000;
/** Fewer characters than this make no token, in any language that agents write. */
const CHARS_PER_TOKEN = 3;

export const NO_TOKENS: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

interface CountedMessage {
  readonly usage: TokenUsage;
  readonly costUsd: number;
  /** Characters of all its lines so far. */
  readonly chars: number;
}

/**
 * What a call has cost that no result of its own has told: by the usage that its messages carry, at list
 * prices. A call that is killed has no result, and yet it was billed.
 */
export class CostEstimate {
  private tokens = NO_TOKENS;
  private dollars = 0;
  /** By id, the newest last. */
  private readonly messages = new Map<string, CountedMessage>();
  private unnamed = 0;

  /** In US dollars; 0 before the first answer of the model, and after a result that tells its cost. */
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
      // A result's cost is the whole until then. What follows it is a call that goes on in the background.
      this.tokens = NO_TOKENS;
      this.dollars = 0;
    }
  }

  private count({ messageId, model, usage, outputChars }: UsageEvent): void {
    const id = messageId ?? `unnamed ${++this.unnamed}`;
    const before = this.messages.get(id) ?? { usage: NO_TOKENS, costUsd: 0, chars: 0 };
    const chars = before.chars + outputChars;
    // A message is printed while it is written, and then its usage knows only the first of its tokens.
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
