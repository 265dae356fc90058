import { questionOf } from '../../orchestrator/journal/runState.ts';
import type { Question } from '../../orchestrator/journal/storyNotes.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';

/** The agent's question that can still be answered, of a living run or one that ended because of it. Pure. */
export function openQuestion({ alive, state }: WatchedRun): Question | undefined {
  return alive || state.outcome === 'needsHuman' ? questionOf(state) : undefined;
}
