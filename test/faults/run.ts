// Kills loops and agents at random moments: npm run test:faults -- 20 --seed 7
// Exits with 1 if anything was lost, done twice or left running.
import { parseArgs } from 'node:util';
import { campaign, describeFailure } from './campaign.ts';
import { FaultWorkspace } from './faultWorkspace.ts';
import { faultyRun } from './faultyRun.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    /** Repeats one run of a campaign, with the seed that its failure printed. */
    run: { type: 'string' },
    stories: { type: 'string', default: '20' },
    parallel: { type: 'string', default: '2' },
  },
});
const kills = Number(positionals[0] ?? 200);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const stories = Number(values.stories);
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
  const report = await faultyRun({ seed: Number(values.run), stories, kills });
  console.log(describeFailure(report));
  process.exitCode = report.violations.length > 0 ? 1 : 0;
} else {
  console.log(`[faults] ${kills} kills over runs of ${stories} stories, seed ${seed}`);
  const {
    failed,
    kills: done,
    runs,
  } = await campaign({
    ...{ seed, kills, stories, killsPerRun: [5, 10], parallel: Number(values.parallel) },
    onRun: report => {
      const { loop, agent, both } = report.kills;
      const end = report.violations.length === 0 ? 'well' : 'VIOLATED';
      console.log(
        `[faults] run ${report.seed}: ${loop + agent + both} kills, ${end} (${seconds()} s)`,
      );
    },
  });
  for (const report of failed) {
    console.error(describeFailure(report));
  }
  const total = done.loop + done.agent + done.both;
  console.log(
    `[faults] ${total} kills (loop ${done.loop}, agent ${done.agent}, both ${done.both}) in ${runs} runs: ${
      failed.length === 0
        ? 'nothing lost, nothing done twice, nothing left running'
        : `${failed.length} runs VIOLATED`
    } (seed ${seed}, ${seconds()} s)`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}
