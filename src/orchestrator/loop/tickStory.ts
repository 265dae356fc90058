import { mkdir, open } from 'node:fs/promises';
import {
  type SetStoryDoneOptions,
  type StorySelector,
  setStoryDone,
  type TickEdit,
} from '../stories/edit/edit.ts';
import type { TickUndo } from '../stories/edit/tickUndo.ts';
import type { Story } from '../stories/story.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { type TrackerAccess, tellBeads } from '../trackers/beads/beadsAccess.ts';
import { beadsDatabase } from '../trackers/beads/beadsDatabase.ts';
import { recordRequest } from '../workspace/delivery.ts';
import { knownId, type NamedStory } from '../workspace/knownStories.ts';
import { livingRun } from '../workspace/livingRun.ts';
import { requirePlainState } from '../workspace/plainState.ts';
import { InboxReader } from '../workspace/request.ts';
import { readRun } from '../workspace/runCheckpoint.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { newestRunId, runIds } from '../workspace/runIds.ts';
import { ignoreStateDir } from '../workspace/stateIgnore.ts';
import { cannotWriteTo, takeFileLock } from '../workspace/takeFileLock.ts';

/** A person takes back what was ticked lately. */
const RUNS_SEARCHED = 20;

/**
 * Marks a story as done or not done for a person, or takes back an earlier mark exactly: first where it is kept, then in the journal, so that a run knows it
 * was a person. No event is written if the file already has this status. A run whose loop was killed is closed before:
 * what its agent left must not include the tick.
 *
 * @param selector see {@link setStoryDone}
 * @param options.expectedHash of the file as the person saw it; without it, a position is not trusted
 * @param options.onWritten called after the file has been changed, even if the journal then fails
 * @returns whether the file had another status before
 * @throws {HumanError} if nothing can be recorded, or the file cannot be changed; the file is unchanged then
 */
export async function tickStory(
  files: RunFiles,
  storyFile: string,
  selector: StorySelector & { readonly id: string },
  done: boolean,
  options: SetStoryDoneOptions & {
    readonly onWritten?: () => void;
    readonly access: TrackerAccess;
  },
): Promise<boolean> {
  const { onWritten, ...edit } = options;
  const named = (await readStoryList(storyFile))?.stories.filter(({ id }) => id === selector.id);
  // If nothing changes, nothing has to be writable.
  if (named?.every(story => story.done === done) !== true) {
    await requireRecordable(files);
    if ((await livingRun(files)) === undefined) {
      // Loaded on demand: few ticks follow a killed loop, and a window must start fast.
      const { closeRunFoundDead } = await import('./recovery.ts');
      await closeRunFoundDead(files);
    }
  }
  const isMeant = ({ position }: Story) => position === selector.position;
  const undos = await undosOf(files, selector.id);
  const { changed, undo } = await setDoneWhereKept(storyFile, selector, done, { ...edit, undos });
  if (changed) {
    onWritten?.();
    const { epic, title = selector.id } =
      (named?.length === 1 ? named[0] : named?.find(isMeant)) ?? {};
    await recordTick(files, { id: selector.id, epic, title }, done, undo);
  }
  return changed;
}

/**
 * Marks a story in its file, or first in the database of Beads, of which the file is only an export.
 * @throws {HumanError} if the database cannot be asked; nothing is changed then
 */
async function setDoneWhereKept(
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

/** What the last ticks of a story replaced: those that the loop has not read yet, and the last one in a journal. */
async function undosOf(files: RunFiles, storyId: string): Promise<TickUndo[]> {
  for (const runId of (await runIds(files)).slice(-RUNS_SEARCHED).toReversed()) {
    const requests = await new InboxReader(files.inboxFile(runId)).takeNew();
    const posted = requests.flatMap(request =>
      request.type === 'tick' && request.storyId === storyId ? [request.was] : [],
    );
    const { storyRecords } = await readRun(files, runId);
    const undos = [...posted.reverse(), storyRecords.get(storyId)?.was].filter(
      was => was !== undefined,
    );
    if (undos.length > 0) {
      return undos;
    }
  }
  return [];
}

/**
 * Checks whether {@link recordTick} can write, before the story file is changed.
 * @throws {HumanError} if the state folder cannot be written
 */
export async function requireRecordable(files: RunFiles): Promise<void> {
  requirePlainState(files);
  const release = await takeFileLock(files, files.lockFile, () => ignoreStateDir(files));
  await release();
  await requireWritable(files.lockFile);
  await mkdir(files.runsDir, { recursive: true }).catch((error: unknown) => {
    throw cannotWriteTo(files.runsDir, error);
  });
  const runId = await newestRunId(files);
  if (runId !== undefined) {
    await requireWritable(files.journalFile(runId));
  }
}

/** A missing file can be created: its folder has just been written to. */
async function requireWritable(file: string): Promise<void> {
  try {
    const handle = await open(file, 'r+');
    await handle.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw cannotWriteTo(file, error);
    }
  }
}

/**
 * Records in the journal that a person ticked or unticked a story, after its file was written.
 * @param story.title recognizes it if it has no id and a run knows it by another number
 */
export async function recordTick(
  files: RunFiles,
  { id: storyId, ...story }: NamedStory & { readonly id: string },
  done: boolean,
  was?: TickUndo,
): Promise<void> {
  const runId = await newestRunId(files);
  const known =
    runId === undefined ? storyId : await knownId(files, runId, { id: storyId, ...story });
  // A story that no run has read yet needs no record: its file says that it is done.
  if (known !== undefined) {
    await recordRequest(files, { type: 'tick', storyId: known, done, ...(was && { was }) });
  }
}
