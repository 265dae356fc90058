#!/usr/bin/env node
import { enableCompileCache } from './cli/compileCache.ts';
// What must be there before the program is loaded, which is why that is not imported like this.
import './base/node20.ts';

enableCompileCache();
const { main } = await import('./cli/program.ts');
await main();
// All is done, and to take everything down in order takes longer than to go. What is not printed yet is waited for,
// and so is what is to be said of output that could not be printed.
if (
  process.stdout.errored === null &&
  process.stdout.writableLength === 0 &&
  process.stderr.writableLength === 0
) {
  process.exit();
}
