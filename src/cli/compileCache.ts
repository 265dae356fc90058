import { existsSync } from 'node:fs';
import module from 'node:module';
import path from 'node:path';

/**
 * Lets Node keep what it compiles of the program, so that the next command starts sooner. Next to the program: whoever
 * can write there can change the program as well, which is not so in a folder for temporary files. Where nobody may
 * write there, and on a Node before 22.1, every command starts as slowly as the first.
 */
export function enableCompileCache(): void {
  const root = path.dirname(import.meta.dirname);
  if (existsSync(path.join(root, 'package.json'))) {
    module.enableCompileCache?.(path.join(root, '.cache', 'compiled'));
  }
}
