import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import {
  type SetStoryDoneOptions,
  type StorySelector,
  setStoryDone,
  type TickEdit,
} from '../stories/edit/edit.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { Bd, type BdOptions } from './beads/bd.ts';
import { beadsDatabase } from './beads/beadsDatabase.ts';

/** What may be done for a story file whose issues are kept by another program. */
export interface TrackerAccess extends BdOptions {
  /** False in Restricted Mode: no program is run. */
  readonly mayRun: boolean;
  /** Said to the tracker when an issue is closed. */
  readonly reason?: string;
}

/** How `bd` is installed, as its own documentation says. */
export const BD_INSTALL = 'npm install -g @beads/bd';

/**
 * Marks a story as done or not done where it is kept: in its file, or first in the database of Beads, of which the file
 * is only an export. @see setStoryDone
 * @throws {HumanError} if the database cannot be asked; nothing is changed then
 */
export async function setTrackedStoryDone(
  storyFile: string,
  selector: StorySelector,
  done: boolean,
  { access, ...options }: SetStoryDoneOptions & { readonly access: TrackerAccess },
): Promise<TickEdit> {
  const database = await beadsDatabase(storyFile);
  const story = (await readStoryList(storyFile))?.stories.find(({ id }) => id === selector.id);
  if (database === undefined || story === undefined) {
    return setStoryDone(storyFile, selector, done, options);
  }
  const { hasChanged } = await tellBeads(storyFile, story.id, done, access);
  // `bd` may have exported the file meanwhile; an id names an issue, whatever else has moved.
  const edit = await setStoryDone(storyFile, { id: story.id }, done, {});
  return { ...edit, changed: edit.changed || hasChanged };
}

/**
 * Closes or reopens an issue in the database of Beads, if it is not so already.
 * @throws {HumanError} if `bd` is not installed, may not run, or refuses
 */
export async function tellBeads(
  storyFile: string,
  id: string,
  done: boolean,
  { reason, ...access }: TrackerAccess,
): Promise<{ readonly hasChanged: boolean }> {
  const bd = await requireBd(storyFile, access);
  if ((await bd.isClosed(id)) === done) {
    return { hasChanged: false };
  }
  await (done ? bd.close(id, reason ?? 'Marked as done with Ralph Fresh') : bd.reopen(id));
  return { hasChanged: true };
}

/** @throws {HumanError} if it is not installed, or nothing may run */
export async function requireBd(
  storyFile: string,
  { mayRun, ...options }: Omit<TrackerAccess, 'reason'>,
): Promise<Bd> {
  if (!mayRun) {
    throw new HumanError(
      say(
        'These issues are in the database of Beads, which only its program bd may change. Trust this folder first: in Restricted Mode, nothing is run.',
      ),
    );
  }
  const bd = await Bd.find(storyFile, options);
  if (bd === undefined) {
    throw new HumanError(
      say(
        'These issues are in the database of Beads ({0}), of which {1} is only a copy, and its program bd was not found. Install it: {2}',
        (await beadsDatabase(storyFile)) ?? '.beads',
        storyFile,
        BD_INSTALL,
      ),
    );
  }
  return bd;
}
