// Measures what docs/benchmarks.md lists: npm run bench, or some of it: npm run bench -- stories output
// Exits with 1 if a budget is exceeded that is valid on any machine, since both sides were measured in this run.
import { availableParallelism, cpus } from 'node:os';
import { agentOutput } from './agentOutput.ts';
import { extensionHost } from './extensionHost.ts';
import { lanes } from './lanes.ts';
import { longHistory } from './longHistory.ts';
import { claudeOverhead, loopOverhead } from './loopOverhead.ts';
import { manyStories } from './manyStories.ts';
import { memory } from './memory.ts';
import { buildWhenOutdated } from './product.ts';
import { type Row, tableOf } from './row.ts';
import { size } from './size.ts';
import { thousandth } from './thousandth.ts';

const benches: Readonly<Record<string, () => Row[] | Promise<Row[]>>> = {
  loop: loopOverhead,
  claude: claudeOverhead,
  lanes,
  thousandth,
  memory,
  output: agentOutput,
  stories: manyStories,
  history: longHistory,
  // The package is built first, so that the window has the build that is published.
  size,
  window: extensionHost,
};

const asked = process.argv.slice(2);
const unknown = asked.filter(name => !(name in benches));
if (unknown.length > 0) {
  console.error(
    `There is no bench ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}.`,
  );
  process.exitCode = 64;
} else {
  buildWhenOutdated();
  const rows: Row[] = [];
  for (const [name, bench] of Object.entries(benches)) {
    if (asked.length === 0 || asked.includes(name)) {
      console.log(`[bench] ${name} …`);
      rows.push(...(await bench()));
    }
  }
  const day = new Date().toISOString().slice(0, 10);
  const [cpu] = cpus();
  console.log(
    `\n${day}, ${availableParallelism()} cores (${cpu?.model.trim() ?? 'unknown'}), ${process.platform}, Node ${process.versions.node}\n`,
  );
  console.log(tableOf(rows));
  process.exitCode = rows.some(({ decides, isWithin }) => decides && !isWithin) ? 1 : 0;
}
