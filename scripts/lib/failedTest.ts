import { existsSync, readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const MAX_LINES = 40;
const MAX_LINE = 300;
/** A window has about a hundred. */
const MAX_LINES_OF_WINDOW = 200;

/** A failed test, for the end of the output: in the middle, it is hard to find, or truncated. */
export interface FailedTest {
  /** Including its file. */
  readonly name: string;
  /** Its error, without colors. */
  readonly reason: string;
}

/** The first lines of an error, shortened and without colors. */
export function shortened(error: string, maxLines = MAX_LINES): string {
  const lines = stripVTControlCharacters(error).split('\n');
  const first = lines.slice(0, maxLines).map(line => line.slice(0, MAX_LINE));
  return [...first, ...(lines.length > maxLines ? ['…'] : [])].join('\n');
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
      readonly results: readonly {
        readonly error?: { readonly message?: string };
        readonly attachments?: readonly { readonly name: string; readonly path?: string }[];
      }[];
    }[];
  }[];
}

/** The failed tests in a Playwright report, each with what its window showed. */
export function playwrightFailures({ suites = [], specs = [] }: PlaywrightSuite): FailedTest[] {
  const failed = specs.filter(({ ok }) => !ok);
  return [
    ...failed.map(({ title, file, line, tests }) => {
      const results = tests.flatMap(test => test.results);
      const reason = results.flatMap(({ error }) => error?.message ?? []).join('\n');
      const contexts = results
        .flatMap(({ attachments = [] }) => attachments)
        .flatMap(({ name, path }) =>
          name === 'error-context' && path && existsSync(path) ? path : [],
        );
      return {
        name: `${file}:${line} › ${title}`,
        reason: [shortened(reason), ...[...new Set(contexts)].map(windowContent)].join('\n'),
      };
    }),
    ...suites.flatMap(playwrightFailures),
  ];
}

/** The elements of the window at the end of a story: on another machine, nobody can look at it. */
function windowContent(errorContext: string): string {
  const [, content = ''] = /^```yaml\n(.*?)^```/ms.exec(readFileSync(errorContext, 'utf8')) ?? [];
  return shortened(content, MAX_LINES_OF_WINDOW);
}
