// Keeps the journals of real runs for the tests of views: npm run journals, or some of them: npm run journals -- stuck guard
// It runs the built command line with the scripted fake agent. Look at the difference before you commit it.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildWhenOutdated } from '../bench/product.ts';

buildWhenOutdated();
const { SCENARIOS } = await import('../support/scenarios.ts');
const { recordScenario } = await import('../support/recordScenario.ts');
const { JOURNALS } = await import('../support/recordedJournals.ts');

const asked = process.argv.slice(2);
const unknown = asked.filter(name => !(name in SCENARIOS));
if (unknown.length > 0) {
  console.error(
    `There is no run ${unknown.join(', ')}. There are: ${Object.keys(SCENARIOS).join(', ')}.`,
  );
  process.exitCode = 64;
} else {
  await mkdir(JOURNALS, { recursive: true });
  for (const name of asked.length === 0 ? Object.keys(SCENARIOS) : asked) {
    console.log(`[journals] ${name} …`);
    await writeFile(path.join(JOURNALS, `${name}.jsonl`), await recordScenario(name));
  }
}
