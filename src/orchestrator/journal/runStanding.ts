import type { RunOutcome } from './eventCodes.ts';
import { currentOf, questionOf, type RunState, type Waiting, waitingOf } from './runState.ts';
import type { Question } from './storyNotes.ts';

/** A run as its watchers see it. */
export interface SeenRun {
  readonly state: RunState;
  /** The loop's process is running. */
  readonly alive: boolean;
}

/** The phase of a run, for watchers. `interrupted`: its loop was killed and did not write an end. */
export type RunPhase = 'none' | 'running' | 'stopping' | 'ended' | 'interrupted';

/** What a run is doing now. */
export interface RunStanding {
  readonly phase: RunPhase;
  /** Its loop works: the phase is `running` or `stopping`. */
  readonly isActive: boolean;
  /** How it ended, or that it was killed. */
  readonly outcome: RunOutcome | undefined;
  /** What the living run waits for. */
  readonly waiting: Waiting | undefined;
  /** The agent's question that nobody has answered yet. */
  readonly question: Question | undefined;
  /** Id of the story that the living run works on, or waits for. */
  readonly storyId: string | undefined;
}

/** What a run is doing now, from its journal and from whether the loop's process is alive. Pure. */
export function runStanding({ state, alive }: SeenRun): RunStanding {
  const phase = phaseOf(state, alive);
  return {
    phase,
    isActive: phase === 'running' || phase === 'stopping',
    outcome: phase === 'interrupted' ? phase : state.outcome,
    waiting: alive ? waitingOf(state) : undefined,
    question: questionOf(state),
    storyId: alive ? (currentOf(state)?.storyId ?? state.pause?.storyId) : undefined,
  };
}

function phaseOf({ phase }: RunState, alive: boolean): RunPhase {
  switch (phase) {
    case 'idle':
      return 'none';
    case 'ended':
      return phase;
    default:
      return alive ? phase : 'interrupted';
  }
}

/** Whether a planning agent must still create its stories. Pure. */
export function isPlanning({ iteration, prepare }: RunState): boolean {
  return prepare?.kind === 'plan' && iteration === 0;
}
