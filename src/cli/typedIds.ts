import { shorten } from '../base/text.ts';
import { readStoryList } from '../orchestrator/stories/storyFile.ts';
import { idMeant } from '../orchestrator/stories/storyMeant.ts';
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

/** An id in a message. */
export function named(storyId: string): string {
  return shorten(storyId, MAX_SHOWN);
}
