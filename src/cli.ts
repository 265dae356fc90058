#!/usr/bin/env node
// What must be there before the program is loaded, which is why it is not imported like these.
import './orchestrator/node20.ts';
import './cli/compileCache.ts';

const { main } = await import('./cli/program.ts');
await main();
// All is done, and to take everything down in order takes longer than to go. What is not printed yet is waited for.
if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) {
  process.exit();
}
