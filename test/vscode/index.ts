import { writeFileSync } from 'node:fs';
import process from 'node:process';

/** The file that gets a `TestResult` after every test; it reaches the launcher whatever becomes of the host. */
export const resultVariable = 'RALPH_FRESH_TEST_RESULT';
/** When set, only tests whose full title contains it. */
export const grepVariable = 'RALPH_FRESH_TEST_GREP';

export interface TestResult {
  passed: number;
  failed: number;
  skipped: number;
  /** False in a result written before the last test. */
  complete: boolean;
}

const testLimitMs = 10 * 60_000;
/** How the line of a test begins; a launcher knows the lines by it. */
export const mark = { passed: '  ok  ', failed: '  FAIL', skipped: '  skip' } as const;

/**
 * Runs Mocha inside the extension host, with the interface `suite` and `test`. `load` imports the test files; rejects
 * when a test failed or none ran, which VS Code turns into its exit code.
 */
export async function runSuites(load: () => Promise<void>): Promise<void> {
  const result: TestResult = { passed: 0, failed: 0, skipped: 0, complete: false };
  // An ES module; the bundle is CommonJS.
  const { default: Mocha } = await import('mocha');
  const mocha = new Mocha({ ui: 'tdd', timeout: testLimitMs, reporter: class {} as never });
  const grep = process.env[grepVariable];
  if (grep) {
    mocha.fgrep(grep);
  }
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  await load();

  const record = (outcome: keyof typeof mark, text: string): void => {
    result[outcome]++;
    // The host forwards its console to the launcher.
    console.log(`${mark[outcome]} ${text}`);
    saveResult(result);
  };
  await new Promise<void>(resolve => {
    mocha
      .run(() => resolve())
      .on('pass', test => record('passed', `${test.fullTitle()} (${test.duration ?? 0} ms)`))
      .on('fail', (test, error: unknown) =>
        record('failed', `${test.fullTitle()}\n${describe(error)}`),
      )
      .on('pending', test => record('skipped', test.fullTitle()));
  });
  result.complete = true;
  saveResult(result);

  if (result.failed > 0) {
    throw new Error(`${result.failed} of ${result.passed + result.failed} tests failed`);
  }
  if (result.passed === 0) {
    throw new Error('No test ran.');
  }
}

function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return text.replaceAll(/^/gm, '       ');
}

function saveResult(result: TestResult): void {
  const file = process.env[resultVariable];
  if (file !== undefined) {
    writeFileSync(file, JSON.stringify(result));
  }
}
