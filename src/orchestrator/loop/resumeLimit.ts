import type { RunState } from '../journal/runState.ts';

/** Suggested number of additional iterations. */
export const MORE_ITERATIONS = 20;

/** How many iterations to allow for a run that has used up all of its own; `undefined` if it can continue without. */
export function iterationsToResume(state: RunState): number | undefined {
  const { iteration, maxIterations } = state;
  return iteration >= maxIterations && !isLeftOpen(state) ? iteration + MORE_ITERATIONS : undefined;
}

/**
 * A person has solved the problem that prevented the judgment, and was asked to run again, or finished work waits to
 * land: that takes no new iteration.
 */
export function isLeftOpen({ cutOff, lostCommits, outcome, running }: RunState): boolean {
  return (
    [...cutOff, ...running].some(({ queued }) => queued) ||
    (outcome === 'error' && (cutOff.length > 0 || lostCommits !== undefined))
  );
}
