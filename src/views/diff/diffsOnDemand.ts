import { type LogOutputChannel, type Memento, type TextDocument, workspace } from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { Command, GIT_SCHEME } from '../contributions.ts';
import { DisposableStore } from '../disposableStore.ts';
import type { Folders } from '../folders/folders.ts';
import { OnDemand } from '../onDemand.ts';
import { GitFileSystem } from './gitFileSystem.ts';

/**
 * What runs have changed, loaded by the first look at it. Its files can be read at once: VS Code asks for
 * them when it restores an editor.
 * @param state of the workspace; remembers the review notes
 */
export function diffsOnDemand(folders: Folders, state: Memento, log: LogOutputChannel): Disposable {
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
        const { Diffs } = await import('./diffs.ts');
        return () => new Diffs(folders, state, log);
      },
      log,
    ),
  );
  const look = (documents: readonly TextDocument[]) => {
    if (documents.some(({ uri }) => uri.scheme === GIT_SCHEME)) {
      diffs.get().catch((error: unknown) => log.error(String(error)));
    }
  };
  store.add(workspace.onDidOpenTextDocument(document => look([document])));
  look(workspace.textDocuments);
  return store;
}
