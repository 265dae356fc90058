import { mkdir, open } from 'node:fs/promises';
import { requirePlainState } from './plainState.ts';
import { recordRequest } from './requests.ts';
import { newestRunId, type RunFiles } from './runFiles.ts';
import { ignoreStateDir } from './stateIgnore.ts';
import { cannotWriteTo, takeFileLock } from './takeFileLock.ts';

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
