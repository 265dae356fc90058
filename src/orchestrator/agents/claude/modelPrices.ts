import type { RequestUsage } from '../agent.ts';

/**
 * Public list prices of Anthropic's API for the Claude models, in US dollars per million tokens. Source:
 * https://platform.claude.com/docs/en/about-claude/pricing, as of 2026-10-24. Only for estimates: a call's own
 * result has priority.
 */
interface ModelPrice {
  /** The first pattern that matches a model's name is used, so a family's exceptions must precede it. */
  readonly model: RegExp;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** A request with a longer prompt, including cache, costs this many times as much. */
  readonly long?: { readonly aboveTokens: number; readonly times: number };
}

// A model of an unknown version costs as much as the most expensive of its family.
const PRICES: readonly ModelPrice[] = [
  // Our own demo agent uses no model.
  { model: /^demo$/, input: 0, output: 0, cacheRead: 0 },
  { model: /(fable|mythos)-5-1(?!\d)/, input: 10, output: 50, cacheRead: 0.25 },
  { model: /fable|mythos/, input: 10, output: 50, cacheRead: 1 },
  { model: /opus-5-5(?!\d)/, input: 4, output: 20, cacheRead: 0.2 },
  { model: /opus-(4-[5-8](?!\d)|5(?!\d|-\d{1,2}(?!\d)))/, input: 5, output: 25, cacheRead: 0.5 },
  { model: /opus/, input: 15, output: 75, cacheRead: 1.5 },
  { model: /sonnet-5-5(?!\d)/, input: 2, output: 10, cacheRead: 0.1 },
  { model: /sonnet-5(?!\d|-\d{1,2}(?!\d))/, input: 2, output: 10, cacheRead: 0.2 },
  {
    ...{ model: /sonnet/, input: 3, output: 15, cacheRead: 0.3 },
    long: { aboveTokens: 200_000, times: 2 },
  },
  {
    ...{ model: /haiku-5-5(?!\d)/, input: 0.1, output: 0.5, cacheRead: 0.01 },
    long: { aboveTokens: 100_000, times: 5 },
  },
  { model: /haiku/, input: 1, output: 5, cacheRead: 0.1 },
];

/** For unknown models, so that budgets err on the safe side. */
const DEAREST: ModelPrice = { model: /(?:)/, input: 15, output: 75, cacheRead: 1.5 };

/** Price of cache writes for five minutes or an hour, as multiples of the input price. */
const CACHE_WRITE_5M = 1.25;
const CACHE_WRITE_1H = 2;

/**
 * The list price of one request to a model, in US dollars.
 * @param model its name, as written by any provider; if absent or unknown, the highest price is used
 */
export function listPrice(model: string | undefined, usage: RequestUsage): number {
  const name = (model ?? '').toLowerCase().replace(/[._]/g, '-');
  const { input, output, cacheRead, long } =
    PRICES.find(price => price.model.test(name)) ?? DEAREST;
  const short = Math.min(usage.cacheWrite5m ?? 0, usage.cacheWrite);
  const dollars =
    input * (usage.input + CACHE_WRITE_5M * short + CACHE_WRITE_1H * (usage.cacheWrite - short)) +
    cacheRead * usage.cacheRead +
    output * usage.output;
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const times = long !== undefined && prompt > long.aboveTokens ? long.times : 1;
  return (dollars * times) / 1e6;
}
