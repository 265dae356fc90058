// Kills loops and agents at random moments: npm run test:faults -- 20 --seed 7
// With --lanes 4, several agents work at once, and their work lands.
// Exits with 1 if anything was lost, done twice or left running.
import { parseArgs } from 'node:util';
import { buildWhenOutdated } from '../bench/product.ts';

buildWhenOutdated();
const { campaign, countOf, describeFailure, oneRun } = await import('./campaign.ts');
const { FaultWorkspace } = await import('./faultWorkspace.ts');

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    /** Repeats one run of a campaign, with the seed that its failure printed. */
    run: { type: 'string' },
    /** Several agents at once, each in a clone of its own. */
    lanes: { type: 'string' },
    stories: { type: 'string', default: '20' },
    parallel: { type: 'string', default: '2' },
  },
});
const kills = Number(positionals[0] ?? 200);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const stories = Number(values.stories);
const lanes = values.lanes === undefined ? undefined : Number(values.lanes);
const startedAt = performance.now();
const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(0);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    // Loops and agents are in their own process groups, so nothing else ends them.
    for (const workspace of FaultWorkspace.open) {
      workspace.endProcesses();
    }
    process.exit(130);
  });
}

if (values.run !== undefined) {
  const report = await oneRun({ seed: Number(values.run), stories, kills, lanes });
  console.log(describeFailure(report));
  process.exitCode = report.violations.length > 0 ? 1 : 0;
} else {
  console.log(`[faults] ${kills} kills over runs of ${stories} stories, seed ${seed}`);
  const {
    failed,
    kills: done,
    runs,
  } = await campaign({
    ...{
      seed,
      kills,
      stories,
      lanes,
      killsPerRun: lanes ? [10, 25] : [5, 10],
      parallel: Number(values.parallel),
    },
    onRun: report => {
      const end = report.violations.length === 0 ? 'well' : 'VIOLATED';
      console.log(
        `[faults] run ${report.seed}: ${countOf(report.kills)} kills, ${end} (${seconds()} s)`,
      );
      if (report.violations.length > 0) {
        console.error(describeFailure(report));
      }
    },
  });
  const total = countOf(done);
  const targets = Object.entries(done).map(([target, times]) => `${target} ${times}`);
  console.log(
    `[faults] ${total} kills (${targets.join(', ')}) in ${runs} runs: ${
      failed.length === 0
        ? 'nothing lost, nothing done twice, nothing left running'
        : `${failed.length} runs VIOLATED`
    } (seed ${seed}, ${seconds()} s)`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}
