import { waitingAsWhole } from './atWork.ts';
import type { RunOutcome } from './eventCodes.ts';
import { questionOf, type RunState, type Waiting } from './runState.ts';
import type { Question } from './storyNotes.ts';

/** A run as its watchers see it. */
export interface SeenRun {
  readonly state: RunState;
  /** The loop's process is running. */
  readonly alive: boolean;
}

/** The phase of a run, for watchers. `interrupted`: its loop was killed and did not write an end. */
export type RunPhase = 'none' | 'running' | 'stopping' | 'ended' | 'interrupted';

/** See {@link lackOf}. */
export type Lack = 'branch' | 'commit';

/** What a run is doing now. */
export interface RunStanding {
  readonly phase: RunPhase;
  /** Its loop works: the phase is `running` or `stopping`. */
  readonly isActive: boolean;
  /** How it ended, or that it was killed. */
  readonly outcome: RunOutcome | undefined;
  /** What the living run waits for; nothing while an agent works. */
  readonly waiting: Waiting | undefined;
  /** The newest question of an agent that nobody has answered yet. */
  readonly question: Question | undefined;
  /** Ids of the stories that the living run works on, or waits for; with lanes, there may be several. */
  readonly storyIds: readonly string[];
  /** Id of such a story, if there is exactly one. */
  readonly storyId: string | undefined;
}

/** What a run is doing now, from its journal and from whether the loop's process is alive. Pure. */
export function runStanding(run: SeenRun): RunStanding {
  const { state, alive } = run;
  const phase = phaseOf(state, alive);
  const running = state.running.flatMap(({ storyId }) => storyId ?? []);
  const paused = state.pause?.storyId;
  const storyIds = !alive ? [] : running.length > 0 || paused === undefined ? running : [paused];
  return {
    phase,
    isActive: isActive(run),
    outcome: outcomeOf(run),
    waiting: alive ? waitingAsWhole(state) : undefined,
    question: questionOf(state),
    storyIds,
    storyId: storyIds.length === 1 ? storyIds[0] : undefined,
  };
}

/** {@link RunStanding.isActive} alone: it is asked for each story, and does not look at all of them. Pure. */
export function isActive({ state, alive }: SeenRun): boolean {
  const phase = phaseOf(state, alive);
  return phase === 'running' || phase === 'stopping';
}

/** {@link RunStanding.outcome} alone, for the same reason. Pure. */
export function outcomeOf({ state, alive }: SeenRun): RunOutcome | undefined {
  const phase = phaseOf(state, alive);
  return phase === 'interrupted' ? phase : state.outcome;
}

/**
 * What a completed run is no success without, although its stories are done: its branch lacks what has landed, or
 * a story is not committed. Files that agents left besides can be anything, and are only named. Pure.
 */
export function lackOf({
  held,
  outcome,
  uncommitted,
}: Partial<Pick<RunState, 'held' | 'outcome' | 'uncommitted'>>): Lack | undefined {
  return outcome !== 'completed'
    ? undefined
    : held !== undefined
      ? 'branch'
      : uncommitted !== undefined && uncommitted.storyIds.length > 0
        ? 'commit'
        : undefined;
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
