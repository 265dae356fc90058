import { requireFolder } from '../common/workspaceFolder.ts';
import type { Folder } from './folder.ts';
import type { Folders } from './folders.ts';

/**
 * The folder that a command works in: the one its argument names, otherwise the active one. It becomes the active
 * one.
 * @throws {MendableError} if there is none
 */
export function folderOf(folders: Folders, path: string | undefined): Folder {
  const folder = requireFolder(folders.at(path));
  folders.activate(folder);
  return folder;
}

/**
 * Alerts and the status bar pass the folder if they mean no story of it. @returns `undefined` for the active folder
 */
export function folderPathOf(argument: unknown): string | undefined {
  return typeof argument === 'object' && argument !== null && 'folder' in argument
    ? String(argument.folder)
    : undefined;
}
