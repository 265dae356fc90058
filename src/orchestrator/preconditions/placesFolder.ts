import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { placesFolder as folderOf } from '../places/placesFolder.ts';
import type { Precondition } from './precondition.ts';
import { refusedIn } from './state.ts';

/** The folder for the places of the lanes is writable. */
export const placesFolder: Precondition = {
  id: 'places',
  async judge({ env, files, isIsolated }) {
    if (!isIsolated) {
      return undefined;
    }
    const folder = folderOf(env, process.platform, files.workspace);
    const refused = await refusedIn(await existing(folder));
    return refused === undefined
      ? { level: 'holds', message: `The places of the lanes are in ${folder}` }
      : { level: 'refuses', message: refused };
  },
};

/** The folder, or the nearest one above it. */
async function existing(folder: string): Promise<string> {
  for (let dir = folder; ; dir = path.dirname(dir)) {
    const isThere = await lstat(dir).then(
      () => true,
      () => false,
    );
    if (isThere || dir === path.dirname(dir)) {
      return dir;
    }
  }
}
