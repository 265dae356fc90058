import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { NewStoryFile } from './formats/newStories.ts';
import { prdFileText } from './formats/prdWriter.ts';
import { requireInside } from './outsideLinks.ts';

/**
 * Writes a `prd.json` if there is none, including its parent folders. A file that was created meanwhile is not
 * changed.
 * @param file absolute path
 */
export async function createStoryFile(file: string, stories: NewStoryFile): Promise<void> {
  requireInside(file);
  await mkdir(path.dirname(file), { recursive: true });
  try {
    await writeFile(file, prdFileText(stories), { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw error;
    }
  }
}
