import {
  EventEmitter,
  type LogOutputChannel,
  type TreeView,
  type Uri,
  window,
  workspace,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Command, RUN_SCHEME, View } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { Folders } from '../folders/folders.ts';
import type { IterationTreeNode } from './iterationNodes.ts';

/** The Iterations view and the documents of runs, loaded when one of them is opened. */
export function iterationsOnDemand(
  runs: ActiveRun,
  folders: Folders,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const lines = store.add(new EventEmitter<IterationTreeNode | IterationTreeNode[] | undefined>());
  const documents = store.add(new EventEmitter<Uri>());
  const loaded = store.add(
    new OnDemand(
      [Command.openPrompt, Command.openTranscript, Command.openCheckOutput, Command.showReceipt],
      async () => {
        const { iterations } = await import('./iterations.ts');
        return () => iterations(runs, folders, view, { lines, documents }, log);
      },
      log,
    ),
  );
  const view: TreeView<IterationTreeNode> = store.add(
    window.createTreeView(View.iterations, {
      treeDataProvider: {
        onDidChangeTreeData: lines.event,
        getChildren: async node => (await loaded.get()).lines.getChildren(node),
        getTreeItem: async node => (await loaded.get()).lines.getTreeItem(node),
      },
      showCollapseAll: true,
    }),
  );
  // VS Code requests them by itself when it restores an editor.
  store.add(
    workspace.registerTextDocumentContentProvider(RUN_SCHEME, {
      onDidChange: documents.event,
      provideTextDocumentContent: async uri => (await loaded.get()).documents.textOf(uri),
    }),
  );
  return store;
}
