import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from './humanError.ts';
import { say } from './say.ts';

/**
 * Creates a folder and those around it; nothing happens if it is there. The recursive `mkdir` of Node.js never ends
 * where a file system refuses a folder by saying that there is nothing, as `/proc` does.
 * @throws {HumanError} in such a place
 * @throws the system's error
 */
export async function createFolder(folder: string): Promise<void> {
  let failure = await refusal(folder);
  if (failure?.code === 'ENOENT' && path.dirname(folder) !== folder) {
    await createFolder(path.dirname(folder));
    failure = await refusal(folder);
    if (failure?.code === 'ENOENT') {
      throw new HumanError(
        say('There is no place for a folder at {0} (ENOENT). Name another one.', folder),
        { cause: failure },
      );
    }
  }
  if (failure !== undefined) {
    throw failure;
  }
}

/** Why a folder cannot be created; `undefined` if it is there now. */
async function refusal(folder: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(folder);
    return undefined;
  } catch (error) {
    // Also a link to a folder counts, and one that is there although it could not be created here.
    const found = await stat(folder).catch(() => undefined);
    return found?.isDirectory() ? undefined : (error as NodeJS.ErrnoException);
  }
}
