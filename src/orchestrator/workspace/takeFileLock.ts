import { createFolder } from '../../base/createFolder.ts';
import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { diskRefusal, noFolderOn } from '../../base/systemRefusal.ts';
import type { RunFiles } from './runFiles.ts';

/**
 * Takes the lock for reading and changing a file of the state, for milliseconds.
 * @param prepare creates what the state folder needs in addition
 * @param folder one that exists. A process holds one lock of a folder at a time, so a lock that is held while others are
 * taken needs another folder
 * @returns a function that releases it
 * @throws {HumanError} if the state folder cannot be written, or somebody else keeps the lock
 */
export async function takeFileLock(
  { stateDir }: RunFiles,
  file: string,
  prepare: () => Promise<void> = async () => undefined,
  folder = stateDir,
): Promise<() => Promise<void>> {
  try {
    await createFolder(stateDir);
    await prepare();
    const { lockAround } = await import('../../base/fileLock.ts');
    return await lockAround(folder, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOCKED') {
      throw new HumanError(
        say(
          'Another window or command line is still busy in {0}. Try again in a minute.',
          stateDir,
        ),
        { cause: error },
      );
    }
    throw cannotWriteTo(stateDir, error);
  }
}

/** The message for an error that occurred while writing to a folder of the state. */
export function cannotWriteTo(folder: string, error: unknown): HumanError {
  if (error instanceof HumanError) {
    return error;
  }
  const refused = diskRefusal(error, folder);
  if (refused !== undefined) {
    return new HumanError(refused, { cause: error });
  }
  const { code, path } = error as NodeJS.ErrnoException;
  return new HumanError(
    say(
      'Ralph cannot write its state to {0} ({1}). Make it a writable folder, or remove what is in its place.',
      (code === 'ENOTDIR' && path !== undefined ? noFolderOn(path) : undefined) ?? folder,
      code ?? messageOf(error),
    ),
    { cause: error },
  );
}
