import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from '@playwright/test';

const results = path.resolve(import.meta.dirname, '..', '..', 'test-results');
/** Suites of this folder keep apart what they find: `ui`, `oldest`. */
const suite = process.env['RALPH_FRESH_TEST_REPORT'] || 'ui';

export default defineConfig({
  testDir: import.meta.dirname,
  testMatch: '**/*.test.ts',
  // A window needs two processors: with one worker for each, all stories take as long, and each of them twice as long.
  workers: Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
  // A story that needs a second try waits for something else than an event.
  retries: 0,
  // Each wait in a story has a limit of its own; to go through all of them may take as long as the machine needs.
  timeout: 60 * 60_000,
  // Nothing waits for these when all is well.
  expect: { timeout: 180_000 },
  forbidOnly: process.env['CI'] !== undefined,
  // Emptied at every start, so not the folder that holds the screenshots.
  outputDir: path.join(results, suite),
  reporter: [
    ['list'],
    [path.resolve(import.meta.dirname, '../../scripts/lib/progressReporter.ts')],
    ['json', { outputFile: path.join(results, `${suite}.json`) }],
  ],
});
