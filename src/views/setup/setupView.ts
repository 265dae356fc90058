import { type TreeDataProvider, TreeItem, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { View } from '../common/contributions.ts';

/**
 * Shows an obstacle for a run above the stories: a view without lines, whose welcome (package.json) describes the
 * problem and has the one button that fixes it. It is visible only while there is an obstacle.
 */
export class SetupView implements TreeDataProvider<never>, Disposable {
  private readonly view: Disposable;

  constructor() {
    this.view = window.createTreeView(View.setup, { treeDataProvider: this });
  }

  getTreeItem(): TreeItem {
    return new TreeItem('');
  }

  getChildren(): never[] {
    return [];
  }

  dispose(): void {
    this.view.dispose();
  }
}
