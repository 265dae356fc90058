import path from 'node:path';
import type { Folder } from '../folders/folder.ts';

/** The story file of a folder's living run, if it is not the shown one. */
export function runsOtherFile({ path: folder, runs, stories }: Folder): string | undefined {
  const { alive, state } = runs.current;
  const { current } = stories;
  if (!alive || state.storyFile === undefined || current === undefined) {
    return undefined;
  }
  const file = path.resolve(folder, state.storyFile);
  return file === current.path ? undefined : file;
}
