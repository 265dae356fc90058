import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { COMPLETED, isTaskName, TASKS } from '../stories/formats/folderText.ts';
import { isStoryFolder, storyFolderFiles } from '../stories/storyFolder.ts';
import { type CopyOrder, folderIn } from './copiedFiles.ts';

/** The story file and the progress log for a place; of a folder of stories, its files. */
export interface OwnFiles {
  readonly orders: readonly CopyOrder[];
  /** The folders of tasks, from the top folder of the place. */
  readonly folders: readonly string[];
}

/**
 * @param files absolute paths in the user's tree
 * @param placeOf where a file belongs in a place; `undefined` if it is not in the repository
 */
export async function ownFiles(
  files: readonly (string | undefined)[],
  placeOf: (file: string) => Promise<string | undefined>,
): Promise<OwnFiles> {
  const orders: CopyOrder[] = [];
  const folders: string[] = [];
  for (const from of files) {
    const to = from === undefined ? undefined : await placeOf(from);
    if (from === undefined || to === undefined) {
      continue;
    }
    if (isStoryFolder(from)) {
      folders.push(...[TASKS, COMPLETED].map(list => path.posix.join(to, list)));
      const names = await storyFolderFiles(from);
      orders.push(
        ...names.map(name => ({ from: path.join(from, name), to: path.posix.join(to, name) })),
      );
    } else {
      orders.push({ from, to });
    }
  }
  return { orders, folders };
}

/**
 * Removes tasks that the user's tree does not have: one that the user has moved must not be there twice.
 * @param top real path of the place's top folder
 */
export async function removeOthers(top: string, { folders, orders }: OwnFiles): Promise<void> {
  const wanted = new Set(orders.map(({ to }) => to));
  for (const folder of folders) {
    const found = await lstat(path.join(top, folder)).catch(() => undefined);
    if (found?.isDirectory() === true) {
      const at = await folderIn(top, folder);
      const names = (await readdir(at)).filter(isTaskName);
      for (const name of names.filter(one => !wanted.has(path.posix.join(folder, one)))) {
        await rm(path.join(at, name), { force: true, recursive: true });
      }
    }
  }
}
