import type { RunState } from '../journal/runState.ts';
import { asProven } from '../run/storiesLeft.ts';
import type { Story } from '../stories/story.ts';
import type { SettledStories } from '../trackers/tracker.ts';

/**
 * What is certain about the stories between two iterations: claims that were refused, and those that are still to be
 * judged, are not done. Pure.
 */
export function settledStories(stories: readonly Story[], state: RunState): SettledStories {
  const atWork = new Set([...state.running, ...state.cutOff].map(({ storyId }) => storyId));
  const settled = stories
    .filter(({ id }) => !atWork.has(id))
    .map(story => ({ id: story.id, done: asProven(story, state).done }));
  return {
    done: settled
      .filter(({ done }) => done)
      .map(({ id }) => ({
        id,
        commits: commitsOf(state, id),
        isOfRun: state.storyRecords.has(id),
      })),
    open: settled.flatMap(({ done, id }) => (!done && state.storyRecords.has(id) ? [id] : [])),
    branch: state.branch,
  };
}

/** Of work that has landed, only the commits that are on the branch. */
function commitsOf({ commits }: RunState, storyId: string): readonly string[] {
  const own = commits.filter(commit => commit.storyId === storyId);
  const landed = own.filter(commit => commit.landed);
  return (landed.length > 0 ? landed : own).map(({ hash }) => hash);
}
