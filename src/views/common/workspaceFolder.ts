import { l10n, workspace } from 'vscode';
import { FixableError } from './errors.ts';

/** VS Code's own command that lets a person trust a workspace. */
export const MANAGE_TRUST = 'workbench.trust.manage';

/** @throws {FixableError} in an untrusted workspace, in which nothing may be run */
export function requireTrust(): void {
  if (!workspace.isTrusted) {
    throw new FixableError(
      l10n.t('Ralph runs agents and git only in a trusted workspace. Trust this folder first.'),
      l10n.t('Manage Workspace Trust'),
      MANAGE_TRUST,
    );
  }
}

/** @returns the given folder @throws {FixableError} if the window has no folder on a disk */
export function requireFolder<T>(folder: T | undefined): T {
  if (folder === undefined) {
    throw new FixableError(
      l10n.t('Ralph works in a folder on a disk. Open one first.'),
      l10n.t('Open Folder'),
      'vscode.openFolder',
    );
  }
  return folder;
}
