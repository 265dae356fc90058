import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fsync,
  lstatSync,
  open as openForCallback,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from './createFolder.ts';
import { HumanError } from './humanError.ts';
import { say } from './say.ts';

/**
 * A repository may contain anything at the paths of our state: links to other people's files, pipes, devices. Only
 * plain files may be read or written there, and a file that is read as a whole must be small.
 */

/** Do not follow a link, do not wait for the other end of a pipe; Windows has neither flag. */
export const PLAIN = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Readable for everybody, like most files of a project. */
const MODE = 0o644;
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

/** @returns `undefined` if there is no plain file at this path */
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
 * @param maxBytes a larger file is not ours
 * @returns `undefined` if there is no such plain file
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
 * Creates or truncates a file that is then written in parts. Its folder must exist.
 * @param file absolute path
 * @throws {HumanError} if there is a link, pipe or device, or a parent folder from `.omc` on is a link
 */
export async function createPlainFile(file: string): Promise<FileHandle> {
  requirePlainFolders(path.dirname(file));
  requireNoLink(file);
  const { O_WRONLY, O_CREAT, O_TRUNC } = constants;
  const found = lstatSync(file, { throwIfNoEntry: false });
  // For a folder, the system reports the error itself.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) {
    throw new HumanError(
      say('{0} is not a regular file. Remove it, and find out where it came from.', file),
    );
  }
  return open(file, O_WRONLY | O_CREAT | O_TRUNC | PLAIN, 0o644);
}

/**
 * What must hold before a text is appended to a file that may be somebody's.
 * @throws {HumanError} if there is a pipe, a device, or a link of either kind
 */
export function requireAppendable(file: string): void {
  requireNoLink(file);
  requireOwn(file, lstatSync(file, { throwIfNoEntry: false }));
}

/**
 * Appends a text to a file, which is created if there is none. Its folder must exist.
 * @throws {HumanError} if there is a pipe, a device, or a link of either kind
 */
export async function appendPlainFile(file: string, text: string): Promise<void> {
  requireAppendable(file);
  const { O_WRONLY, O_APPEND, O_CREAT } = constants;
  const handle = await open(file, O_WRONLY | O_APPEND | O_CREAT | PLAIN, MODE);
  try {
    requireOwn(file, await handle.stat());
    await handle.appendFile(text);
  } finally {
    await handle.close();
  }
}

function requireOwn(file: string, found: Stats | undefined): void {
  // For a folder, the system reports the error itself.
  if (found !== undefined && !found.isDirectory() && (!found.isFile() || found.nlink > 1)) {
    throw new HumanError(
      say('{0} is a pipe, a device or a hard link, so nothing was written there. Remove it.', file),
    );
  }
}

/**
 * Writes one of our files atomically: readers never see a partial file, and a power failure leaves the old or the
 * new one. Creates its folder. A link at its path is replaced, never followed.
 * @param file absolute path
 * @throws {HumanError} if a parent folder from `.omc` on is a link
 * @throws the system's error if it cannot be written; nothing is left behind then
 */
export async function writePlainFile(
  file: string,
  data: string | Buffer,
  mode = MODE,
): Promise<void> {
  await writeInOneStep(file, data, mode, syncToDisk);
}

/**
 * Like {@link writePlainFile}, for a file that is derived from others and can be created again: readers never see a
 * partial file and a killed loop leaves the old or the new one, but it is not synced to the disk.
 */
export async function writeDerivedFile(
  file: string,
  data: string | Iterable<Uint8Array>,
): Promise<void> {
  await writeInOneStep(file, data, MODE);
}

/**
 * Operations that create or free a file can be slow, so they run asynchronously; writing the bytes of a small file
 * is fast.
 */
async function writeInOneStep(
  file: string,
  data: string | Buffer | Iterable<Uint8Array>,
  mode: number,
  sync?: (fd: number) => Promise<void>,
): Promise<void> {
  requirePlainFolders(path.dirname(file));
  const temporary = temporaryFor(file);
  const fd = await openNew(temporary, mode);
  try {
    try {
      for (const part of typeof data === 'string' || Buffer.isBuffer(data) ? [data] : data) {
        writeFileSync(fd, part);
      }
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

/** Also creates its folder, which usually exists. */
async function openNew(file: string, mode: number): Promise<number> {
  try {
    return await openFile(file, NEW_FILE, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
  }
  await createFolder(path.dirname(file));
  return openFile(file, NEW_FILE, mode);
}

/**
 * Checks `.omc`, the last one if there are several in the path, and every folder from there down to `dir`.
 * @throws {HumanError} naming the link
 */
export function requirePlainFolders(dir: string): void {
  const folders = [dir];
  for (let at = dir; path.basename(at) !== '.omc'; ) {
    const parent = path.dirname(at);
    if (parent === at) {
      // Not below any `.omc`: a path of the caller, whose folders are not ours.
      return;
    }
    folders.push(parent);
    at = parent;
  }
  folders.reverse().forEach(requireNoLink);
}

/** @throws {HumanError} if a link is at this path */
export function requireNoLink(place: string): void {
  if (isLink(place)) {
    throw new HumanError(
      say(
        '{0} is a link, and what Ralph writes there would end up elsewhere. Remove it, and find out where it came from.',
        place,
      ),
    );
  }
}

function isLink(place: string): boolean {
  try {
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch (error) {
    // If a parent is not a folder, nothing is there; a write will get an error from the system.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') {
      return false;
    }
    throw error;
  }
}
