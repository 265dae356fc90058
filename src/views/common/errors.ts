import { commands, type LogOutputChannel, l10n, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { plainSentence } from './plainText.ts';
import { translate } from './translate.ts';

/** An error with a button that fixes it or leads to the fix. */
export class FixableError extends HumanError {
  /** The button's label. */
  readonly fix: string;
  /** The command that the button runs. */
  readonly command: string;
  /** Its argument: until a person presses the button, another folder may have become the active one. */
  readonly argument: object | undefined;

  constructor(message: string, fix: string, command: string, argument?: object) {
    super(message);
    this.fix = fix;
    this.command = command;
    this.argument = argument;
  }
}

/**
 * Runs an action for a person and reports its failure: a {@link HumanError} in its own words, any other error in one
 * sentence with the stack in the log.
 */
export async function reportingErrors(
  log: LogOutputChannel,
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (error instanceof HumanError) {
      log.warn(error.message);
      // Not awaited: the command is complete, whether or not the message is closed.
      void show(error);
      return;
    }
    log.error(error instanceof Error ? error : String(error));
    const showLog = l10n.t('Show Log');
    const choice = await window.showErrorMessage(
      l10n.t('Ralph ran into an unexpected error: {0}', plainSentence(messageOf(error))),
      showLog,
    );
    if (choice === showLog) {
      log.show();
    }
  }
}

async function show(error: HumanError): Promise<void> {
  const message = plainSentence(translate.said(error.said));
  if (!(error instanceof FixableError)) {
    await window.showErrorMessage(message);
    return;
  }
  const choice = await window.showErrorMessage(message, error.fix);
  if (choice !== undefined) {
    await commands.executeCommand(error.command, error.argument);
  }
}
