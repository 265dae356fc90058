import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, link, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { tooLongName } from '../../../base/systemRefusal.ts';

/** @returns false if a file exists by now */
export async function createFile(file: string, content: Buffer): Promise<boolean> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(temporary, content, { flag: 'wx' });
    return await linkTo(temporary, file);
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG';
    throw new HumanError(
      isTooLong
        ? tooLongName(file)
        : say('{0} cannot be written: {1}', file, (error as Error).message),
      { cause: error },
    );
  } finally {
    // To remove what cannot be there would be an error of its own, such as for a name that is too long.
    if (existsSync(temporary)) {
      await rm(temporary, { force: true });
    }
  }
}

/** Unlike a rename, a hard link never replaces an existing file; not every file system has them. */
async function linkTo(temporary: string, file: string): Promise<boolean> {
  const isTaken = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EEXIST';
  try {
    await link(temporary, file).catch(error => {
      if (isTaken(error)) {
        throw error;
      }
      return copyFile(temporary, file, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (isTaken(error)) {
      return false;
    }
    throw error;
  }
}
