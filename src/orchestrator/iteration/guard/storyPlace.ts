import { existsSync, lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { outsideProblem, realPlace } from '../../stories/outsideLinks.ts';
import { createFile } from './guard.ts';
import type { GuardChange } from './guardChanges.ts';

/** A larger file is no story file. */
const MAX_BYTES = 64 * 1024 * 1024;

/** What can stand at the place of a story file. */
type Standing = 'nothing' | 'file' | 'link' | 'folder' | 'pipe' | 'other';

/** What an agent put in the place of a story file. */
export type Replaced = Extract<GuardChange, { kind: 'fileReplaced' }>;

/** @returns where the story file leads, when it is a link; as the link itself says it */
export function linkOf(file: string): string | undefined {
  return standingAt(file) === 'link' ? readlinkSync(file) : undefined;
}

/**
 * Whether something else stands at the place of the story file than before.
 * @param link where the story file led before the iteration, when it was a link
 */
export function findReplaced(file: string, link: string | undefined): Replaced | undefined {
  const now = standingAt(file);
  // A program that writes a new file and renames it takes the place of a link without a thought.
  if (now === 'nothing' || now === 'file') {
    return undefined;
  }
  if (now !== 'link') {
    return { kind: 'fileReplaced', by: now };
  }
  const target = readlinkSync(file);
  return target === link && isFile(file) && outsideProblem(file) === undefined
    ? undefined
    : { kind: 'fileReplaced', by: 'link', target };
}

/**
 * Clears the place of the story file: a folder goes aside, anything else holds nothing that could be lost. What the agent
 * left behind its own link, within the repository, takes the place of the link; a link of before is made again.
 *
 * @param options.link as in {@link findReplaced}
 * @param options.asideDir absolute; on the same disk as a rule
 * @returns the absolute path of what was put aside
 * @throws {HumanError} when the place cannot be cleared
 */
export async function clearPlace(
  file: string,
  options: {
    readonly link: string | undefined;
    readonly beforeBytes: Buffer;
    readonly asideDir: string;
  },
): Promise<string | undefined> {
  try {
    return await clear(file, options);
  } catch (error) {
    if (error instanceof HumanError) {
      throw error;
    }
    throw new HumanError(
      say(
        'What stands in the place of {0} cannot be moved away: {1}. Move it, and put the story file back there.',
        file,
        (error as Error).message,
      ),
      { cause: error },
    );
  }
}

async function clear(
  file: string,
  { asideDir, beforeBytes, link }: Parameters<typeof clearPlace>[1],
): Promise<string | undefined> {
  let aside: string | undefined;
  let left: Buffer | undefined;
  const standing = standingAt(file);
  if (standing === 'folder') {
    await mkdir(asideDir, { recursive: true });
    aside = freePlace(path.join(asideDir, `instead-of-${path.basename(file)}`));
    await rename(file, aside);
  } else {
    left = standing === 'link' && link === undefined ? await behindLink(file) : undefined;
    await rm(file, { force: true });
  }
  if (link !== undefined) {
    await symlink(link, file);
    const target = realPlace(file);
    if (target !== undefined && outsideProblem(file) === undefined && !isFile(file)) {
      await createFile(target, beforeBytes);
    }
  } else if (left !== undefined) {
    await createFile(file, left);
  }
  return aside;
}

/** An iteration that was cut off is judged again, and what was put aside the first time stays. */
function freePlace(place: string): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? place : `${place}-${n}`;
    if (!existsSync(name)) {
      return name;
    }
  }
}

/** What an agent may have moved its story file to. */
async function behindLink(file: string): Promise<Buffer | undefined> {
  if (outsideProblem(file) !== undefined || !isFile(file)) {
    return undefined;
  }
  return (await stat(file)).size > MAX_BYTES ? undefined : readFile(file);
}

function isFile(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // A circle of links, or a folder on the way that nobody may enter.
    return false;
  }
}

function standingAt(file: string): Standing {
  const found = lookAt(file);
  if (found === undefined) {
    return 'nothing';
  }
  return found.isSymbolicLink()
    ? 'link'
    : found.isFile()
      ? 'file'
      : found.isDirectory()
        ? 'folder'
        : found.isFIFO()
          ? 'pipe'
          : 'other';
}

/** Below something that is no folder there is nothing. */
function lookAt(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') {
      return undefined;
    }
    throw error;
  }
}
