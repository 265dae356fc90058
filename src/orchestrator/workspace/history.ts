import type { RunState } from '../journal/runState.ts';
import { readRun } from './runCheckpoint.ts';
import type { RunFiles } from './runFiles.ts';
import { runIds } from './runIds.ts';

/**
 * Reads the states of all runs of a workspace, oldest first. Ended runs do not change, so each of them is read
 * once.
 */
export class RunHistory {
  private readonly files: RunFiles;
  private readonly ended = new Map<string, RunState>();

  constructor(files: RunFiles) {
    this.files = files;
  }

  /** @param except a run that the caller watches anyway */
  async read(except?: string): Promise<RunState[]> {
    const states: RunState[] = [];
    for (const runId of await runIds(this.files)) {
      if (runId === except) {
        continue;
      }
      const known = this.ended.get(runId);
      const state = known ?? (await readRun(this.files, runId));
      // A tick may still be appended to the newest journal after its run has ended, so only older ones are cached.
      if (state.phase === 'ended' && except !== undefined) {
        this.ended.set(runId, state);
      }
      states.push(state);
    }
    return states;
  }
}

/**
 * Reads the newest run and, of the others, as many as it takes until a run is found for each story: what is known of
 * a story comes from the newest run that knows it.
 * @param storyIds none: the newest run alone
 * @returns oldest first
 */
export async function runsAbout(
  files: RunFiles,
  storyIds: readonly string[] = [],
): Promise<RunState[]> {
  const states: RunState[] = [];
  const unknown = new Set(storyIds);
  for (const runId of (await runIds(files)).toReversed()) {
    const state = await readRun(files, runId);
    states.unshift(state);
    for (const id of state.storyRecords.keys()) {
      unknown.delete(id);
    }
    if (unknown.size === 0) {
      break;
    }
  }
  return states;
}
