import type { LogOutputChannel } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { ConfigValue } from '../common/configValue.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import type { Folder } from '../folders/folder.ts';
import { folderOf } from '../folders/folderOf.ts';
import type { Folders } from '../folders/folders.ts';
import { RunSettings } from '../settings/runSettings.ts';
import { ClaudeCheck } from '../setup/claudeCheck.ts';
import { setup } from '../setup/setup.ts';
import { runActionsMenu } from './runActionsMenu.ts';
import { runCommands } from './runCommands.ts';
import { RunStarter } from './runStarter.ts';

/** Commands that start, control and stop runs, and the setup before the first one. */
export class Steering implements Disposable {
  private readonly store = new DisposableStore();
  private readonly folders: Folders;
  private readonly starter: RunStarter;
  /** Settings of a run that are set in the window. */
  readonly settings: RunSettings;
  readonly claude: ClaudeCheck;

  /**
   * @param program `dist/cli.js` of this extension
   * @param onLook called when a person has viewed the state of a run
   */
  constructor(folders: Folders, program: string, onLook: () => void, log: LogOutputChannel) {
    this.folders = folders;
    this.settings = this.store.add(new RunSettings(log));
    this.claude = this.store.add(new ClaudeCheck(folders, this.settings, { program, log }));
    this.store.add(setup(folders, this.settings, this.claude, log));
    const onLastWindowClosed = this.store.add(new ConfigValue('onLastWindowClosed', 'continue'));
    const requireAgent = (folder: Folder) => this.claude.requireAgent(folder);
    this.starter = new RunStarter(this.settings, onLastWindowClosed, program, requireAgent, log);
    this.store.add(runCommands(folders, this.starter, log));
    this.store.add(runActionsMenu(folders, onLook, log));
  }

  /**
   * Starts a run, or continues the last one.
   * @returns whether a run is running now
   */
  start(folder: Folder): Promise<boolean> {
    return this.starter.start(folder);
  }

  /** Starts a run in the active folder without showing it, for callers that show it themselves. */
  async startActive(): Promise<void> {
    await this.start(folderOf(this.folders, undefined));
  }

  dispose(): void {
    this.store.dispose();
  }
}
