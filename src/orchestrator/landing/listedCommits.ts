import { requireHuman } from '../../base/humanError.ts';
import type { Run } from '../run/run.ts';
import type { Scope } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import { listCommits } from '../stories/edit/edit.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { storyNow } from '../stories/storyNow.ts';

/**
 * Lists the commits of a story in the user's story file, if that has a list for them. Only a story that is done there
 * gets them, and the same twice changes nothing.
 * @returns whether the file has changed
 */
export async function listStoryCommits(
  { state, storyFile }: Pick<Run, 'state' | 'storyFile'>,
  { append, story }: Pick<Scope, 'append' | 'story'>,
): Promise<boolean> {
  if (storyFile === undefined || story === undefined) {
    return false;
  }
  const own = state().commits.filter(({ storyId }) => storyId === story.id);
  // What an agent committed in its own place is in the one that landed.
  const landed = own.filter(commit => commit.landed);
  const hashes = (landed.length > 0 ? landed : own).map(({ hash }) => hash);
  if (hashes.length === 0) {
    return false;
  }
  try {
    const list = await readStoryList(storyFile);
    const found = list && storyNow(list.stories, story);
    if (found?.done !== true) {
      return false;
    }
    return (await listCommits(storyFile, found, hashes)).changed;
  } catch (error) {
    requireHuman(error);
    warn({ append }, 'commitsNotListed', error.said);
    return false;
  }
}
