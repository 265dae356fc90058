import { mkdir, open } from 'node:fs/promises';
import {
  type SetStoryDoneOptions,
  type StorySelector,
  setStoryDone,
} from '../stories/edit/edit.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { requirePlainState } from './plainState.ts';
import { recordRequest } from './requests.ts';
import { newestRunId, type RunFiles } from './runFiles.ts';
import { ignoreStateDir } from './stateIgnore.ts';
import { cannotWriteTo, takeFileLock } from './takeFileLock.ts';

/**
 * A person sets a story done or not done: first in its file, then in the journal, where a run sees whose word it is. What
 * the file said already is no event.
 *
 * @param selector see {@link setStoryDone}
 * @param options.expectedHash of the file as the person saw it: else a position is not trusted
 * @param options.onWritten called when the file says so, whatever comes of the journal
 * @returns whether the file said something else before
 * @throws {HumanError} when nothing can be recorded, or the file cannot be changed; the file is as it was then
 */
export async function tickStory(
  files: RunFiles,
  storyFile: string,
  selector: StorySelector & { readonly id: string },
  done: boolean,
  options: SetStoryDoneOptions & { readonly onWritten?: () => void } = {},
): Promise<boolean> {
  const { onWritten, ...edit } = options;
  const named = (await readStoryList(storyFile))?.stories.filter(({ id }) => id === selector.id);
  // What changes nothing needs nothing to be written.
  if (named?.every(story => story.done === done) !== true) {
    await requireRecordable(files);
  }
  const { changed } = await setStoryDone(storyFile, selector, done, edit);
  if (changed) {
    onWritten?.();
    await recordTick(files, selector.id, done);
  }
  return changed;
}

/**
 * Looks whether {@link recordTick} can write, before the story's file is changed.
 * @throws {HumanError} when the state folder cannot be written
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

/** A file that is not there yet can be made: its folder has been written to. */
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

/** Puts into the journal that a person ticked or unticked a story; its file is written already. */
export async function recordTick(files: RunFiles, storyId: string, done: boolean): Promise<void> {
  await recordRequest(files, { type: 'tick', storyId, done });
}
