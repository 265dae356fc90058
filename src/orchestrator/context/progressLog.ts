import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { requireInside } from '../stories/outsideLinks.ts';
import { type ProgressLog, ProgressReader } from './progressReader.ts';

/** If a file is too long to be read as a whole, this much is read at each end. */
const PROGRESS_WINDOW_BYTES = 256 * 1024;

/**
 * Parses `progress.txt` in the styles that exist: dated headings with and without brackets, any dash, `**Learnings
 * for future iterations:**`, `## Iteration N - …`, bullets and numbered lists. For entries without a learnings
 * section, all bullets are used, so that nothing an agent wrote is lost for the next one.
 */
export function parseProgressLog(text: string): ProgressLog {
  const reader = new ProgressReader();
  reader.read(text);
  return reader.log();
}

/**
 * Reads a progress log from its file. Of a huge file only both ends are read: the patterns are at the top, the
 * latest learnings at the bottom.
 * @returns an empty log if there is no file
 * @throws if it cannot be read, is not a file, or leads out of the repository
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
    // Opening a pipe must not block.
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
      throw new HumanError(say('{0} is not a file. Put a text file there, or remove it.', file));
    }
    if (stat.size <= 2 * windowBytes) {
      return [await readAt(handle, 0, stat.size)];
    }
    const head = await readAt(handle, 0, windowBytes);
    const tail = await readAt(handle, stat.size - windowBytes, windowBytes);
    // A line that was cut may have another meaning.
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
