import type { StoryList } from './story.ts';
import { belongsAt, filesAt, readStoryList } from './storyFile.ts';
import { OTHER_STORY_FILE_PLACES, STORY_FILE_PLACES } from './storyPlaces.ts';

/**
 * All files at the known paths of a workspace that contain stories, in order of precedence.
 * @param workspace absolute path
 */
export async function findStorySources(workspace: string): Promise<StoryList[]> {
  const found: StoryList[] = [];
  for (const place of [...STORY_FILE_PLACES, ...OTHER_STORY_FILE_PLACES]) {
    for (const file of await filesAt(workspace, place)) {
      const list = await readStoryList(file);
      if (list !== undefined && belongsAt(place, list)) {
        found.push(list);
      }
    }
  }
  return found;
}
