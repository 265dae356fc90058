import { shorten } from '../base/text.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import type { Story } from '../orchestrator/stories/story.ts';
import { readStoryList } from '../orchestrator/stories/storyFile.ts';
import { idMeant, storyMeant } from '../orchestrator/stories/storyMeant.ts';
import { knownId, knownIds, requireKnownId } from '../orchestrator/workspace/knownStories.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { storyFileOf } from './storyFiles.ts';

/** Of an id in a message, in UTF-16 units. */
const MAX_SHOWN = 80;

/**
 * The id that a person means, where the story need not be in the story file any more: among the stories there and those
 * that runs or places know, the same that {@link idMeant} finds. What means none of them stays as it was typed, so that
 * the message of the command names it.
 */
export async function typedId(
  files: RunFiles,
  typed: string,
  known: Iterable<string>,
  file?: string,
): Promise<string> {
  const path = await storyFileOf(files, file);
  const list = path === undefined ? undefined : await readStoryList(path);
  const ids = [...(list?.stories.map(({ id }) => id) ?? []), ...known];
  return idMeant(list?.format, ids, typed) ?? typed;
}

/**
 * The id by which a run knows a story of the file; without a run, its own.
 * @returns `undefined` if that is not certain
 */
export async function idInRun(
  files: RunFiles,
  state: Pick<RunState, 'runId'> | undefined,
  story: Story,
): Promise<string | undefined> {
  return state?.runId === undefined ? story.id : knownId(files, state.runId, story);
}

/**
 * {@link idInRun}, for what has an effect on the story.
 * @throws {HumanError} if it is not certain
 */
export async function requireIdInRun(
  files: RunFiles,
  state: Pick<RunState, 'runId'> | undefined,
  story: Story,
): Promise<string> {
  return state?.runId === undefined ? story.id : requireKnownId(files, state.runId, story);
}

/** The stories of the file as a person sees them, and the ids by which a run knows them. */
export async function storiesAsShown(files: RunFiles, { runId }: Pick<RunState, 'runId'>) {
  const path = await storyFileOf(files, undefined);
  const list = path === undefined ? undefined : await readStoryList(path);
  const idOf =
    runId === undefined
      ? (story: Story): string | undefined => story.id
      : await knownIds(files, runId);
  const byId = new Map(list?.stories.map(story => [idOf(story), story.id]));
  return {
    /** The story that is called like this. */
    meant: (typed: string) => list && storyMeant(list, typed),
    /** The id in the file of a story that the run knows by this one. */
    nameOf: (id: string) => byId.get(id) ?? id,
  };
}

/** An id in a message. */
export function named(storyId: string): string {
  return shorten(storyId, MAX_SHOWN);
}
