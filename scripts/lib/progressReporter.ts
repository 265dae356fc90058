import type { Reporter } from '@playwright/test/reporter';

/**
 * A reporter of Playwright that tells the process that runs all suites of every step of a test, so that a slow test is
 * told from one that hangs. It prints nothing.
 */
export default class ProgressReporter implements Reporter {
  onTestBegin(): void {
    tellProgress();
  }

  onStepBegin(): void {
    tellProgress();
  }

  onStepEnd(): void {
    tellProgress();
  }

  onTestEnd(): void {
    tellProgress();
  }

  printsToStdio(): boolean {
    return false;
  }
}

/** Something has happened in this suite. */
export function tellProgress(): void {
  // Nobody listens when a suite is not run by scripts/test.ts.
  process.send?.('progress');
}
