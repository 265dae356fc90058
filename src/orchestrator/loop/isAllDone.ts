import type { RunState } from '../journal/runState.ts';
import { nextStory } from '../stories/select.ts';
import type { StoryFile } from '../stories/story.ts';

/**
 * Whether a new run would have nothing to do: every story is done or deferred in its file, and no claim must be
 * checked again. Pure.
 * @param state of the folder's newest run
 * @param only ids of the stories that the run would work on; absent: all
 */
export function isAllDone(
  file: StoryFile | undefined,
  { cutOff, storyRecords }: RunState,
  only?: readonly string[],
): boolean {
  return (
    file?.kind === 'stories' &&
    nextStory(file.stories, only && { only: new Set(only) }).reason === 'allDone' &&
    cutOff.length === 0 &&
    [...storyRecords.values()].every(({ refused }) => refused !== true)
  );
}
