import { Disposable, type LogOutputChannel } from 'vscode';
import type { Folders } from '../folders/folders.ts';
import { discardCommands } from './discardCommands.ts';
import { LiveChanges } from './liveChanges.ts';
import { placeCommands } from './placeCommands.ts';
import type { PlaceFileSystem } from './placeFileSystem.ts';
import { PlaceTerminals } from './placeTerminals.ts';
import { settleCommands } from './settleCommands.ts';
import type { ShownChanges } from './shownChanges.ts';

/** The places in which agents work, and in which a person settles a conflict. */
export function places(
  folders: Folders,
  files: PlaceFileSystem,
  shown: ShownChanges,
  log: LogOutputChannel,
): Disposable {
  const reportError = (error: Error) => log.error(error);
  return Disposable.from(
    placeCommands(
      folders,
      new LiveChanges(folders, files, shown, reportError),
      new PlaceTerminals(folders, reportError),
      log,
    ),
    discardCommands(folders, log),
    settleCommands(folders, log),
  );
}
