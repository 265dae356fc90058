import { lstatSync } from 'node:fs';
import path from 'node:path';
import { decodeText } from '../../../base/decodeText.ts';
import { readPlainFile } from '../../../base/plainFile.ts';

/** Where a new Pin is written, relative to its project. */
export const NEW_PIN = 'specs/INDEX.md';
/** Where the Pin of a project can be, relative to it; the first one that exists is used. */
const PLACES = [NEW_PIN, '.ralph/specs/INDEX.md'] as const;
/** Nobody reads more keywords. */
const MAX_BYTES = 1024 * 1024;

/** The path of the Pin relative to a project, with forward slashes; `undefined` if it has none. */
export function pinPathIn(dir: string): string | undefined {
  return PLACES.find(place => isThere(path.join(dir, place)));
}

/** The text of a project's Pin; `undefined` if there is none that can be read, or it is a link. */
export async function readPinText(dir: string): Promise<string | undefined> {
  const place = pinPathIn(dir);
  const bytes =
    place === undefined ? undefined : await readPlainFile(path.join(dir, place), MAX_BYTES);
  const decoded = bytes && decodeText(bytes);
  return decoded?.problem === undefined ? decoded?.text : undefined;
}

function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A parent is a file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') {
      return false;
    }
    throw error;
  }
}
