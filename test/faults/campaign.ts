import { type FaultyRunReport, faultyRun } from './faultyRun.ts';
import { laneRun } from './laneRun.ts';
import { Random } from './random.ts';

export interface CampaignPlan {
  readonly seed: number;
  /** Minimum number of kills in all runs together. */
  readonly kills: number;
  readonly stories: number;
  /** Range of kills per run, chosen at random. */
  readonly killsPerRun: readonly [min: number, max: number];
  /** Number of agents at once; absent: one agent works in the user's tree. */
  readonly lanes?: number | undefined;
  /** Number of runs in parallel. */
  readonly parallel: number;
  /** Called after each run. */
  readonly onRun?: (report: FaultyRunReport) => void;
}

export interface CampaignReport {
  readonly runs: number;
  readonly kills: Readonly<Record<string, number>>;
  /** Runs with violations. */
  readonly failed: readonly FaultyRunReport[];
}

/** Runs with kills until there were enough of them. After a violation, no new runs start. */
export async function campaign(plan: CampaignPlan): Promise<CampaignReport> {
  const random = new Random(plan.seed);
  const reports: FaultyRunReport[] = [];
  const killed = () => reports.reduce((sum, { kills }) => sum + countOf(kills), 0);
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
      const report = await oneRun({ ...plan, seed, kills });
      planned -= kills;
      reports.push(report);
      plan.onRun?.(report);
    }
  };
  await Promise.all(Array.from({ length: plan.parallel }, worker));
  const kills: Record<string, number> = {};
  for (const [target, times] of reports.flatMap(report => Object.entries(report.kills))) {
    kills[target] = (kills[target] ?? 0) + times;
  }
  return {
    runs: reports.length,
    kills,
    failed: reports.filter(({ violations }) => violations.length > 0),
  };
}

/** One run of a campaign. */
export function oneRun({
  lanes,
  ...plan
}: Pick<CampaignPlan, 'seed' | 'stories' | 'kills' | 'lanes'>): Promise<FaultyRunReport> {
  return lanes === undefined ? faultyRun(plan) : laneRun({ ...plan, lanes });
}

/** The number of all kills. */
export function countOf(kills: Readonly<Record<string, number>>): number {
  return Object.values(kills).reduce((sum, times) => sum + times, 0);
}

/** What a person needs to investigate a failed run. */
export function describeFailure({ folder, log, seed, violations }: FaultyRunReport): string {
  return [
    `run with seed ${seed}, kept in ${folder}:`,
    ...log.map(line => `    ${line}`),
    ...violations.map(text => `  VIOLATION ${text}`),
  ].join('\n');
}
