import { type CurrentIteration, isCandidate } from './currentIteration.ts';
import { type Doing, doingOf } from './doing.ts';
import { type ReturnedWork, returnedWork } from './returnedWork.ts';
import { isActive, outcomeOf, type SeenRun } from './runStanding.ts';
import { INITIAL_RUN_STATE, type RunState, storyNotes, storyRecord } from './runState.ts';
import type { StoryRecord } from './storyRecord.ts';

/** The agent of a story, if it works in a lane. */
export interface AgentInLane {
  readonly lane: number;
  /** ISO 8601. */
  readonly since: string;
  readonly doing?: Doing;
  /** A person has paused the story: it gets no further agent after this one. */
  readonly isLast?: true;
}

/** What runs know of a story beyond its file. */
export type StoryStatus =
  /** `step`: the agent has finished, and its work is judged; or its call waits for a usage limit. */
  | {
      readonly kind: 'running';
      readonly iteration: number;
      readonly step?: 'gate' | 'review' | 'limit';
      readonly agent?: AgentInLane;
    }
  /** Its agent has finished, and its work waits to land. `isActive`: now; otherwise when the run continues. */
  | { readonly kind: 'queued'; readonly iteration: number; readonly isActive: boolean }
  /** What is to land is being checked or reviewed, or lands. */
  | { readonly kind: 'landing'; readonly iteration: number; readonly step?: 'gate' | 'review' }
  | { readonly kind: 'done' }
  | { readonly kind: 'doneByHand' }
  /** Its agent says so, but no check has confirmed it. */
  | { readonly kind: 'claimed' }
  /** The checks of the gate passed on the claim. */
  | { readonly kind: 'verified' }
  /** The reviewer approved the claim. */
  | { readonly kind: 'approved' }
  /** Skipped in this run. */
  | { readonly kind: 'skipped'; readonly by: 'person' | 'stuck' }
  /** Its agent has asked a question that nobody has answered. */
  | { readonly kind: 'needsYou'; readonly message: string }
  | { readonly kind: 'blocked'; readonly message: string }
  /** A person settles its conflict by hand, and no agent works on it. */
  | { readonly kind: 'settling' }
  /** A person wants no further agent for it now. */
  | { readonly kind: 'paused' }
  /** Its work did not land, and it is open again. */
  | { readonly kind: 'returned'; readonly times: number; readonly work: ReturnedWork }
  | { readonly kind: 'failed'; readonly times: number }
  | { readonly kind: 'stuck'; readonly iterations: number };

/**
 * What runs know of a story. The file takes precedence: a story that is done there has not failed. Pure.
 * @param run the newest one
 * @param states of all runs, oldest first; the newest run that knows the story is used
 * @returns `undefined` if they know no more than the file
 */
export function storyStatus(
  { id, done }: { readonly id: string; readonly done: boolean },
  run: SeenRun,
  states: readonly RunState[],
): StoryStatus | undefined {
  const { state } = run;
  const isWorking = isActive(run);
  const current = state.running.findLast(({ storyId }) => storyId === id);
  if (current !== undefined && isWorking) {
    return workStatus(current, state);
  }
  const known = states.findLast(({ storyRecords }) => storyRecords.has(id)) ?? INITIAL_RUN_STATE;
  const record = known.storyRecords.get(id);
  if (done) {
    return { kind: doneKind(record) };
  }
  const left = isWorking ? undefined : leftQueued(id, state);
  if (left !== undefined) {
    return { kind: 'queued', iteration: left.number, isActive: false };
  }
  const { question, settling } = storyNotes(state, id);
  if (settling !== undefined) {
    return { kind: 'settling' };
  }
  if (question !== undefined) {
    return { kind: 'needsYou', message: question.message };
  }
  const status = record && openStatus(record, state.stuckThreshold);
  if (status?.kind === 'skipped' || status?.kind === 'blocked') {
    return status;
  }
  if (storyRecord(state, id).paused && (isWorking || willContinue(run))) {
    return { kind: 'paused' };
  }
  const work = returnedWork(known, id);
  return work === undefined || status?.kind !== 'failed'
    ? status
    : { kind: 'returned', times: status.times, work };
}

/** What is done for a story by an active run. */
function workStatus(current: CurrentIteration, state: RunState): StoryStatus {
  const { activity, lane, number: iteration, queued, startedAt: since, storyId = '' } = current;
  const step =
    current.step === 'gate' || current.step === 'review' ? { step: current.step } : undefined;
  if (queued) {
    return isCandidate(current)
      ? { kind: 'landing', iteration, ...step }
      : { kind: 'queued', iteration, isActive: true };
  }
  const doing = doingOf(activity);
  const agent = lane !== undefined && {
    agent: {
      ...{ lane, since },
      ...(doing && { doing }),
      ...(storyRecord(state, storyId).paused && { isLast: true as const }),
    },
  };
  return {
    ...{ kind: 'running', iteration, ...agent },
    ...(state.limits.has(iteration) ? { step: 'limit' } : step),
  };
}

/** The iteration of a story whose work was still waiting to land when the run ended or was killed. */
function leftQueued(id: string, { cutOff, running }: RunState): CurrentIteration | undefined {
  return [...cutOff, ...running].findLast(({ queued, storyId }) => queued && storyId === id);
}

/** The next start continues it, so that what a person has paused stays paused. */
function willContinue(run: SeenRun): boolean {
  const outcome = outcomeOf(run);
  return outcome === 'stopped' || outcome === 'interrupted' || outcome === 'error';
}

/** A person's tick takes precedence, then the last judge: reviewer, checks, the agent itself. */
function doneKind(record: StoryRecord | undefined) {
  const { approved, doneBy, verified } = record ?? {};
  if (doneBy === 'hand') {
    return 'doneByHand';
  }
  return approved ? 'approved' : verified ? 'verified' : doneBy === 'agent' ? 'claimed' : 'done';
}

/**
 * Why a run leaves a story alone, or has trouble with it.
 * @param threshold iterations without progress after which a story is stuck; 0 disables this
 */
export function openStatus(record: StoryRecord, threshold: number): StoryStatus | undefined {
  const { blocked, failures, skipped, stuckFor } = record;
  if (skipped !== undefined) {
    return { kind: 'skipped', by: skipped };
  }
  if (blocked !== undefined) {
    return { kind: 'blocked', message: blocked };
  }
  if (failures > 0) {
    return { kind: 'failed', times: failures };
  }
  return threshold > 0 && stuckFor >= threshold
    ? { kind: 'stuck', iterations: stuckFor }
    : undefined;
}
