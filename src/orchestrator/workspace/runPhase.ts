import type { RunState } from '../journal/runState.ts';
import type { WatchedRun } from './runWatcher.ts';

/** The phase of a run, for watchers. `interrupted`: its loop was killed and did not write an end. */
export type RunPhase = 'none' | 'running' | 'stopping' | 'ended' | 'interrupted';

/** Whether a planning agent must still create its stories. Pure. */
export function isPlanning({ iteration, prepare }: RunState): boolean {
  return prepare?.kind === 'plan' && iteration === 0;
}

/** Derives the phase from the journal and from whether the loop's process is alive. Pure. */
export function phaseOf({ state, alive }: Pick<WatchedRun, 'state' | 'alive'>): RunPhase {
  switch (state.phase) {
    case 'idle':
      return 'none';
    case 'ended':
      return 'ended';
    default:
      return alive ? state.phase : 'interrupted';
  }
}
