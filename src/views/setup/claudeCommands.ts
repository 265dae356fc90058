import {
  ConfigurationTarget,
  env,
  type LogOutputChannel,
  l10n,
  ProgressLocation,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Command, SETTINGS_SECTION } from '../common/contributions.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainSentence } from '../common/plainText.ts';
import { registerCommand } from '../common/registerCommand.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderPathOf } from '../folders/folders.ts';
import { type ClaudeCheck, type ClaudeState, missingSentence } from './claudeCheck.ts';
import { payerSentence } from './payerSentence.ts';
import type { Walkthrough } from './walkthrough.ts';

const INSTALL_PAGE = 'https://docs.claude.com/en/docs/claude-code/setup';

/** "Find Claude Code": says which one would be started and who pays, or helps to install it. */
export function claudeCommands(
  folders: Folders,
  check: ClaudeCheck,
  walkthrough: Walkthrough,
  log: LogOutputChannel,
): Disposable {
  async function find(argument?: unknown): Promise<void> {
    requireTrust();
    // It needs no folder, but each may have settings of its own.
    const folder = folders.at(folderPathOf(argument));
    const state = await window.withProgress(
      { location: ProgressLocation.Notification, title: l10n.t('Looking for Claude Code…') },
      () => check.look(folder, { fresh: true }),
    );
    // The step depends only on the context key that says whether it was found.
    walkthrough.tick();
    // Not awaited: the command and the walkthrough's step are complete, whether or not the message is closed.
    void reportingErrors(log, () => tell(folder, state));
  }

  async function tell(folder: Folder | undefined, state: ClaudeState): Promise<void> {
    const named = (words: string) =>
      plainSentence(folders.all.length > 1 && folder ? `${folder.name}: ${words}` : words);
    const chooseIt = l10n.t('Choose the Program…');
    if (state.kind === 'missing') {
      const install = l10n.t('How to Install');
      const choice = await window.showWarningMessage(
        named(missingSentence(state)),
        chooseIt,
        install,
      );
      if (choice === chooseIt) {
        await choose(folder);
      } else if (choice === install) {
        await env.openExternal(Uri.parse(INSTALL_PAGE));
      }
      return;
    }
    const found =
      state.kind === 'found'
        ? l10n.t('Claude Code {0} was found: {1}.', state.version, state.file)
        : l10n.t('The agent "{0}" does the work.', state.agent);
    const choice = await window.showInformationMessage(
      named(`${found} ${payerSentence(state.payer)}`),
      ...(state.kind === 'found' ? [l10n.t('Choose Another…')] : []),
    );
    if (choice !== undefined) {
      await choose(folder);
    }
  }

  /** A person chooses a program for this machine; a workspace cannot. */
  async function choose(folder: Folder | undefined): Promise<void> {
    const [file] =
      (await window.showOpenDialog({
        title: l10n.t('The Program of Claude Code'),
        openLabel: l10n.t('Use This Program'),
      })) ?? [];
    if (file !== undefined) {
      await workspace
        .getConfiguration(SETTINGS_SECTION)
        .update('claudePath', file.fsPath, ConfigurationTarget.Global);
      await find(folder && { folder: folder.path });
    }
  }

  return registerCommand(Command.checkClaude, log, find);
}
