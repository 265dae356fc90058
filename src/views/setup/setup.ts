import { Disposable, type LogOutputChannel } from 'vscode';
import { Command } from '../common/contributions.ts';
import { registerCommand } from '../common/registerCommand.ts';
import type { Folders } from '../folders/folders.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import { checksChooser } from './checksChooser.ts';
import type { ClaudeCheck } from './claudeCheck.ts';
import { claudeCommands } from './claudeCommands.ts';
import { storyFileCommands } from './storyFileCommands.ts';
import { Walkthrough } from './walkthrough.ts';

/** The setup before the first run: the walkthrough and the commands of its steps. */
export function setup(
  folders: Folders,
  settings: RunSettings,
  claude: ClaudeCheck,
  program: string,
  log: LogOutputChannel,
): Disposable {
  const walkthrough = new Walkthrough();
  return Disposable.from(
    walkthrough,
    claudeCommands(folders, claude, walkthrough, log),
    storyFileCommands(folders, program, log),
    checksChooser(folders, settings, log),
    registerCommand(Command.openWalkthrough, log, () => walkthrough.open()),
  );
}
