import path from 'node:path';
import { l10n, workspace } from 'vscode';
import { HumanError } from '../../base/humanError.ts';

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
