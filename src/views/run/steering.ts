import { Disposable, type LogOutputChannel, type Memento } from 'vscode';
import { ConfigValue } from '../common/configValue.ts';
import { type Folders, folderOf } from '../folders/folders.ts';
import { RunSettings } from '../settings/runSettings.ts';
import { ClaudeCheck } from '../setup/claudeCheck.ts';
import { setup } from '../setup/setup.ts';
import { laneCommands } from './laneCommands.ts';
import { runActionsMenu } from './runActionsMenu.ts';
import { runCommands } from './runCommands.ts';
import { runStarter } from './runStarter.ts';

/**
 * Commands that start, control and stop runs, and the setup before the first one.
 * @param program `dist/cli.js` of this extension
 * @param onLook called when a person has viewed the state of a run
 * @param state the workspace's state; stores what a person chose last
 */
export function steering(
  folders: Folders,
  program: string,
  onLook: () => void,
  state: Memento,
  log: LogOutputChannel,
) {
  /** Settings of a run that are set in the window. */
  const settings = new RunSettings(log);
  const claude = new ClaudeCheck(folders, settings, program, log);
  const onLastWindowClosed = new ConfigValue('onLastWindowClosed', 'continue');
  const start = runStarter(
    settings,
    onLastWindowClosed,
    program,
    folder => claude.requireAgent(folder),
    log,
  );
  const parts = Disposable.from(
    settings,
    claude,
    setup(folders, settings, claude, program, log),
    onLastWindowClosed,
    runCommands(folders, start, log),
    laneCommands(folders, settings, start, state, log),
    runActionsMenu(folders, onLook, log),
  );
  return Object.assign(parts, {
    settings,
    claude,
    /** Starts a run, or continues the last one. @returns whether a run is running now */
    start,
    /** Starts a run in the active folder without showing it, for callers that show it themselves. */
    startActive: async () => {
      await start(folderOf(folders, undefined));
    },
  });
}

export type Steering = ReturnType<typeof steering>;
