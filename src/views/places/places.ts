import { Disposable, type LogOutputChannel } from 'vscode';
import type { Folders } from '../folders/folders.ts';
import { discardCommands } from './discardCommands.ts';
import { placeCommands } from './placeCommands.ts';
import { settleCommands } from './settleCommands.ts';

/** The places in which agents work, and in which a person settles a conflict. */
export function places(folders: Folders, log: LogOutputChannel): Disposable {
  return Disposable.from(
    placeCommands(folders, log),
    discardCommands(folders, log),
    settleCommands(folders, log),
  );
}
