import { addStory } from '../stories/edit/addStory.ts';
import { type NewStory, originText } from '../stories/edit/newStory.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { beadsDatabase } from './beads/beadsDatabase.ts';
import { requireBd, type TrackerAccess } from './trackedStory.ts';

/**
 * Adds a story where the stories are kept: to their file, or to the database of Beads, of which the file is only an
 * export.
 * @returns its id there
 * @throws {HumanError} if there is no place for it; nothing is changed then
 */
export async function addTrackedStory(
  storyFile: string,
  story: NewStory,
  access: Pick<TrackerAccess, 'env' | 'mayRun'>,
): Promise<string> {
  if ((await beadsDatabase(storyFile)) === undefined) {
    return (await addStory(storyFile, story)).storyId;
  }
  const bd = await requireBd(storyFile, access);
  const id = await bd.create({
    title: story.title,
    description: originText(story),
    ...(story.from !== undefined && { discoveredFrom: story.from }),
  });
  if ((await readStoryList(storyFile))?.stories.some(one => one.id === id) !== true) {
    await bd.exportTo(storyFile);
  }
  return id;
}
