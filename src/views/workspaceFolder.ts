import { l10n, workspace } from 'vscode';
import { HumanError } from '../orchestrator/humanError.ts';

/** Absolute path of the folder that Ralph works in: the window's first one on this machine. */
export function ralphFolder(): string | undefined {
  return workspace.workspaceFolders?.find(folder => folder.uri.scheme === 'file')?.uri.fsPath;
}

/** @throws {HumanError} in a workspace that is not trusted, where nothing may be run */
export function requireTrust(): void {
  if (!workspace.isTrusted) {
    throw new HumanError(
      l10n.t(
        'Ralph runs agents only in a trusted workspace. Trust this folder first ("Workspaces: Manage Workspace Trust").',
      ),
    );
  }
}
