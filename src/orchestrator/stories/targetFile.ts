import { lstat, stat } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { isWithin } from '../../base/isWithin.ts';
import { say } from '../../base/say.ts';
import { systemRefusal } from '../../base/systemRefusal.ts';
import { realPlace } from './outsideLinks.ts';
import { isStoryFolder } from './storyFolder.ts';

/** Names of folders that are story lists of another tool, each of whose files may be a story. */
const LIST_FOLDERS: ReadonlySet<string> = new Set(['backlog', '.backlog']);

/**
 * What must hold before stories are written to a file that somebody has named: there is a file, or nothing yet. Opening
 * a pipe would wait forever, and a file in a folder of stories could be one of them.
 *
 * @param target absolute path
 * @param source file or folder that the stories come from
 * @returns whether there is a file
 * @throws {HumanError} if it must not be written
 */
export async function requireTarget(target: string, source?: string): Promise<boolean> {
  const list = listAround(target, source);
  if (list !== undefined) {
    throw new HumanError(
      say('{0} is in the story list {1}. Name a file outside of this folder.', target, list),
    );
  }
  const found = await look(stat, target);
  if (found === undefined) {
    if ((await look(lstat, target)) !== undefined) {
      throw new HumanError(
        say('{0} is a link that leads nowhere. Remove it, or name another file.', target),
      );
    }
    return false;
  }
  if (found.isDirectory()) {
    throw new HumanError(say('{0} is a folder. Name a file.', target));
  }
  if (!found.isFile()) {
    throw new HumanError(say('{0} is not a file. Name another one.', target));
  }
  return true;
}

/** Whether two paths lead to the same file, also through links of both kinds. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map(file => stat(file, { bigint: true }).catch(() => undefined)),
  );
  return (
    path.resolve(one) === path.resolve(other) ||
    (first !== undefined && first.ino === second?.ino && first.dev === second.dev)
  );
}

/** The folder with stories that a path is in. */
function listAround(target: string, source: string | undefined): string | undefined {
  const place = realPlace(target) ?? target;
  if (source !== undefined && isStoryFolder(source)) {
    const folder = realPlace(source) ?? source;
    if (place !== folder && isWithin(folder, place)) {
      return source;
    }
  }
  for (let at = path.dirname(place); at !== path.dirname(at); at = path.dirname(at)) {
    if (LIST_FOLDERS.has(path.basename(at)) && isStoryFolder(at)) {
      return at;
    }
  }
  return undefined;
}

/** @returns `undefined` if nothing is there */
async function look(how: typeof stat | typeof lstat, file: string) {
  try {
    return await how(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    const refused = systemRefusal(error);
    throw refused === undefined ? error : new HumanError(refused, { cause: error });
  }
}
