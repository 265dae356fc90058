import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';

/** Id of the story that a run works on now, or waits for; a run that is over has none. Pure. */
export function storyAtWork({ alive, state }: WatchedRun): string | undefined {
  const waiting = state.waiting?.kind === 'pause' ? state.waiting.storyId : undefined;
  return alive ? (state.current?.storyId ?? waiting) : undefined;
}
