import type { RunState } from '../../orchestrator/run/runState.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';

/**
 * Whether a run would find nothing to do: every story is done or put aside by its file, and no claim is left to be
 * checked again. Pure.
 * @param state of the folder's newest run
 */
export function isAllDone(
  file: StoryFile | undefined,
  { cutOff, storyRecords }: RunState,
): boolean {
  return (
    file?.kind === 'stories' &&
    file.stories.length > 0 &&
    file.stories.every(({ done, parked }) => done || parked === true) &&
    cutOff === undefined &&
    [...storyRecords.values()].every(({ refused }) => refused !== true)
  );
}
