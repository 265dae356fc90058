// Keeps the journals of real runs for the tests of views: npm run journals, or some of them: npm run journals -- stuck guard
// It runs the built command line with the scripted fake agent. Look at the difference before you commit it.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildWhenOutdated } from '../bench/product.ts';

buildWhenOutdated();
const { SCENARIOS } = await import('../support/scenarios.ts');
const { recordScenario } = await import('../support/recordScenario.ts');
const { LONG_SCENARIOS } = await import('../support/laneScenarios.ts');
const { JOURNALS, LONG_JOURNALS } = await import('../support/recordedJournals.ts');

const asked = process.argv.slice(2);
const all = { ...SCENARIOS, ...LONG_SCENARIOS };
const unknown = asked.filter(name => !(name in all));
if (unknown.length > 0) {
  console.error(
    `There is no run ${unknown.join(', ')}. There are: ${Object.keys(all).join(', ')}.`,
  );
  process.exitCode = 64;
} else {
  await mkdir(JOURNALS, { recursive: true });
  await mkdir(LONG_JOURNALS, { recursive: true });
  for (const name of asked.length === 0 ? Object.keys(SCENARIOS) : asked) {
    console.log(`[journals] ${name} …`);
    const dir = name in LONG_SCENARIOS ? LONG_JOURNALS : JOURNALS;
    await writeFile(path.join(dir, `${name}.jsonl`), await recordScenario(name));
  }
}
