import { type Disposable, TreeItem, window } from 'vscode';
import { View } from '../common/contributions.ts';

/**
 * Shows an obstacle for a run above the stories: a view without lines, whose welcome (package.json) describes the
 * problem and has the one button that fixes it. It is visible only while there is an obstacle.
 */
export function setupView(): Disposable {
  return window.createTreeView<never>(View.setup, {
    treeDataProvider: { getTreeItem: () => new TreeItem(''), getChildren: () => [] },
  });
}
