import { commands, type LogOutputChannel } from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { Command, WALKTHROUGH } from '../contributions.ts';
import { DisposableStore } from '../disposableStore.ts';
import type { Folders } from '../folders/folders.ts';
import { registerCommand } from '../registerCommand.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import { ChecksChooser } from './checksChooser.ts';
import type { ClaudeCheck } from './claudeCheck.ts';
import { ClaudeCommands } from './claudeCommands.ts';
import { StoryFileCommands } from './storyFileCommands.ts';
import { WalkthroughTicks } from './walkthroughTicks.ts';

/** What a person does before the first run: the walkthrough and the commands of its steps. */
export class Setup implements Disposable {
  private readonly store = new DisposableStore();

  constructor(folders: Folders, settings: RunSettings, claude: ClaudeCheck, log: LogOutputChannel) {
    const ticks = this.store.add(new WalkthroughTicks());
    this.store.add(new ClaudeCommands(folders, claude, { ticks, log }));
    this.store.add(new StoryFileCommands(folders, log));
    this.store.add(new ChecksChooser(folders, settings, log));
    this.store.add(
      registerCommand(Command.openWalkthrough, log, async () => {
        await commands.executeCommand('workbench.action.openWalkthrough', WALKTHROUGH, false);
        ticks.giveOnceShown();
      }),
    );
  }

  dispose(): void {
    this.store.dispose();
  }
}
