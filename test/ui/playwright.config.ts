import path from 'node:path';
import { defineConfig } from '@playwright/test';

const results = path.resolve(import.meta.dirname, '..', '..', 'test-results');

export default defineConfig({
  testDir: import.meta.dirname,
  testMatch: '**/*.test.ts',
  // Each test starts a server and a browser of its own; two at once only make both slow.
  workers: 1,
  retries: 0,
  timeout: 180_000,
  expect: { timeout: 20_000 },
  forbidOnly: process.env['CI'] !== undefined,
  // Emptied at every start, so not the folder that holds the screenshots.
  outputDir: path.join(results, 'ui'),
  reporter: [['list'], ['json', { outputFile: path.join(results, 'ui.json') }]],
});
