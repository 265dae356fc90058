import { lstat, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../../base/replaceFile.ts';
import { isFolderText, unpackFolder } from '../formats/folderText.ts';
import { createStoryFile } from './createStoryFile.ts';

/**
 * Brings a folder from one state to another, both as in `folderText.ts`: only files that differ are touched, each in one
 * step, and only if it is as in the first state. A file that is not in the second state is removed.
 *
 * @returns false if a file has changed since; those before it, in the order of their names, are written
 */
export async function replaceInFolder(
  folder: string,
  before: Buffer,
  after: Buffer,
): Promise<boolean> {
  const [old, wanted] = [unpackFolder(before).files, unpackFolder(after).files];
  for (const name of [...new Set([...old.keys(), ...wanted.keys()])].sort()) {
    const [was, is] = [old.get(name), wanted.get(name)];
    if (was === is || (was !== undefined && is?.equals(was) === true)) {
      continue;
    }
    if (!(await replaceOne(path.join(folder, name), was, is))) {
      return false;
    }
  }
  return true;
}

/**
 * Creates a story file, or the files of a folder of stories.
 * @returns false if there is one by now
 */
export async function createSource(file: string, content: Buffer): Promise<boolean> {
  if (!isFolderText(content)) {
    return createStoryFile(file, content);
  }
  let isCreated = false;
  for (const [name, own] of unpackFolder(content).files) {
    isCreated = (await replaceOne(path.join(file, name), undefined, own)) || isCreated;
  }
  return isCreated;
}

async function replaceOne(
  file: string,
  was: Buffer | undefined,
  is: Buffer | undefined,
): Promise<boolean> {
  if (was !== undefined && is !== undefined) {
    return replaceFile(file, was, is);
  }
  const found = await lstat(file).catch(() => undefined);
  if (is !== undefined) {
    // A link or a pipe in the place of a task has no content to lose.
    if (found !== undefined && !found.isFile() && !found.isDirectory()) {
      await rm(file);
    }
    return createStoryFile(file, is);
  }
  if (was === undefined || found?.isFile() !== true || !was.equals(await readFile(file))) {
    return false;
  }
  await rm(file);
  return true;
}
