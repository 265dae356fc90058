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
import { plainSentence } from '../common/plainSentence.ts';
import { registerCommand } from '../common/registerCommand.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { type ClaudeCheck, type ClaudeState, missingSentence } from './claudeCheck.ts';
import { payerSentence } from './payerSentence.ts';
import type { Walkthrough } from './walkthrough.ts';

const INSTALL_PAGE = 'https://docs.claude.com/en/docs/claude-code/setup';

/** "Find Claude Code": says which one would be started and who pays, or helps to install it. */
export class ClaudeCommands implements Disposable {
  private readonly folders: Folders;
  private readonly check: ClaudeCheck;
  private readonly walkthrough: Walkthrough;
  private readonly log: LogOutputChannel;
  private readonly command: Disposable;

  constructor(
    folders: Folders,
    check: ClaudeCheck,
    { walkthrough, log }: { readonly walkthrough: Walkthrough; readonly log: LogOutputChannel },
  ) {
    this.folders = folders;
    this.check = check;
    this.walkthrough = walkthrough;
    this.log = log;
    this.command = registerCommand(Command.checkClaude, log, () => this.find());
  }

  dispose(): void {
    this.command.dispose();
  }

  private async find(): Promise<void> {
    requireTrust();
    const { active: folder } = this.folders;
    const state = await window.withProgress(
      { location: ProgressLocation.Notification, title: l10n.t('Looking for Claude Code…') },
      () => this.check.look(folder, { fresh: true }),
    );
    // The step depends only on the context key that says whether it was found.
    this.walkthrough.tick();
    // Not awaited: the command and the walkthrough's step are complete, whether or not the message is closed.
    void reportingErrors(this.log, () => this.tell(folder, state));
  }

  private async tell(folder: Folder | undefined, state: ClaudeState): Promise<void> {
    const named = (words: string) =>
      plainSentence(this.folders.all.length > 1 && folder ? `${folder.name}: ${words}` : words);
    const choose = l10n.t('Choose the Program…');
    if (state.kind === 'missing') {
      const install = l10n.t('How to Install');
      const choice = await window.showWarningMessage(
        named(missingSentence(state)),
        choose,
        install,
      );
      if (choice === choose) {
        await this.choose();
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
      await this.choose();
    }
  }

  /** A person chooses a program for this machine; a workspace cannot. */
  private async choose(): Promise<void> {
    const [file] =
      (await window.showOpenDialog({
        title: l10n.t('The Program of Claude Code'),
        openLabel: l10n.t('Use This Program'),
      })) ?? [];
    if (file !== undefined) {
      await workspace
        .getConfiguration(SETTINGS_SECTION)
        .update('claudePath', file.fsPath, ConfigurationTarget.Global);
      await this.find();
    }
  }
}
