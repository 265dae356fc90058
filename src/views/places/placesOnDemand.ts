import type { LogOutputChannel } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Command } from '../common/contributions.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { Folders } from '../folders/folders.ts';

/** The places of agents, and conflicts that a person settles in one, loaded on first use. */
export function placesOnDemand(folders: Folders, log: LogOutputChannel): Disposable {
  return new OnDemand(
    [
      Command.openPlace,
      Command.showPlaceChanges,
      Command.openPlaceTerminal,
      Command.discardWork,
      Command.settleConflict,
      Command.landSettled,
      Command.giveConflictBack,
    ],
    async () => {
      const { places } = await import('./places.ts');
      return () => places(folders, log);
    },
    log,
  );
}
