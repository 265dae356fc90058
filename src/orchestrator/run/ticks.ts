import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { requirePlainState } from './plainFile.ts';
import { recordRequest } from './requests.ts';
import { newestRunId, type RunFiles } from './runFiles.ts';
import { ignoreStateDir } from './stateIgnore.ts';
import { cannotWriteTo, takeFileLock } from './takeFileLock.ts';

/** As the system would call it. */
const EISDIR = { code: 'EISDIR' } as const;
const ENOTDIR = { code: 'ENOTDIR' } as const;

/**
 * Looks whether {@link recordTick} can write, before the story's file is changed.
 * @throws {HumanError} when the state folder cannot be written
 */
export async function requireRecordable(files: RunFiles): Promise<void> {
  requirePlainState(files);
  const release = await takeFileLock(files, files.lockFile, () => ignoreStateDir(files));
  await release();
  if ((await kindOf(files.lockFile)) === 'folder') {
    throw cannotWriteTo(files.lockFile, EISDIR);
  }
  if ((await kindOf(files.runsDir)) === 'file') {
    throw cannotWriteTo(files.runsDir, ENOTDIR);
  }
  const runId = await newestRunId(files);
  if (runId !== undefined) {
    await access(files.journalFile(runId), constants.W_OK).catch((error: unknown) => {
      throw cannotWriteTo(files.runDir(runId), error);
    });
    if ((await kindOf(files.journalFile(runId))) === 'folder') {
      throw cannotWriteTo(files.journalFile(runId), EISDIR);
    }
  }
}

async function kindOf(place: string): Promise<'folder' | 'file' | undefined> {
  try {
    return (await stat(place)).isDirectory() ? 'folder' : 'file';
  } catch {
    // Nothing is there, or nobody may look; then it cannot be written either, which has been tried.
    return undefined;
  }
}

/** Puts into the journal that a person ticked or unticked a story; its file is written already. */
export async function recordTick(files: RunFiles, storyId: string, done: boolean): Promise<void> {
  await recordRequest(files, { type: 'tick', storyId, done });
}
