import { readStoryList } from '../orchestrator/stories/storyFile.ts';
import { idMeant } from '../orchestrator/stories/storyMeant.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { storyFileOf } from './storyFiles.ts';

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
