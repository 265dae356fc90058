import { findStoryFile } from '../../orchestrator/stories/storyFile.ts';
import type { Folder } from '../folders/folder.ts';

export interface FoundStoryFile {
  /** Absolute; absent if there is none. */
  readonly path?: string | undefined;
  /** A person chose it among several. */
  readonly isChosen: boolean;
}

/**
 * The story file that runs of a folder work on: the one a person has chosen, otherwise the one that a run would find.
 */
export async function storyFileOf({ path: folder, stories }: Folder): Promise<FoundStoryFile> {
  const chosen = stories.chosenFile;
  return chosen === undefined
    ? { path: await findStoryFile(folder), isChosen: false }
    : { path: chosen, isChosen: true };
}
