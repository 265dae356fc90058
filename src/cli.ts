#!/usr/bin/env node
// What must be there before the program is loaded, which is why it is not imported like these.
import './cli/smallHeap.ts';
import './orchestrator/node20.ts';
import './cli/compileCache.ts';

const { main } = await import('./cli/program.ts');
await main();
