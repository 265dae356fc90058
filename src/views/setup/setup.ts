import type { LogOutputChannel } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Command } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { registerCommand } from '../common/registerCommand.ts';
import type { Folders } from '../folders/folders.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import { ChecksChooser } from './checksChooser.ts';
import type { ClaudeCheck } from './claudeCheck.ts';
import { ClaudeCommands } from './claudeCommands.ts';
import { StoryFileCommands } from './storyFileCommands.ts';
import { Walkthrough } from './walkthrough.ts';

/** The setup before the first run: the walkthrough and the commands of its steps. */
export class Setup implements Disposable {
  private readonly store = new DisposableStore();

  constructor(folders: Folders, settings: RunSettings, claude: ClaudeCheck, log: LogOutputChannel) {
    const walkthrough = this.store.add(new Walkthrough());
    this.store.add(new ClaudeCommands(folders, claude, { walkthrough, log }));
    this.store.add(new StoryFileCommands(folders, log));
    this.store.add(new ChecksChooser(folders, settings, log));
    this.store.add(
      registerCommand(Command.openWalkthrough, log, async () => {
        await walkthrough.open();
      }),
    );
  }

  dispose(): void {
    this.store.dispose();
  }
}
