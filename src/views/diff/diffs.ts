import { Disposable, type LogOutputChannel, type Uri } from 'vscode';
import type { Folders } from '../folders/folders.ts';
import { changesCommands } from './changesCommands.ts';
import { RecordedWork } from './recordedWork.ts';
import { revertCommands } from './revertCommands.ts';
import { reviewComments } from './reviewComments.ts';
import { ReviewNotes } from './reviewNotes.ts';

/**
 * Changes made by runs: to view, to comment on, to revert.
 * @param notesDir where the review notes are stored
 * @returns the factory
 */
export async function diffs(
  folders: Folders,
  notesDir: Uri,
  log: LogOutputChannel,
): Promise<() => Disposable> {
  const notes = await ReviewNotes.open(notesDir, error => log.error(String(error)));
  return () => {
    const work = new RecordedWork();
    return Disposable.from(
      changesCommands(folders, work, log),
      revertCommands(folders, work, log),
      reviewComments(folders, work, notes, log),
    );
  };
}
