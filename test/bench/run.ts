// Measures what docs/benchmarks.md lists: npm run bench, or some of it: npm run bench -- stories output
// Exits with 1 if a budget is exceeded that is valid on any machine, since both sides were measured in this run.
import { availableParallelism, cpus } from 'node:os';
import { buildWhenOutdated } from './product.ts';
import { type Row, tableOf } from './row.ts';

// The benches are loaded after the build: what they use needs the built command line.
const benches: Readonly<Record<string, () => Promise<() => Row[] | Promise<Row[]>>>> = {
  loop: async () => (await import('./loopOverhead.ts')).loopOverhead,
  claude: async () => (await import('./loopOverhead.ts')).claudeOverhead,
  lanes: async () => (await import('./lanes.ts')).lanes,
  thousandth: async () => (await import('./thousandth.ts')).thousandth,
  memory: async () => (await import('./memory.ts')).memory,
  output: async () => (await import('./agentOutput.ts')).agentOutput,
  stories: async () => (await import('./manyStories.ts')).manyStories,
  sources: async () => (await import('./storySources.ts')).storySources,
  history: async () => (await import('./longHistory.ts')).longHistory,
  code: async () => (await import('./codeIndex.ts')).codeIndex,
  // The package is built first, so that the window has the build that is published.
  size: async () => (await import('./size.ts')).size,
  window: async () => (await import('./extensionHost.ts')).extensionHost,
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
  for (const [name, load] of Object.entries(benches)) {
    if (asked.length === 0 || asked.includes(name)) {
      console.log(`[bench] ${name} …`);
      const bench = await load();
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
