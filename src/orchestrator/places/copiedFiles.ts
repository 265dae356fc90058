import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, lstat, mkdir, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HumanError } from '../../base/humanError.ts';
import { isWithin } from '../../base/isWithin.ts';
import { say } from '../../base/say.ts';
import { gitResult } from '../git/runGit.ts';

/** In the top folder of a workspace: names files that git ignores, but a place needs, as `.gitignore` would. */
const INCLUDE_FILE = '.worktreeinclude';
/** Git's folder, and the state of our own runs. */
const NEVER = /(?:^|\/)(?:\.git|\.omc\/state)(?:\/|$)/i;
/** Folders that are not searched: they are large, and prepared as dependencies. */
const NOT_SEARCHED = ['node_modules', '.venv', 'venv'];

/** A file of the user's tree, and where it belongs in a place. */
export interface CopyOrder {
  /** Absolute path. */
  readonly from: string;
  /** From the top folder of the place, with forward slashes. */
  readonly to: string;
}

/**
 * The files that `.worktreeinclude` names, if git's own rules ignore them, too.
 *
 * @param workspace absolute path of the user's folder
 * @returns paths from there, with forward slashes
 * @throws git's message
 */
export async function includedFiles(workspace: string): Promise<string[]> {
  if ((await stat(path.join(workspace, INCLUDE_FILE)).catch(() => undefined))?.isFile() !== true) {
    return [];
  }
  const named = await gitPaths(workspace, [
    ...['ls-files', '--others', '--ignored', `--exclude-from=${INCLUDE_FILE}`, '-z', '--', '.'],
    ...NOT_SEARCHED.map(name => `:(exclude,glob)**/${name}/**`),
  ]);
  const ignored =
    named.length === 0
      ? []
      : await gitPaths(workspace, ['check-ignore', '-z', '--stdin'], named.join('\0'));
  return ignored.filter(file => !NEVER.test(file));
}

/**
 * Copies files into a place, byte for byte. What is missing in the user's tree, or is not a file, is left out.
 *
 * @param top real path of the place's top folder
 * @returns the SHA-256 of each copied file, by its real path there
 * @throws {HumanError} if a link in the place leads out of it
 */
export async function copyInto(
  top: string,
  orders: readonly CopyOrder[],
): Promise<Record<string, string>> {
  const copied: Record<string, string> = {};
  for (const { from, to } of orders) {
    if ((await stat(from).catch(() => undefined))?.isFile() === true) {
      const target = await roomFor(top, to);
      await copyFile(from, target, constants.COPYFILE_FICLONE);
      copied[path.relative(top, target).split(path.sep).join('/')] = (await hashOf(target)) ?? '';
    }
  }
  return copied;
}

/**
 * Which files are still as they were copied, by path from the top folder. Not those behind a link: git refuses to
 * look there, and an agent made it.
 */
export async function unchangedCopies(
  top: string,
  copied: Readonly<Record<string, string>>,
): Promise<string[]> {
  const realTop = await realpath(top).catch(() => top);
  const same = await Promise.all(
    Object.entries(copied).map(async ([file, hash]) => {
      const at = path.join(realTop, file);
      const isPlain = (await realpath(at).catch(() => undefined)) === at;
      return isPlain && (await hashOf(at)) === hash ? [file] : [];
    }),
  );
  return same.flat();
}

/**
 * Makes a folder in a place, with those above it. Links are followed within the place, never out of it.
 * @returns its real path
 * @throws {HumanError} if a link leads out of the place, or something else is in the way
 */
export async function folderIn(top: string, folder: string): Promise<string> {
  let at = top;
  for (const part of folder.split('/').filter(name => name !== '' && name !== '.')) {
    const next = path.join(at, part);
    if ((await lstat(next).catch(() => undefined)) === undefined) {
      await mkdir(next);
    }
    at = await realpath(next).catch(() => '');
    if (!isWithin(top, at) || !(await stat(at)).isDirectory()) {
      throw new HumanError(
        say(
          '{0} leads out of the place of a lane, or is not a folder, so files cannot be copied there. Use a folder of the repository itself, or work with one lane.',
          next,
        ),
      );
    }
  }
  return at;
}

/** @returns the path to write to; a link there that leads to nothing, or out of the place, is removed */
async function roomFor(top: string, file: string): Promise<string> {
  const target = path.join(
    await folderIn(top, path.posix.dirname(file)),
    path.posix.basename(file),
  );
  const found = await lstat(target).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) {
    return target;
  }
  const real = await realpath(target).catch(() => '');
  if (isWithin(top, real)) {
    return real;
  }
  await rm(target);
  return target;
}

/** The SHA-256 of a file; `undefined` for anything else. */
export async function hashOf(file: string): Promise<string | undefined> {
  // A pipe would block.
  if ((await stat(file).catch(() => undefined))?.isFile() !== true) {
    return undefined;
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

async function gitPaths(dir: string, args: readonly string[], input?: string): Promise<string[]> {
  const { code, stderr, stdout } = await gitResult(dir, ['--no-optional-locks', ...args], {
    input,
  });
  // `check-ignore` ends with 1 if it finds nothing.
  if (code > 1 || (code === 1 && stderr.trim() !== '')) {
    throw new Error(stderr);
  }
  return stdout
    .toString('utf8')
    .split('\0')
    .filter(file => file !== '');
}
