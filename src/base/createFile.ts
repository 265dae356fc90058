import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, renameSync } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { createFolder } from './createFolder.ts';

/** What follows the name of a file while {@link createFile} writes it: the pid, and something that is unique. */
export const UNFINISHED = /^\.(\d+)-[0-9a-f]{12}\.tmp$/;

/**
 * Creates a file with all its content or not at all, and its folder. What exists at this path stays as it is, even a
 * broken link.
 * @param content is on the disk before the file has its name
 * @returns false if something exists there
 * @throws the system's error if it cannot be written; nothing is left behind then
 */
export async function createFile(file: string, content: string | Buffer): Promise<boolean> {
  await createFolder(path.dirname(file));
  const temporary = `${file}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeNew(temporary, content);
    return await putInPlace(temporary, file);
  } finally {
    // To remove what cannot be there would be an error of its own, such as for a name that is too long.
    if (existsSync(temporary)) {
      await rm(temporary, { force: true });
    }
  }
}

/** Writes and syncs a file that must not exist yet. A failure may leave a part of it. */
export async function writeNew(file: string, content: string | Buffer): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** @returns false if something exists at the path by now */
async function putInPlace(temporary: string, file: string): Promise<boolean> {
  try {
    // Unlike a rename, a hard link never replaces an existing file.
    await link(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return false;
    }
    // Not every file system has hard links. The last look and the rename are one synchronous step.
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
      return false;
    }
    renameSync(temporary, file);
    return true;
  }
}
