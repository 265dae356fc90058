import {
  Disposable,
  type EventEmitter,
  type LogOutputChannel,
  type TreeView,
  type Uri,
} from 'vscode';
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
export function iterations(
  runs: ActiveRun,
  folders: Folders,
  view: TreeView<IterationTreeNode>,
  changed: IterationEmitters,
  log: LogOutputChannel,
) {
  const documents = new RunDocuments(folders, changed.documents);
  const lines = new IterationsView(runs, folders, view, changed.lines, documents, log);
  return Object.assign(Disposable.from(lines, documents), { lines, documents });
}
