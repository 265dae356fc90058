import { constants, lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { HumanError } from '../humanError.ts';
import type { RunFiles } from './runFiles.ts';

/**
 * A repository may ship anything at the places of our state: links to other people's files, pipes, devices.
 * What is read or written there must be a plain file, and small where it is read as a whole.
 */

/** Neither follows a link nor waits for the other end of a pipe; Windows has neither flag. */
export const PLAIN = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** @returns `undefined` when there is no plain file at this place */
export async function openPlainFile(file: string): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | PLAIN);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ELOOP, EMLINK: a link. ENXIO: a socket.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO'].includes(code ?? '')) {
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
 * Makes sure that nothing below `.omc/state` leads elsewhere.
 * @throws {HumanError} naming the link
 */
export function requirePlainState(files: RunFiles, runId?: string): void {
  const places = [
    files.stateDir,
    files.runsDir,
    files.stateFile,
    files.lockFile,
    files.handoffFile,
    files.promptFile,
    ...(runId === undefined
      ? []
      : [files.runDir(runId), files.journalFile(runId), files.inboxFile(runId)]),
  ];
  for (const place of places) {
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new HumanError(
        `${place} is a link, and what Ralph writes there would land elsewhere. Remove it, and look where it came from.`,
      );
    }
  }
}
