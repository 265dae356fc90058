import {
  type LogOutputChannel,
  languages,
  TabInputTextDiff,
  type TextDocument,
  window,
  workspace,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Command, PLAN_SCHEME } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { Folders } from '../folders/folders.ts';
import type { Steering } from '../run/steering.ts';
import { STORY_DOCUMENTS } from './storySelector.ts';

/**
 * The story editor, loaded when a file that may contain stories is open, or when a plan is requested.
 * @param program `dist/cli.js` of this extension
 */
export function prdEditorOnDemand(
  folders: Folders,
  steering: OnDemand<Steering>,
  program: string,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const editor = store.add(
    new OnDemand(
      [
        ...[Command.planStories, Command.splitStory, Command.acceptPlan, Command.discardPlan],
        ...[Command.showNextPrompt, Command.pinFile, Command.barFile, Command.updatePin],
      ],
      async () => {
        const [{ prdEditor }, { settings }] = await Promise.all([
          import('./prdEditor.ts'),
          steering.get(),
        ]);
        return () => prdEditor(folders, settings, program, log);
      },
      log,
    ),
  );
  const look = (documents: readonly TextDocument[]) => {
    if (documents.some(document => languages.match(STORY_DOCUMENTS, document) > 0)) {
      editor.getSoon();
    }
  };
  store.add(workspace.onDidOpenTextDocument(document => look([document])));
  look(workspace.textDocuments);
  if (isPlanOpen()) {
    // Left over from before a reload; the editor closes it.
    editor.getSoon();
  }
  return store;
}

function isPlanOpen(): boolean {
  return window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .some(
      ({ input }) => input instanceof TabInputTextDiff && input.modified.scheme === PLAN_SCHEME,
    );
}
