import path from 'node:path';
import { defineConfig } from '@playwright/test';

const results = path.resolve(import.meta.dirname, '..', '..', 'test-results');
/** Suites of this folder keep apart what they find: `ui`, `oldest`. */
const suite = process.env['RALPH_FRESH_TEST_REPORT'] || 'ui';

export default defineConfig({
  testDir: import.meta.dirname,
  testMatch: '**/*.test.ts',
  // Each test starts a server and a browser of its own; two at once only make both slow.
  workers: 1,
  // A key or click that the workbench loses on a busy machine is no fault of ours; the report names such tests.
  retries: 1,
  // No test waits for these when all is well.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  forbidOnly: process.env['CI'] !== undefined,
  // Emptied at every start, so not the folder that holds the screenshots.
  outputDir: path.join(results, suite),
  reporter: [['list'], ['json', { outputFile: path.join(results, `${suite}.json`) }]],
});
