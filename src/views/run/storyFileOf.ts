import path from 'node:path';
import { l10n, workspace } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { findStoryFile } from '../../orchestrator/stories/knownSources.ts';
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

/**
 * @param storyFile absolute path
 * @throws {HumanError} if an editor has unsaved changes of it, which a draft would ignore
 */
export function requireSaved(storyFile: string): void {
  const isDirty = workspace.textDocuments.some(
    ({ uri, isDirty }) => uri.scheme === 'file' && uri.fsPath === storyFile && isDirty,
  );
  if (isDirty) {
    throw new HumanError(
      l10n.t(
        '{0} has unsaved changes. Save or revert them, then try again.',
        path.basename(storyFile),
      ),
    );
  }
}
