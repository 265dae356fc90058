import { lstat } from 'node:fs/promises';

/** Whether anything has this path, also a link that leads nowhere. */
export async function exists(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => undefined)) !== undefined;
}

/** Whether a folder has this path; a link to one is none. */
export async function isFolder(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => undefined))?.isDirectory() === true;
}
