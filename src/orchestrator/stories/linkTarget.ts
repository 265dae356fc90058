import { realpath } from 'node:fs/promises';

/** The target of a file that may be a link; a broken link is its own target. */
export async function linkTarget(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    return file;
  }
}
