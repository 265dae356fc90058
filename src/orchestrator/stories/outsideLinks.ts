import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { isWithin } from '../../base/isWithin.ts';
import { type Message, say } from '../../base/say.ts';

/** A person's settings for links that lead out of a repository. */
export interface OutsideLinks {
  /** Absolute paths of files and folders that may be read and written through a link. */
  readonly allowed: readonly string[];
  /** The file with the settings; absent if there is no such file. */
  readonly settingsFile?: string | undefined;
}

/** A path with more links than this is a cycle. */
const MAX_LINKS = 40;

let ask: () => OutsideLinks = () => ({ allowed: [] });
const allowedNow = new Set<string>();

/**
 * Sets the function that reads a person's settings for links. It is only called if a link leads out of a
 * repository, which is rare, so commands need not read settings for it.
 */
export function askForOutsideLinks(answer: () => OutsideLinks): void {
  ask = answer;
}

/** Allows paths for the lifetime of this process. */
export function allowOutsideLinks(paths: readonly string[]): void {
  for (const place of paths) {
    allowedNow.add(place);
  }
}

/**
 * Checks a path for links out of the repository. A repository may contain links at the paths of a person's files:
 * what is read there would be sent to an agent, and what is written there would change unrelated files. Links
 * within the repository are allowed, and so is a link to the repository itself.
 *
 * @param file absolute path, unresolved; may not exist
 * @throws {HumanError} if the path leads out of its repository, and the person does not allow it
 */
export function requireInside(file: string): void {
  const problem = outsideProblem(file);
  if (problem !== undefined) {
    throw new HumanError(problem);
  }
}

/** Like {@link requireInside}, but returns the problem, or `undefined`. */
export function outsideProblem(file: string): Message | undefined {
  const target = realPlace(file);
  if (target === undefined) {
    return say('{0} is a link that leads in a circle. Put a file in its place.', file);
  }
  const root = realPlace(rootOf(file));
  if (target === file || (root !== undefined && isWithin(root, target))) {
    return undefined;
  }
  const { allowed, settingsFile } = ask();
  if ([...allowedNow, ...allowed].some(place => isWithin(realPlace(place) ?? place, target))) {
    return undefined;
  }
  return settingsFile === undefined
    ? say(
        '{0} is a link out of the repository, to {1}. Replace it with a file, or allow it with --outside-links {1} if it is intended.',
        file,
        target,
      )
    : say(
        '{0} is a link out of the repository, to {1}. Replace it with a file; or, if it is intended, allow it with "outsideLinks": {3} in your own {2}.',
        file,
        target,
        settingsFile,
        // Quoted, because the path may come from somebody else and is meant to be copied.
        JSON.stringify([target]),
      );
}

/**
 * The top folder of the work tree of a path: the nearest parent folder with a `.git` that is not a link itself,
 * because a link may lead to another repository. If all of them are links, the workspace was reached through one,
 * and the topmost is used. Outside of a repository, the parent folder of `.omc`, or that of the file.
 */
function rootOf(file: string): string {
  let highestLink: string | undefined;
  let aroundState: string | undefined;
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, '.git'))) {
      if (!isLink(folder)) {
        return folder;
      }
      highestLink = folder;
    }
    if (path.basename(folder) === '.omc') {
      aroundState ??= path.dirname(folder);
    }
    if (path.dirname(folder) === folder) {
      return highestLink ?? aroundState ?? path.dirname(file);
    }
  }
}

/** The nearest folder at or above a real path that has a `.git`; otherwise the folder itself. */
export function workTreeRoot(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) {
      return at;
    }
    if (path.dirname(at) === at) {
      return folder;
    }
  }
}

function isLink(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** The real path with all links resolved, even if nothing is there; `undefined` for a cycle. */
export function realPlace(file: string, links = 0): string | undefined {
  if (links > MAX_LINKS) {
    return undefined;
  }
  try {
    return realpathSync.native(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') {
      return undefined;
    }
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      // The system reports an error when it is opened.
      return path.resolve(file);
    }
  }
  const dir = path.dirname(file);
  const parent = dir === file ? file : realPlace(dir, links);
  if (parent === undefined) {
    return undefined;
  }
  const place = path.join(parent, path.basename(file));
  return isDanglingLink(place)
    ? realPlace(path.resolve(parent, readlinkSync(place)), links + 1)
    : place;
}

function isDanglingLink(place: string): boolean {
  try {
    return isLink(place);
  } catch {
    // If a parent is not a folder, nothing is there.
    return false;
  }
}
