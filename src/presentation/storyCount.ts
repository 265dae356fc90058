import path from 'node:path';
import { isActive } from '../orchestrator/journal/runStanding.ts';
import { openQuestions, storyNotes } from '../orchestrator/journal/runState.ts';
import { withoutOwnQuestion } from '../orchestrator/journal/stateChanges.ts';
import type { StoryCount } from '../orchestrator/journal/storyCount.ts';
import type { Story, StoryFile } from '../orchestrator/stories/story.ts';
import type { WatchedRun } from '../orchestrator/workspace/runWatcher.ts';
import { isUnjudged } from './storyState.ts';

/**
 * Whether a story counts as done: the file says so, and no run works on it. An agent's claim counts when its
 * iteration is over, checks and review included. If the run ended before that, the claim waits for them. Pure.
 * @param run on the file of the story
 */
function countsAsDone({ done, id }: Pick<Story, 'done' | 'id'>, run: WatchedRun): boolean {
  const { state } = run;
  if (isActive(run)) {
    return done && !state.running.some(({ storyId }) => storyId === id);
  }
  return done && !isUnjudged(id, run);
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

/**
 * The run with the stories counted in its file, if possible: a person may have ticked since the run last read it.
 * Pure.
 */
export function withFileCount(
  run: WatchedRun,
  file: StoryFile | undefined,
  folder: string,
): WatchedRun {
  return file?.kind !== 'stories' || worksElsewhere(run, file, folder)
    ? run
    : { ...run, state: { ...run.state, stories: countStories(file, folder, run) } };
}

/**
 * Like {@link withFileCount}, but only while the run works. The result of an ended run is final, whatever happens to
 * its stories. Its process outlives its end for a moment, in which a window may not have read the last agent's
 * changes. Pure.
 */
export function withFileCountUntilEnd(
  run: WatchedRun,
  file: StoryFile | undefined,
  folder: string,
): WatchedRun {
  return run.alive && run.state.phase !== 'ended' ? withFileCount(run, file, folder) : run;
}

/**
 * The run without the questions that nobody has to answer any more: after its end, a person may have finished a story
 * whose agent had asked something. What an agent asked while it finished its own story stays. Pure.
 */
export function withoutMoot(
  run: WatchedRun,
  file: StoryFile | undefined,
  folder: string,
): WatchedRun {
  const { alive, state } = run;
  const asked = alive ? [] : openQuestions(state);
  if (asked.length === 0 || file?.kind !== 'stories' || worksElsewhere(run, file, folder)) {
    return run;
  }
  const moot = asked.flatMap(({ iteration, storyId: id }) => {
    const last = id === undefined ? undefined : storyNotes(state, id).lastIteration;
    const isItsEnd = last?.number === iteration && last.outcome === 'storyDone';
    return id !== undefined && !isItsEnd && isDone(id, file) ? [id] : [];
  });
  return moot.length === 0 ? run : { ...run, state: moot.reduce(withoutOwnQuestion, state) };
}

/** If ids are repeated, only all stories with the id are certain to include the right one. */
function isDone(storyId: string, { stories }: StoryFile & { readonly kind: 'stories' }): boolean {
  const named = stories.filter(({ id }) => id === storyId);
  return named.length > 0 && named.every(({ done }) => done);
}

function worksElsewhere({ state }: WatchedRun, file: StoryFile, folder: string): boolean {
  return state.storyFile !== undefined && path.resolve(folder, state.storyFile) !== file.path;
}
