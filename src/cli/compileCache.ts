import module, { createRequire } from 'node:module';
import path from 'node:path';

/** An `import` of it would load the streams of files as well, which few commands need. */
const { existsSync } = createRequire(import.meta.url)('node:fs') as typeof import('node:fs');

/**
 * Lets Node cache the compiled program, so that the next command starts sooner. The cache is next to the program:
 * anyone who can write there can change the program as well, which is not true of a temporary folder. If the folder
 * is not writable, or Node is older than 22.1, every command starts as slowly as the first.
 */
export function enableCompileCache(): void {
  const root = path.dirname(import.meta.dirname);
  if (existsSync(path.join(root, 'package.json'))) {
    module.enableCompileCache?.(path.join(root, '.cache', 'compiled'));
  }
}
