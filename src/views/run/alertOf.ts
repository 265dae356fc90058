import { assertNever } from '../../base/assertNever.ts';
import type { RunOutcome } from '../../orchestrator/journal/eventCodes.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import {
  currentOf,
  type RunState,
  storyNotes,
  storyRecord,
  WHOLE_TASK,
  waitingOf,
} from '../../orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';

/** Something about a run that requires the person's attention now. */
export type RunAlert = {
  /** Equal for the same cause, different for any other. */ readonly cause: string;
} & (
  | {
      readonly kind: 'stuck';
      /** Absent without stories. */
      readonly storyId?: string | undefined;
      readonly iterations: number;
      /** Whether the run waits; otherwise its next agent is warned, and it continues. */
      readonly waits: boolean;
      readonly iteration: number;
    }
  | {
      readonly kind: 'question';
      readonly message: string;
      readonly storyId?: string | undefined;
      readonly iteration: number;
      /** The run has ended because of it, and an answer continues it. */
      readonly ended: boolean;
    }
  | { readonly kind: 'ended'; readonly outcome: Exclude<RunOutcome, 'stopped'> }
);

/**
 * The alert for the current state of a run; none while it makes progress, and none for what the person requested.
 * Pure.
 */
export function alertOf(run: WatchedRun): RunAlert | undefined {
  const { state } = run;
  const { phase } = runStanding(run);
  switch (phase) {
    case 'none':
    case 'stopping':
      return undefined;
    case 'running':
      return questionAlert(run) ?? stuckAlert(state);
    case 'interrupted':
      return ended('interrupted', state);
    case 'ended':
      return state.outcome === 'needsHuman'
        ? questionAlert(run)
        : state.outcome === 'stopped'
          ? undefined
          : ended(state.outcome ?? 'error', state);
    default:
      return assertNever(phase);
  }
}

/**
 * Whether an alert is outdated: VS Code shows a message until a person closes it, and its buttons would act on a
 * state that no longer exists. Pure.
 * @param run its current state @param runId run that the alert was about
 */
export function isPast(alert: RunAlert, run: WatchedRun, runId: string): boolean {
  if (alert.kind === 'ended') {
    return false;
  }
  if (run.runId !== runId) {
    return true;
  }
  if (alert.kind === 'question') {
    return runStanding(run).question?.iteration !== alert.iteration;
  }
  const { skipped, stuckFor } = storyRecord(run.state, alert.storyId ?? WHOLE_TASK);
  return skipped !== undefined || stuckFor < alert.iterations;
}

function questionAlert(run: WatchedRun): RunAlert | undefined {
  const { question } = runStanding(run);
  const { alive, state } = run;
  // A question that ends the run is reported after the end: only then does an answer continue the run.
  if (question === undefined || (alive && state.pause?.reason !== 'question')) {
    return undefined;
  }
  const { iteration, message, storyId } = question;
  return {
    kind: 'question',
    cause: `question ${iteration}`,
    ...{ iteration, message, storyId, ended: !alive },
  };
}

function stuckAlert(state: RunState): RunAlert | undefined {
  const { lastIteration, pause, stuckThreshold } = state;
  const waits = pause?.reason === 'stuck';
  const storyId = waits ? pause.storyId : (currentOf(state)?.storyId ?? lastIteration?.storyId);
  const record = storyRecord(state, storyId ?? WHOLE_TASK);
  const iterations = record.stuckFor;
  if (
    record.skipped !== undefined ||
    stuckThreshold <= 0 ||
    iterations < stuckThreshold ||
    (waitingOf(state) !== undefined && !waits)
  ) {
    return undefined;
  }
  return {
    kind: 'stuck',
    // Once for the warning and once when the run waits, not after each further iteration.
    cause: `stuck ${waits ? 'waits' : 'warned'} ${record.iterations - iterations} ${storyId ?? ''}`,
    ...{
      storyId,
      iterations,
      waits,
      iteration: storyNotes(state, storyId).lastIteration?.number ?? 0,
    },
  };
}

function ended(
  outcome: Exclude<RunOutcome, 'stopped'>,
  { endedAt, iteration, pid }: RunState,
): RunAlert {
  return { kind: 'ended', cause: `ended ${outcome} ${endedAt ?? `${pid} ${iteration}`}`, outcome };
}
