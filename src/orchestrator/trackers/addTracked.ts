import { requireHuman } from '../../base/humanError.ts';
import { type Message, say, sentences } from '../../base/say.ts';
import { addStory, requireNoTwin } from '../stories/edit/addStory.ts';
import { type NewStory, originText } from '../stories/edit/newStory.ts';
import { reportNote } from '../stories/reportNote.ts';
import { readStoryList } from '../stories/storyFile.ts';
import type { Bd } from './beads/bd.ts';
import { requireBd, type TrackerAccess } from './beads/beadsAccess.ts';
import { beadsDatabase } from './beads/beadsDatabase.ts';

export interface AddAccess extends Pick<TrackerAccess, 'env' | 'mayRun' | 'signal'> {
  /** Gets what failed after the story was added where it is kept. */
  readonly onWarning: (warning: Message) => void;
}

/**
 * Adds a story where the stories are kept: to their file, or to the database of Beads, of which the file is only an
 * export. The issue there names the id that the story had before, so that it is not created twice if nobody could
 * record that it was. Of the file, only the new line changes.
 * @returns its id there
 * @throws {HumanError} if there is no place for it; nothing is changed then
 */
export async function addTrackedStory(
  storyFile: string,
  story: NewStory,
  { onWarning, ...access }: AddAccess,
): Promise<string> {
  if ((await beadsDatabase(storyFile)) === undefined) {
    return (await addStory(storyFile, story)).storyId;
  }
  const bd = await requireBd(storyFile, access);
  const note = reportNote(story.id);
  const description = [originText(story), note].filter(text => text !== '').join('\n\n');
  const known = await bd.findNoted(note);
  if (known === undefined) {
    requireNoTwin(storyFile, (await readStoryList(storyFile))?.stories ?? [], story);
  }
  const id = known ?? (await createIssue(bd, story, description));
  try {
    if ((await readStoryList(storyFile))?.stories.some(one => one.id === id) !== true) {
      await addStory(storyFile, { ...story, id, why: description });
    }
  } catch (error) {
    requireHuman(error);
    onWarning(
      sentences([
        say('{0} is in the database of Beads, but could not be added to {1}.', id, storyFile),
        error.said,
        say('"bd show {0}" has it; "bd export" writes it.', id),
      ]),
    );
  }
  return id;
}

function createIssue(bd: Bd, story: NewStory, description: string): Promise<string> {
  return bd.create({
    title: story.title,
    description,
    discoveredFrom: story.from,
  });
}
