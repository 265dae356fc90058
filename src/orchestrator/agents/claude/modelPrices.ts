import type { RequestUsage } from '../agent.ts';

/**
 * Public list prices of Anthropic's API for the Claude models, in US dollars for a million tokens. Source:
 * https://platform.claude.com/docs/en/about-claude/pricing, as of 2026-10-24. For estimates alone: what a call
 * has cost is told by its own result where there is one.
 */
interface ModelPrice {
  /** The first pattern that a model's name matches counts, so a family's exceptions stand before it. */
  readonly model: RegExp;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** A request whose prompt is longer, cache included, costs this many times as much. */
  readonly long?: { readonly aboveTokens: number; readonly times: number };
}

// A model that is not known by its version costs what the dearest of its family does.
const PRICES: readonly ModelPrice[] = [
  // Our own demo agent asks no model.
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

/** So that budgets err to the safe side where nobody knows the model. */
const DEAREST: ModelPrice = { model: /(?:)/, input: 15, output: 75, cacheRead: 1.5 };

/** What is written to the cache for five minutes or for an hour, as multiples of other input. */
const CACHE_WRITE_5M = 1.25;
const CACHE_WRITE_1H = 2;

/**
 * What one request to a model costs by the list, in US dollars.
 * @param model its name, as any provider writes it; the dearest price when it is absent or unknown
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
