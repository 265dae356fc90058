import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { requireInside } from '../stories/outsideLinks.ts';
import { type ProgressLog, ProgressReader } from './progressReader.ts';

/** What is read of either end of a file that is too long to be read as a whole. */
export const PROGRESS_WINDOW_BYTES = 256 * 1024;

/**
 * Reads `progress.txt` in the styles found in the wild: dated headings with and without brackets, any
 * dash, `**Learnings for future iterations:**`, `## Iteration N - …`, bullets and numbered lists. Entries
 * without a learnings part give their own bullets, so that nothing an agent wrote down is lost to the next one.
 */
export function parseProgressLog(text: string): ProgressLog {
  const reader = new ProgressReader();
  reader.read(text);
  return reader.log();
}

/**
 * Reads a progress log from its file. Of a huge one only both ends are read: the patterns stand at the
 * top, what was learned last at the bottom.
 * @returns an empty log when there is no file
 * @throws when the file cannot be read, is none, or leads out of the repository
 */
export async function readProgressLog(
  file: string,
  windowBytes = PROGRESS_WINDOW_BYTES,
): Promise<ProgressLog> {
  const reader = new ProgressReader();
  for (const part of await readEnds(file, windowBytes)) {
    reader.read(part);
  }
  return reader.log();
}

async function readEnds(file: string, windowBytes: number): Promise<string[]> {
  requireInside(file);
  let handle: FileHandle;
  try {
    // A pipe in the place of the file must not be waited for.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return [];
    }
    throw error;
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) {
      throw new HumanError(say('{0} is not a file. Put a text file there, or nothing.', file));
    }
    if (stat.size <= 2 * windowBytes) {
      return [await readAt(handle, 0, stat.size)];
    }
    const head = await readAt(handle, 0, windowBytes);
    const tail = await readAt(handle, stat.size - windowBytes, windowBytes);
    // A line that was cut says something else than the whole one.
    return [head.slice(0, head.lastIndexOf('\n') + 1), tail.slice(tail.indexOf('\n') + 1)];
  } finally {
    await handle.close();
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<string> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) {
      break;
    }
    filled += bytesRead;
  }
  return buffer.toString('utf8', 0, filled);
}
