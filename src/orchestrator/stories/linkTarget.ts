import { realpath } from 'node:fs/promises';

/** Where a file is that may be a link; one that leads nowhere is its own place. */
export async function linkTarget(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    return file;
  }
}
