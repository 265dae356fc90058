import type { LogOutputChannel, Memento } from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { DisposableStore } from '../disposableStore.ts';
import type { Folders } from '../folders/folders.ts';
import { ChangesCommands } from './changesCommands.ts';
import { RecordedWork } from './recordedWork.ts';
import { RevertCommands } from './revertCommands.ts';
import { ReviewComments } from './reviewComments.ts';

/** What runs have changed: to look at, to comment, to take back. */
export class Diffs implements Disposable {
  private readonly store = new DisposableStore();

  /** @param state of the workspace; remembers the review notes */
  constructor(folders: Folders, state: Memento, log: LogOutputChannel) {
    const work = new RecordedWork();
    this.store.add(new ChangesCommands(folders, work, log));
    this.store.add(new RevertCommands(folders, work, log));
    this.store.add(new ReviewComments(folders, work, state, log));
  }

  dispose(): void {
    this.store.dispose();
  }
}
