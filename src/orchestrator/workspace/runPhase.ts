import type { RunState } from '../journal/runState.ts';
import type { WatchedRun } from './runWatcher.ts';

/** Where a run stands, for whoever watches it. `interrupted`: its loop was killed and wrote no end. */
export type RunPhase = 'none' | 'running' | 'stopping' | 'ended' | 'interrupted';

/** Whether its stories are still to be made by a planning agent. Pure. */
export function isPlanning({ iteration, prepare }: RunState): boolean {
  return prepare?.kind === 'plan' && iteration === 0;
}

/** Tells it from the journal and from whether the loop's process lives. Pure. */
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
