import type { Reporter } from '@playwright/test/reporter';

/**
 * A Playwright reporter that reports every step of a test to the process that runs all suites, so that a slow test can
 * be distinguished from one that hangs. It prints nothing.
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

/** Reports that this suite makes progress. */
export function tellProgress(): void {
  // Without effect if scripts/test.ts does not run the suite.
  process.send?.('progress');
}
