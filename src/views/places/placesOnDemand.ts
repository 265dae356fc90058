import type { LogOutputChannel, Memento } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Command } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { Folders } from '../folders/folders.ts';
import { PlaceFileSystem } from './placeFileSystem.ts';
import { SettledFileSystem } from './settledFileSystem.ts';
import { ShownChanges } from './shownChanges.ts';

/**
 * The places of agents, and conflicts that a person settles in one, loaded on first use. Their files can be read at
 * once: VS Code requests them when it restores an editor.
 */
export function placesOnDemand(
  folders: Folders,
  state: Memento,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const files = store.add(new PlaceFileSystem(folders));
  store.add(new SettledFileSystem(folders));
  const shown = new ShownChanges(state, error => log.error(error));
  const places = store.add(
    new OnDemand(
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
        return () => places(folders, files, shown, log);
      },
      log,
    ),
  );
  if (shown.all.length > 0) {
    places.getSoon();
  }
  return store;
}
