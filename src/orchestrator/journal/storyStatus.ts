import { runStanding, type SeenRun } from './runStanding.ts';
import { type RunState, storyNotes } from './runState.ts';
import type { StoryRecord } from './storyRecord.ts';

/** What runs know of a story beyond its file. */
export type StoryStatus =
  /** `step`: the agent has finished, and its work waits to land or is judged; or its call waits for a usage limit. */
  | {
      readonly kind: 'running';
      readonly iteration: number;
      readonly step?: 'queue' | 'gate' | 'review' | 'limit';
    }
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
  const current = state.running.findLast(({ storyId }) => storyId === id);
  if (current !== undefined && runStanding(run).isActive) {
    const { number: iteration } = current;
    const step = state.limits.has(iteration) ? 'limit' : current.step;
    return { kind: 'running', iteration, step: step === 'agent' ? undefined : step };
  }
  const record = states.findLast(({ storyRecords }) => storyRecords.has(id))?.storyRecords.get(id);
  if (done) {
    return { kind: doneKind(record) };
  }
  const { question } = storyNotes(state, id);
  return question === undefined
    ? record && openStatus(record, state.stuckThreshold)
    : { kind: 'needsYou', message: question.message };
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
