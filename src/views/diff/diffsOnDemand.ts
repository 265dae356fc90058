import {
  FileSystemError,
  type LogOutputChannel,
  type TextDocument,
  type Uri,
  workspace,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Command, GIT_SCHEME } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { Folders } from '../folders/folders.ts';
import { GitFileSystem } from './gitFileSystem.ts';

/**
 * Changes made by runs, loaded on first use. Their files can be read at once: VS Code requests them when it restores
 * an editor.
 * @param notesDir where the review notes are stored
 */
export function diffsOnDemand(folders: Folders, notesDir: Uri, log: LogOutputChannel): Disposable {
  const store = new DisposableStore();
  store.add(new GitFileSystem(folders));
  const diffs = store.add(
    new OnDemand(
      [
        Command.openCommit,
        Command.openIterationChanges,
        Command.openStoryChanges,
        Command.openRunChanges,
        Command.revertIteration,
        Command.revertStory,
        Command.noteOnLine,
        Command.addReviewNote,
        Command.editReviewNote,
        Command.saveReviewNote,
        Command.cancelReviewNote,
        Command.deleteReviewNote,
      ],
      async () => {
        const { diffs } = await import('./diffs.ts');
        return diffs(folders, notesDir, log);
      },
      log,
    ),
  );
  const look = (documents: readonly TextDocument[]) => {
    if (documents.some(({ uri }) => uri.scheme === GIT_SCHEME)) {
      diffs.getSoon();
    }
  };
  store.add(workspace.onDidOpenTextDocument(document => look([document])));
  look(workspace.textDocuments);
  // The Comments panel shows the notes of earlier windows before any diff is opened.
  workspace.fs.readDirectory(notesDir).then(
    files => (files.length > 0 ? diffs.getSoon() : undefined),
    (error: unknown) => {
      // No note has been written yet.
      if (!(error instanceof FileSystemError && error.code === 'FileNotFound')) {
        log.error(String(error));
      }
    },
  );
  return store;
}
