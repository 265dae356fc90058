import { currentOf } from '../../orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';

/** Id of the story that a run works on now, or waits for; none if the run is over. Pure. */
export function storyAtWork({ alive, state }: WatchedRun): string | undefined {
  return alive ? (currentOf(state)?.storyId ?? state.pause?.storyId) : undefined;
}
