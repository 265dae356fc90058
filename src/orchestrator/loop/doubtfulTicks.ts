import type { RunEvent } from '../journal/events.ts';
import { foldRun } from '../journal/foldRun.ts';
import { type RunState, storyRecord } from '../journal/runState.ts';
import type { Story } from '../stories/story.ts';

/** The beginning of an interrupted iteration, as the journal knows it. */
export interface KnownBeginning {
  /** The hash of the copy of the story file; absent if there need not be one, or it has been replaced since. */
  readonly storyFileHash?: string;
  /** Number of stories that were done before the run, as far as the journal knows. */
  readonly doneBefore: number;
}

/** Pure. */
export function beginningOf(events: readonly RunEvent[], iteration: number): KnownBeginning {
  const at = events.findLastIndex(
    event => event.type === 'iteration.started' && event.iteration === iteration,
  );
  const started = events[at];
  if (started?.type !== 'iteration.started') {
    return { doneBefore: 0 };
  }
  // After a wait, the iteration may have begun anew, with another copy.
  const hasWaited = events.slice(at).some(({ type }) => type === 'limit.ended');
  const recorded = [...foldRun(events.slice(0, at)).storyRecords.values()];
  return {
    storyFileHash: hasWaited ? undefined : started.storyFileHash,
    doneBefore: started.stories.done - recorded.filter(({ doneBy }) => doneBy).length,
  };
}

/**
 * Done stories of which the journal does not say how they became so, if they are more than before the iteration: then
 * its agent has ticked some of them. Pure.
 * @param now the stories, by the numbers that the journal uses
 * @returns their ids; empty if they are not more
 */
export function doubtfulTicks(
  { doneBefore }: KnownBeginning,
  now: readonly Story[],
  { own, state }: { readonly own?: string | undefined; readonly state: RunState },
): readonly string[] {
  const unexplained = now.filter(
    ({ done, id }) => done && id !== own && storyRecord(state, id).doneBy === undefined,
  );
  return unexplained.length > doneBefore ? unexplained.map(({ id }) => id) : [];
}
