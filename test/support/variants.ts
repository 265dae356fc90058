/** `npm run test:all` sets it. */
const runsAll = process.env['RALPH_FRESH_TESTS'] === 'all';

/**
 * The values with which a test is repeated. `npm run test:all` takes all of them; `npm test` takes only some, which show
 * the behavior, while the others are there to be sure.
 * @param count how many `npm test` takes
 * @param from index of the first of them; it wraps around, so that in a loop within another one each value has its turn
 */
export function variants<T>(values: readonly T[], count: number, from = 0): readonly T[] {
  if (runsAll) {
    return values;
  }
  const start = from % values.length;
  return [...values.slice(start), ...values.slice(0, start)].slice(0, count);
}

/**
 * For tests that show what others show, in a rarer case or with more of it: `inAll(test)('…', …)`. Only
 * `npm run test:all` runs them.
 * @param define `test` of `node:test` or of Playwright
 */
export function inAll<T extends (...args: never[]) => unknown>(define: T): T {
  return runsAll ? define : ((() => undefined) as unknown as T);
}
