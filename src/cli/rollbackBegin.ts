import { UsageError } from '../base/usageError.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { readDecisions } from '../orchestrator/journal/journal.ts';
import { restorePoints } from '../orchestrator/workspace/restorePoints.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { type ChosenRun, noIteration } from './runs.ts';

/** Work of lanes that has reached the branch. */
export type Landed = Extract<RunEvent, { type: 'landing.landed' }>;

/** Where a rollback leads. */
export interface Begin {
  /** Hash of the commit. */
  readonly to: string;
  /** The run had lanes. */
  readonly isIsolated: boolean;
  /** What has landed since, in this order; the first is the iteration's own, if it has landed. */
  readonly gone: readonly Landed[];
  /** What had landed before. */
  readonly stays: readonly Landed[];
}

/**
 * The start of an iteration: its restore point, or, if git no longer has one, the commit that the journal names. The
 * work of lanes overlaps, so there it is the commit on which the iteration landed.
 * @throws {UsageError} naming the iterations that can be rolled back to
 */
export async function beginOf(
  files: RunFiles,
  chosen: ChosenRun,
  iteration: number,
): Promise<Begin> {
  const { runId } = chosen;
  const commits = new Map<number, string>();
  const landed: Landed[] = [];
  /** How much had landed when an iteration began. */
  const landedBefore = new Map<number, number>();
  /** Of the iterations that began without one. */
  const withoutCommit: number[] = [];
  let isIsolated = false;
  for (const event of await readDecisions(files.journalFile(runId))) {
    if (event.type === 'iteration.started' && event.startCommit !== undefined) {
      commits.set(event.iteration, event.startCommit);
      landedBefore.set(event.iteration, landed.length);
    } else if (event.type === 'iteration.started') {
      withoutCommit.push(event.iteration);
    } else if (event.type === 'run.started' || event.type === 'run.resumed') {
      isIsolated = event.isolated === true;
    } else if (event.type === 'landing.landed' && event.commit !== undefined) {
      landed.push(event);
    }
  }
  for (const point of await restorePoints(files.workspace, runId)) {
    commits.set(point.iteration, point.commit);
  }
  const own = landed.findIndex(event => event.iteration === iteration);
  const to = landed[own]?.onto ?? commits.get(iteration);
  if (to === undefined && withoutCommit.includes(iteration)) {
    throw new UsageError(
      `Iteration ${iteration} of run ${runId} began before the first commit, so there is nothing to go back to.`,
    );
  }
  if (to === undefined) {
    throw noIteration(
      iteration,
      chosen,
      [...commits.keys()].sort((a, b) => a - b),
      withoutCommit.filter(number => !commits.has(number)),
    );
  }
  const from = own === -1 ? (landedBefore.get(iteration) ?? landed.length) : own;
  return { to, isIsolated, gone: landed.slice(from), stays: landed.slice(0, from) };
}
