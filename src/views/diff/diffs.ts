import type { LogOutputChannel, Uri } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import type { Folders } from '../folders/folders.ts';
import { changesCommands } from './changesCommands.ts';
import { RecordedWork } from './recordedWork.ts';
import { revertCommands } from './revertCommands.ts';
import { ReviewComments } from './reviewComments.ts';
import { ReviewNotes } from './reviewNotes.ts';

/** Changes made by runs: to view, to comment on, to revert. */
export class Diffs implements Disposable {
  private readonly store = new DisposableStore();

  private constructor(folders: Folders, notes: ReviewNotes, log: LogOutputChannel) {
    const work = new RecordedWork();
    this.store.add(changesCommands(folders, work, log));
    this.store.add(revertCommands(folders, work, log));
    this.store.add(new ReviewComments(folders, work, notes, log));
  }

  /**
   * @param notesDir where the review notes are stored
   * @returns the factory
   */
  static async load(folders: Folders, notesDir: Uri, log: LogOutputChannel): Promise<() => Diffs> {
    const notes = await ReviewNotes.open(notesDir, error => log.error(String(error)));
    return () => new Diffs(folders, notes, log);
  }

  dispose(): void {
    this.store.dispose();
  }
}
