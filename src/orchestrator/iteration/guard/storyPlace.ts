import { existsSync, lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { createSource } from '../../stories/edit/folderEdit.ts';
import { isFolderText } from '../../stories/formats/folderText.ts';
import { outsideProblem, realPlace } from '../../stories/outsideLinks.ts';
import { readStoryBytes } from '../../stories/storyFile.ts';
import { isStoryFolder } from '../../stories/storyFolder.ts';
import type { GuardChange } from './guardChanges.ts';

/** What can be at the path of a story file. */
type Standing = 'nothing' | 'file' | 'link' | 'folder' | 'pipe' | 'other';

/** What an agent has replaced a story file with. */
export type Replaced = Extract<GuardChange, { kind: 'fileReplaced' }>;

/** @returns the story file's target if it is a link, unresolved */
export function linkOf(file: string): string | undefined {
  return standingAt(file) === 'link' ? readlinkSync(file) : undefined;
}

/**
 * Whether the story file, or the folder of stories, has been replaced by something else.
 * @param options.link its target before the iteration, if it was a link
 * @param options.wasFolder whether it was a folder
 */
export function findReplaced(
  file: string,
  { link, wasFolder }: { readonly link: string | undefined; readonly wasFolder: boolean },
): Replaced | undefined {
  const now = standingAt(file);
  // A program that writes a new file and renames it often replaces a link unintentionally.
  if (now === 'nothing' || now === (wasFolder ? 'folder' : 'file')) {
    return undefined;
  }
  if (now !== 'link') {
    return { kind: 'fileReplaced', by: now };
  }
  const target = readlinkSync(file);
  const isThere = wasFolder ? isStoryFolder(file) : isFile(file);
  return target === link && isThere && outsideProblem(file) === undefined
    ? undefined
    : { kind: 'fileReplaced', by: 'link', target };
}

/**
 * Clears the path of the story file: a folder is moved aside; anything else has no content to lose. If the agent's
 * own link leads to a file in the repository, that file replaces the link; a previous link is created again.
 *
 * @param options.link as in {@link findReplaced}
 * @param options.asideDir absolute; usually on the same disk
 * @returns the absolute path of the moved folder
 * @throws {HumanError} if the path cannot be cleared
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
        'What is in the place of {0} cannot be moved out of the way: {1}. Move it, and restore the story file there.',
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
  // Where a folder of stories was, a file is something that an agent wrote.
  if (standing === 'folder' || (standing === 'file' && isFolderText(beforeBytes))) {
    await mkdir(asideDir, { recursive: true });
    aside = freePlace(path.join(asideDir, `instead-of-${path.basename(file)}`));
    await rename(file, aside);
  } else {
    // The agent may have moved its story file to where its own link leads.
    left = standing === 'link' && link === undefined ? await readStoryBytes(file) : undefined;
    await rm(file, { force: true });
  }
  if (link !== undefined) {
    await symlink(link, file);
    const target = realPlace(file);
    if (target !== undefined && outsideProblem(file) === undefined && !isFile(file)) {
      await createSource(target, beforeBytes);
    }
  } else if (left !== undefined) {
    await createSource(file, left);
  }
  return aside;
}

/** A free path: an interrupted iteration is judged again, and must not overwrite what was kept the first time. */
function freePlace(place: string): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? place : `${place}-${n}`;
    if (!existsSync(name)) {
      return name;
    }
  }
}

function isFile(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // A cycle of links, or a parent folder without permission.
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

/** If a parent is not a folder, nothing is there. */
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
