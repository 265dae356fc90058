import type { RunState } from '../journal/runState.ts';
import { readRun } from './runCheckpoint.ts';
import { type RunFiles, runIds } from './runFiles.ts';

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
