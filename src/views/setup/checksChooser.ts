import { type LogOutputChannel, l10n, type QuickPickItem, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import {
  readWorkspaceSettings,
  setWorkspaceChecks,
} from '../../orchestrator/settings/workspaceSettings.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { Command, ContextKey, SETTINGS_SECTION } from '../common/contributions.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainLabel } from '../common/plainText.ts';
import { registerCommand } from '../common/registerCommand.ts';
import { requireFolder, requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { openSettings } from '../settings/openSettings.ts';
import type { RunSettings } from '../settings/runSettings.ts';

/** Maximum length of a custom check, in UTF-16 units. */
const MAX_LABEL = 100;

interface CheckItem extends QuickPickItem {
  /** A shell line; absent for the entry that asks for another one. */
  readonly check?: string | undefined;
}

/**
 * "Choose Checks": what must succeed before a story counts as done. The choice is stored in `.omc/config.json`, so
 * that runs without a window use it too.
 */
export function checksChooser(
  folders: Folders,
  settings: RunSettings,
  log: LogOutputChannel,
): Disposable {
  const chosenKey = new ContextKeyValue<boolean>(ContextKey.checksChosen);

  async function choose(): Promise<void> {
    requireTrust();
    const folder = requireFolder(folders.active);
    const { verify: before = [] } = await readWorkspaceSettings(folder.path);
    const checks = await ask(folder, before);
    if (checks === undefined) {
      return;
    }
    await setWorkspaceChecks(folder.path, checks);
    chosenKey.set(true);
    // Not awaited: the command is complete, whether or not the message is closed.
    void reportingErrors(log, () => tell(folder, checks));
  }

  async function ask(folder: Folder, before: readonly string[]): Promise<string[] | undefined> {
    const { proposeVerifyCommands } = await import(
      '../../orchestrator/proof/checks/verifyProposals.ts'
    );
    const proposals = await proposeVerifyCommands(folder.path);
    const known = proposals.map(({ command, source }) => ({
      label: plainLabel(command, MAX_LABEL),
      description: plainLabel(source, MAX_LABEL),
      check: command,
      picked: before.includes(command),
    }));
    const own = before
      .filter(check => !known.some(item => item.check === check))
      .map(check => ({ label: plainLabel(check, MAX_LABEL), check, picked: true }));
    const another: CheckItem = { label: l10n.t('$(add) Another command…') };
    const items: CheckItem[] = [...own, ...known, another];
    const chosen = await window.showQuickPick(items, {
      canPickMany: true,
      title: l10n.t('Checks'),
      placeHolder:
        proposals.length === 0
          ? l10n.t('No check of this project was found; name one')
          : l10n.t('What must pass before a story counts as done?'),
      matchOnDescription: true,
    });
    if (chosen === undefined) {
      return undefined;
    }
    const checks = chosen.flatMap(({ check }) => check ?? []);
    if (!chosen.includes(another)) {
      return checks;
    }
    const typed = await window.showInputBox({
      title: l10n.t('Checks'),
      prompt: l10n.t('A shell command that runs in the folder. It must exit with code 0.'),
      placeHolder: 'npm test',
    });
    return typed === undefined
      ? undefined
      : [...checks, typed.trim()].filter(check => check !== '');
  }

  async function tell(folder: Folder, checks: readonly string[]): Promise<void> {
    if (settings.names(folder.path).includes('verify')) {
      const open = l10n.t('Open Settings');
      const choice = await window.showWarningMessage(
        l10n.t(
          'The checks were saved, but the setting {0} of this window overrides them.',
          `${SETTINGS_SECTION}.verify`,
        ),
        open,
      );
      if (choice === open) {
        await openSettings(`${SETTINGS_SECTION}.verify`);
      }
      return;
    }
    await window.showInformationMessage(
      checks.length === 0
        ? l10n.t("No checks: the agents' claims are trusted.")
        : checks.length === 1
          ? l10n.t('1 check must pass before a story counts as done (.omc/config.json).')
          : l10n.t(
              '{0} checks must pass before a story counts as done (.omc/config.json).',
              checks.length,
            ),
    );
  }

  return registerCommand(Command.chooseChecks, log, choose);
}
