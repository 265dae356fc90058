import path from 'node:path';
import { phaseOf } from '../orchestrator/run/runPhase.ts';
import type { WatchedRun } from '../orchestrator/run/runWatcher.ts';
import type { StoryCount } from '../orchestrator/run/storyCount.ts';
import type { Story, StoryFile } from '../orchestrator/stories/story.ts';

/**
 * Whether a story counts as done: its file says so, and no run works on it. What an agent claims counts when its
 * iteration is over, checks and review included. Pure.
 * @param run on the file of the story
 */
function countsAsDone({ done, id }: Pick<Story, 'done' | 'id'>, run: WatchedRun): boolean {
  const phase = phaseOf(run);
  const runs = phase === 'running' || phase === 'stopping';
  return done && !(runs && run.state.current?.storyId === id);
}

/**
 * Counts the stories of a file. Pure.
 * @param folder absolute path of its workspace folder
 * @param run the newest one of the folder, on whichever file
 */
export function countStories(
  file: StoryFile & { readonly kind: 'stories' },
  folder: string,
  run: WatchedRun,
): StoryCount {
  const isOnFile = !worksElsewhere(run, file, folder);
  const done = file.stories.filter(story => (isOnFile ? countsAsDone(story, run) : story.done));
  return { done: done.length, total: file.stories.length };
}

/** The run with the stories counted in its file where it can be: a person may have ticked since the run last looked. Pure. */
export function withFileCount(
  run: WatchedRun,
  file: StoryFile | undefined,
  folder: string,
): WatchedRun {
  return file?.kind !== 'stories' || worksElsewhere(run, file, folder)
    ? run
    : { ...run, state: { ...run.state, stories: countStories(file, folder, run) } };
}

function worksElsewhere({ state }: WatchedRun, file: StoryFile, folder: string): boolean {
  return state.storyFile !== undefined && path.resolve(folder, state.storyFile) !== file.path;
}
