import type { Words } from '../../base/say.ts';
import { type RunState, storyNotes, storyRecord } from './runState.ts';
import type { FailedCheck } from './storyNotes.ts';

/** Why the work of a story's last agent did not land. */
export type ReturnedWork = { readonly iteration: number } & (
  | { readonly reason: 'conflict'; readonly files: readonly string[] }
  | { readonly reason: 'checks'; readonly check: FailedCheck }
  | { readonly reason: 'review'; readonly objections: readonly Words[] }
  /** It cannot be read anymore, or nothing of it was committed. */
  | { readonly reason: 'other' }
);

/**
 * The work of a story that came back from the landing queue and waits for a fresh agent. Pure.
 * @returns `undefined` if its last agent's work did not come back, or the story has got another chance since
 */
export function returnedWork(state: RunState, storyId: string): ReturnedWork | undefined {
  const { conflict, failedCheck, lastIteration, review } = storyNotes(state, storyId);
  if (
    state.isolated !== true ||
    lastIteration?.outcome !== 'rejected' ||
    storyRecord(state, storyId).failures === 0
  ) {
    return undefined;
  }
  const { number: iteration } = lastIteration;
  if (conflict?.iteration === iteration) {
    return { iteration, reason: 'conflict', files: conflict.files };
  }
  if (failedCheck?.iteration === iteration) {
    return { iteration, reason: 'checks', check: failedCheck };
  }
  return review?.iteration === iteration
    ? { iteration, reason: 'review', objections: review.objections }
    : { iteration, reason: 'other' };
}

/** The stories whose work came back and that have no agent yet. Pure. */
export function returnedStories(
  state: RunState,
): readonly { readonly id: string; readonly work: ReturnedWork }[] {
  return [...state.storyRecords].flatMap(([id, { skipped }]) => {
    const isFree = skipped === undefined && !state.running.some(({ storyId }) => storyId === id);
    const work = isFree ? returnedWork(state, id) : undefined;
    return work === undefined ? [] : [{ id, work }];
  });
}
