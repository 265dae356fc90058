import { existsSync } from 'node:fs';
import path from 'node:path';

const file = path.resolve(import.meta.dirname, '../../dist/cli.js');

/** The built command line. `npm test` builds it before the suites that use it. */
export function builtCli(): string {
  if (!existsSync(file)) {
    throw new Error(`There is no ${file}. Run "npm run build" first.`);
  }
  return file;
}
