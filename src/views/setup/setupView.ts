import { type TreeDataProvider, TreeItem, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { View } from '../common/contributions.ts';

/**
 * What stands in the way of a run, above the stories: a view without lines, whose welcome (package.json) says what is
 * wrong and has the one button that mends it. It is only there while something is.
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
