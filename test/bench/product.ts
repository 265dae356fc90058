import { spawnSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** The command line that people run. */
export const CLI = path.join(root, 'dist', 'cli.js');
export const NODE_FLAGS = ['--disable-warning=ExperimentalWarning'];

/** Builds the product if it is missing or older than its source. */
export function buildWhenOutdated(): void {
  const builtAt = statSync(CLI, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = ['package.json', 'scripts/build.ts', ...globSync('src/**/*.ts', { cwd: root })];
  if (sources.every(file => statSync(path.join(root, file)).mtimeMs < builtAt)) {
    return;
  }
  console.log('[set-up] Building …');
  const { status } = spawnSync(process.execPath, [...NODE_FLAGS, 'scripts/build.ts'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) {
    throw new Error('The build failed; its message is above.');
  }
}
