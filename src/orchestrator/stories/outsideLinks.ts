import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';

/** What a person allows for links that lead out of a repository. */
export interface OutsideLinks {
  /** Absolute paths of files and folders that may be read and written through a link. */
  readonly allowed: readonly string[];
  /** Where a person allows more; absent where there is no such file. */
  readonly settingsFile?: string | undefined;
}

/** More links than this on one way are a circle. */
const MAX_LINKS = 40;

let ask: () => OutsideLinks = () => ({ allowed: [] });
const allowedNow = new Set<string>();

/**
 * Tells where a person's own settings stand on links. Asked only when a link leads out of a repository, which is rare: no
 * command has to read settings for it.
 */
export function askForOutsideLinks(answer: () => OutsideLinks): void {
  ask = answer;
}

/** Allows paths for as long as this process lives. */
export function allowOutsideLinks(paths: readonly string[]): void {
  for (const place of paths) {
    allowedNow.add(place);
  }
}

/**
 * A repository may ship links at the places of a person's files: what is read there goes to an agent, and what is written
 * there lands in files that nobody meant. Links within the repository are fine, and so is one to the repository itself.
 *
 * @param file absolute path, as it is named; need not exist
 * @throws {HumanError} when the way to it leads out of its repository, and the person does not allow that place
 */
export function requireInside(file: string): void {
  const problem = outsideProblem(file);
  if (problem !== undefined) {
    throw new HumanError(problem);
  }
}

/** As {@link requireInside}: what is wrong, or `undefined`. */
export function outsideProblem(file: string): string | undefined {
  const target = realPlace(file);
  if (target === undefined) {
    return say('{0} is a link that leads in a circle. Put a file in its place.', file);
  }
  if (target === file || isWithin(realPlace(rootOf(file)) ?? '', target)) {
    return undefined;
  }
  const { allowed, settingsFile } = ask();
  if ([...allowedNow, ...allowed].some(place => isWithin(realPlace(place) ?? place, target))) {
    return undefined;
  }
  return settingsFile === undefined
    ? say(
        '{0} leads out of the repository, to {1}. Put a file in place of the link, or allow it with --outside-links {1} if you mean it.',
        file,
        target,
      )
    : say(
        '{0} leads out of the repository, to {1}. Put a file in place of the link; or, if you mean it, allow it with "outsideLinks": {3} in your own {2}.',
        file,
        target,
        settingsFile,
        // The place may come from somebody else, and is to be copied.
        JSON.stringify([target]),
      );
}

/** Whether a place is a folder or below it. Both real paths. */
function isWithin(folder: string, place: string): boolean {
  const relative = path.relative(folder, place);
  return (
    folder !== '' &&
    relative !== '..' &&
    !relative.startsWith(`..${path.sep}`) &&
    !path.isAbsolute(relative)
  );
}

/**
 * The top folder of the work tree that a path names: the nearest folder above with a `.git` that is no link itself, since
 * a link may lead to another repository. Where all of them are links, the workspace is reached by one: the highest. Outside
 * of a repository the folder around `.omc`, or that of the file.
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

/** The nearest folder at or above a real path that has a `.git`; else the folder itself. */
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

/** Where a path leads by all its links, also when nothing is there; `undefined` for a circle. */
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
      // Whoever opens it is told by the system.
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
    // Below something that is no folder there is nothing.
    return false;
  }
}
