import { stripVTControlCharacters } from 'node:util';

const MAX_LINES = 40;
const MAX_LINE = 300;

/** A failed test, for the end of the output: in the middle, it is hard to find, or truncated. */
export interface FailedTest {
  /** Including its file. */
  readonly name: string;
  /** Its error, without colors. */
  readonly reason: string;
}

/** The first lines of an error, shortened and without colors. */
export function shortened(error: string): string {
  const lines = stripVTControlCharacters(error).split('\n');
  const first = lines.slice(0, MAX_LINES).map(line => line.slice(0, MAX_LINE));
  return [...first, ...(lines.length > MAX_LINES ? ['…'] : [])].join('\n');
}

/** The failed tests of a suite as text; empty if all passed. */
export function describeFailures(suite: string, failures: readonly FailedTest[]): string {
  return failures
    .map(({ name, reason }) => `${suite}: ${name}\n${reason.replace(/^/gm, '    ')}\n`)
    .join('\n');
}

/** The part of a Playwright report that describes failures. */
export interface PlaywrightSuite {
  readonly suites?: readonly PlaywrightSuite[];
  readonly specs?: readonly {
    readonly title: string;
    readonly file: string;
    readonly line: number;
    readonly ok: boolean;
    readonly tests: readonly {
      readonly results: readonly { readonly error?: { readonly message?: string } }[];
    }[];
  }[];
}

/** The failed tests in a Playwright report. */
export function playwrightFailures({ suites = [], specs = [] }: PlaywrightSuite): FailedTest[] {
  const failed = specs.filter(({ ok }) => !ok);
  return [
    ...failed.map(({ title, file, line, tests }) => {
      const errors = tests.flatMap(({ results }) => results.flatMap(({ error }) => error ?? []));
      const reason = errors.map(({ message = '' }) => message).join('\n');
      return { name: `${file}:${line} › ${title}`, reason: shortened(reason) };
    }),
    ...suites.flatMap(playwrightFailures),
  ];
}
