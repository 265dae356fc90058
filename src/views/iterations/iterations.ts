import type { EventEmitter, LogOutputChannel, TreeView, Uri } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { Folders } from '../folders/folders.ts';
import type { IterationTreeNode } from './iterationNodes.ts';
import { IterationsView } from './iterationsView.ts';
import { RunDocuments } from './runDocuments.ts';

/** Emitters that request a redraw. */
export interface IterationEmitters {
  readonly lines: EventEmitter<IterationTreeNode | IterationTreeNode[] | undefined>;
  readonly documents: EventEmitter<Uri>;
}

/** What runs have done: the lines of their iterations, and the documents of each. */
export class Iterations implements Disposable {
  private readonly store = new DisposableStore();
  readonly view: IterationsView;
  readonly documents: RunDocuments;

  constructor(
    runs: ActiveRun,
    folders: Folders,
    view: TreeView<IterationTreeNode>,
    changed: IterationEmitters,
    log: LogOutputChannel,
  ) {
    this.documents = this.store.add(new RunDocuments(folders, changed.documents));
    this.view = this.store.add(
      new IterationsView(runs, folders, view, changed.lines, this.documents, log),
    );
  }

  dispose(): void {
    this.store.dispose();
  }
}
