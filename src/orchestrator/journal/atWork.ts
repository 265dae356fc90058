import type { CurrentIteration } from './currentIteration.ts';
import { type RunState, type Waiting, waitingOf } from './runState.ts';

/** What the running iterations of a run are doing. */
export interface AtWork {
  /** All of them, in the order of their numbers: with lanes, they start in parallel. */
  readonly all: readonly CurrentIteration[];
  /** Their agents work; without lanes, or their work is judged. */
  readonly working: readonly CurrentIteration[];
  /** Their work waits to land, or is landing. */
  readonly landing: readonly CurrentIteration[];
  /** Their calls wait for a usage limit. */
  readonly limited: readonly CurrentIteration[];
}

/** Groups the running iterations by what they are doing. Pure. */
export function atWork({ limits, running }: Pick<RunState, 'limits' | 'running'>): AtWork {
  const all = [...running].sort((a, b) => a.number - b.number);
  const free = all.filter(({ number }) => !limits.has(number));
  return {
    all,
    working: free.filter(({ queued }) => !queued),
    landing: free.filter(({ queued }) => queued),
    limited: all.filter(({ number }) => limits.has(number)),
  };
}

/**
 * What the whole run waits for. With lanes, an agent may wait for a usage limit while others work on: then it is none.
 * Pure.
 */
export function waitingAsWhole(
  state: Pick<RunState, 'limits' | 'pause' | 'running'>,
): Waiting | undefined {
  const { landing, working } = atWork(state);
  return state.pause ?? (landing.length + working.length > 0 ? undefined : waitingOf(state));
}
