import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fsync,
  lstatSync,
  open as openForCallback,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { HumanError } from './humanError.ts';
import { say } from './say.ts';

/**
 * A repository may ship anything at the places of our state: links to other people's files, pipes, devices.
 * What is read or written there must be a plain file, and small where it is read as a whole.
 */

/** Neither follows a link nor waits for the other end of a pipe; Windows has neither flag. */
export const PLAIN = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | PLAIN;

/** ELOOP, EMLINK: a link. ENXIO: a socket. */
const NO_PLAIN_FILE: ReadonlySet<string | undefined> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EMLINK',
  'ENXIO',
]);

const openFile = promisify(openForCallback);
const syncToDisk = promisify(fsync);

/** @returns `undefined` when there is no plain file at this place */
export async function openPlainFile(file: string): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | PLAIN);
  } catch (error) {
    if (NO_PLAIN_FILE.has((error as NodeJS.ErrnoException).code)) {
      return undefined;
    }
    throw error;
  }
  if ((await handle.stat()).isFile()) {
    return handle;
  }
  await handle.close();
  return undefined;
}

/**
 * Reads a small file as a whole.
 * @param maxBytes a larger one is none of ours
 * @returns `undefined` when there is no such plain file
 */
export async function readPlainFile(file: string, maxBytes: number): Promise<Buffer | undefined> {
  const handle = await openPlainFile(file);
  if (handle === undefined) {
    return undefined;
  }
  try {
    return (await handle.stat()).size > maxBytes ? undefined : await handle.readFile();
  } finally {
    await handle.close();
  }
}

/**
 * Creates or empties a file that is then written bit by bit. Its folder must exist.
 * @param file absolute path
 * @throws {HumanError} when there is a link, pipe or device, or a folder on the way from `.omc` is a link
 */
export async function createPlainFile(file: string): Promise<FileHandle> {
  requirePlainFolders(path.dirname(file));
  requireNoLink(file);
  const { O_WRONLY, O_CREAT, O_TRUNC } = constants;
  const found = lstatSync(file, { throwIfNoEntry: false });
  // Of a folder the system tells itself.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) {
    throw new HumanError(
      say('{0} is no plain file. Remove it, and look where it came from.', file),
    );
  }
  return open(file, O_WRONLY | O_CREAT | O_TRUNC | PLAIN, 0o644);
}

/**
 * Writes a file of ours as a whole, so that no reader ever sees half of it and a power cut leaves the old or
 * the new one. Creates its folder. A link at its place is replaced, never followed.
 * @param file absolute path
 * @throws {HumanError} when a folder on the way from `.omc` is a link
 * @throws the system's error when it cannot be written; nothing is left behind then
 */
export async function writePlainFile(file: string, data: string | Buffer): Promise<void> {
  await writeInOneStep(file, data, syncToDisk);
}

/**
 * As {@link writePlainFile}, for what is made anew of other files whenever it is needed: no reader sees half of it and
 * a killed loop leaves the old or the new one, but it is not waited until it is on the disk.
 */
export async function writeDerivedFile(file: string, data: string): Promise<void> {
  await writeInOneStep(file, data, undefined);
}

/** What makes or frees a file can take long, and goes on beside others; the bytes of a small one take no time. */
async function writeInOneStep(
  file: string,
  data: string | Buffer,
  sync: ((fd: number) => Promise<void>) | undefined,
): Promise<void> {
  requirePlainFolders(path.dirname(file));
  const temporary = temporaryFor(file);
  const fd = await createFile(temporary);
  try {
    try {
      writeFileSync(fd, data);
      await sync?.(fd);
    } finally {
      closeSync(fd);
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function temporaryFor(file: string): string {
  return `${file}.${randomUUID()}.tmp`;
}

/** Creates its folder as well, which is there as a rule. */
async function createFile(file: string): Promise<number> {
  try {
    return await openFile(file, NEW_FILE, 0o644);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
  }
  await mkdir(path.dirname(file), { recursive: true });
  return openFile(file, NEW_FILE, 0o644);
}

/**
 * Looks at `.omc`, the last one when several are on the way, and at every folder from there down to `dir`.
 * @throws {HumanError} naming the link
 */
export function requirePlainFolders(dir: string): void {
  const folders = [dir];
  for (let at = dir; path.basename(at) !== '.omc'; ) {
    const parent = path.dirname(at);
    if (parent === at) {
      // Not below any `.omc`: the caller's own place, whose folders are none of ours.
      return;
    }
    folders.push(parent);
    at = parent;
  }
  folders.reverse().forEach(requireNoLink);
}

/** @throws {HumanError} when a link is at this place */
export function requireNoLink(place: string): void {
  if (isLink(place)) {
    throw new HumanError(
      say(
        '{0} is a link, and what Ralph writes there would land elsewhere. Remove it, and look where it came from.',
        place,
      ),
    );
  }
}

function isLink(place: string): boolean {
  try {
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch (error) {
    // Below something that is no folder there is nothing; who wants to write there is told by the system.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') {
      return false;
    }
    throw error;
  }
}
