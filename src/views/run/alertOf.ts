import { assertNever } from '../../base/assertNever.ts';
import { atWork } from '../../orchestrator/journal/atWork.ts';
import type { HeldReason, RunOutcome } from '../../orchestrator/journal/eventCodes.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { idAfter } from '../../orchestrator/journal/renumbering.ts';
import { type Lack, lackOf, runStanding } from '../../orchestrator/journal/runStanding.ts';
import {
  openQuestions,
  type RunState,
  storyNotes,
  storyRecord,
  WHOLE_TASK,
  waitingOf,
} from '../../orchestrator/journal/runState.ts';
import type { Question } from '../../orchestrator/journal/storyNotes.ts';
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
      /** With lanes: the other stories continue meanwhile. */
      readonly othersWork?: true;
    }
  /** The branch cannot follow what has landed. */
  | { readonly kind: 'held'; readonly reason: HeldReason }
  | {
      readonly kind: 'ended';
      readonly outcome: Exclude<RunOutcome, 'stopped'>;
      /** What a completed run is no good news without. */
      readonly lacks?: Lack;
    }
);

/**
 * The alerts for the current state of a run, the most urgent first; none while it makes progress, and none for what the
 * person requested. With lanes, there may be one for each story. Pure.
 */
export function alertsOf(run: WatchedRun): readonly RunAlert[] {
  const { state } = run;
  const { phase } = runStanding(run);
  switch (phase) {
    case 'none':
    case 'stopping':
      return [];
    case 'running': {
      const questions = questionAlerts(run);
      const stuck = questions.length > 0 && !state.isolated ? [] : stuckAlerts(state);
      return [...questions, ...stuck, ...heldAlerts(state)];
    }
    case 'interrupted':
      return [ended('interrupted', state)];
    case 'ended':
      return state.outcome === 'needsHuman'
        ? questionAlerts(run)
        : state.outcome === 'stopped'
          ? []
          : [ended(state.outcome ?? 'error', state)];
    default:
      return assertNever(phase);
  }
}

/**
 * An alert with the id by which the run knows its story now: without an id of its own, it may have got another number
 * since. Pure.
 * @param events of its run
 * @returns `undefined` if the story is gone
 */
export function asKnownNow(alert: RunAlert, events: readonly RunEvent[]): RunAlert | undefined {
  if (!('storyId' in alert) || alert.storyId === undefined) {
    return alert;
  }
  const began = events.findIndex(
    event => event.type === 'iteration.started' && event.iteration === alert.iteration,
  );
  const start = events[began];
  if (start?.type !== 'iteration.started' || start.storyId === undefined) {
    return alert;
  }
  const storyId = idAfter(start.storyId, events.slice(began));
  return storyId === undefined ? undefined : { ...alert, storyId };
}

/**
 * Whether an alert is outdated: VS Code shows a message until a person closes it, and its buttons would act on a
 * state that no longer exists. Pure.
 * @param run its current state @param runId run that the alert was about
 */
export function isPast(alert: RunAlert, run: WatchedRun, runId: string): boolean {
  if (alert.kind === 'ended') {
    // Somebody has started it again, in this window or elsewhere.
    return run.alive;
  }
  if (run.runId !== runId) {
    return true;
  }
  if (alert.kind === 'question') {
    return !questionsOf(run.state).some(({ iteration }) => iteration === alert.iteration);
  }
  if (alert.kind === 'held') {
    return run.state.held === undefined;
  }
  const { skipped, stuckFor } = storyRecord(run.state, alert.storyId ?? WHOLE_TASK);
  return skipped !== undefined || stuckFor < alert.iterations;
}

/** The questions that a person may answer, in the order in which they were asked; without lanes, only the newest. */
export function questionsOf(state: RunState): readonly Question[] {
  const questions = openQuestions(state);
  return state.isolated ? questions : questions.slice(-1);
}

/** Identifies a question: its story's next agent may ask another one, in this run or in the next. */
export interface AskedIn {
  readonly runId: string;
  readonly iteration: number;
}

/** A question, if nobody has answered it yet. Pure. */
export function openQuestion({ runId, state }: WatchedRun, asked: AskedIn): Question | undefined {
  return runId === asked.runId
    ? questionsOf(state).find(({ iteration }) => iteration === asked.iteration)
    : undefined;
}

function questionAlerts({ alive, state }: WatchedRun): readonly RunAlert[] {
  // With lanes, an answer helps at once, while others work. Otherwise a question that ends the run is reported after the
  // end: only then does an answer continue the run.
  const othersWork = alive && state.isolated === true && state.running.length > 0;
  if (alive && !othersWork && state.pause?.reason !== 'question') {
    return [];
  }
  return questionsOf(state).map(({ iteration, message, storyId }) => ({
    kind: 'question',
    cause: `question ${iteration}`,
    ...{ iteration, message, storyId, ended: !alive },
    ...(othersWork && { othersWork }),
  }));
}

function stuckAlerts(state: RunState): readonly RunAlert[] {
  const { lastIteration, pause } = state;
  const running = atWork(state).all;
  const ids =
    pause?.reason === 'stuck'
      ? [pause.storyId]
      : running.length > 0
        ? running.map(({ storyId }) => storyId)
        : [lastIteration?.storyId];
  return ids.flatMap(storyId => stuckAlert(state, storyId) ?? []);
}

function stuckAlert(state: RunState, storyId: string | undefined): RunAlert | undefined {
  const { pause, stuckThreshold } = state;
  const waits = pause?.reason === 'stuck';
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

/** Another git process is soon over, so nobody has to do anything about it. */
function heldAlerts({ held }: RunState): readonly RunAlert[] {
  return held === undefined || held.reason === 'locked'
    ? []
    : [
        {
          kind: 'held',
          cause: `held ${held.reason} ${held.files.join(' ')}`,
          reason: held.reason,
        },
      ];
}

function ended(outcome: Exclude<RunOutcome, 'stopped'>, state: RunState): RunAlert {
  const { endedAt, iteration, pid } = state;
  const lacks = lackOf({ ...state, outcome });
  return {
    kind: 'ended',
    cause: `ended ${outcome} ${endedAt ?? `${pid} ${iteration}`}`,
    outcome,
    ...(lacks && { lacks }),
  };
}
