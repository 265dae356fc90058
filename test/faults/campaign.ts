import { type FaultyRunReport, faultyRun, type Target } from './faultyRun.ts';
import { Random } from './random.ts';

export interface CampaignPlan {
  readonly seed: number;
  /** Minimum number of kills in all runs together. */
  readonly kills: number;
  readonly stories: number;
  /** Range of kills per run, chosen at random. */
  readonly killsPerRun: readonly [min: number, max: number];
  /** Number of runs in parallel. */
  readonly parallel: number;
  /** Called after each run. */
  readonly onRun?: (report: FaultyRunReport) => void;
}

export interface CampaignReport {
  readonly runs: number;
  readonly kills: Readonly<Record<Target, number>>;
  /** Runs with violations. */
  readonly failed: readonly FaultyRunReport[];
}

/** Runs with kills until there were enough of them. After a violation, no new runs start. */
export async function campaign(plan: CampaignPlan): Promise<CampaignReport> {
  const random = new Random(plan.seed);
  const reports: FaultyRunReport[] = [];
  const killed = () =>
    reports.reduce((sum, { kills }) => sum + kills.loop + kills.agent + kills.both, 0);
  let planned = 0;
  const worker = async () => {
    while (
      planned + killed() < plan.kills &&
      reports.every(({ violations }) => violations.length === 0)
    ) {
      const wanted = plan.kills - planned - killed();
      const kills = Math.min(random.whole(...plan.killsPerRun), wanted);
      planned += kills;
      const seed = random.whole(1, 2 ** 31);
      const report = await faultyRun({ seed, stories: plan.stories, kills });
      planned -= kills;
      reports.push(report);
      plan.onRun?.(report);
    }
  };
  await Promise.all(Array.from({ length: plan.parallel }, worker));
  const sum = (target: Target) => reports.reduce((total, { kills }) => total + kills[target], 0);
  return {
    runs: reports.length,
    kills: { loop: sum('loop'), agent: sum('agent'), both: sum('both') },
    failed: reports.filter(({ violations }) => violations.length > 0),
  };
}

/** What a person needs to investigate a failed run. */
export function describeFailure({ folder, log, seed, violations }: FaultyRunReport): string {
  return [
    `run with seed ${seed}, kept in ${folder}:`,
    ...log.map(line => `    ${line}`),
    ...violations.map(text => `  VIOLATION ${text}`),
  ].join('\n');
}
