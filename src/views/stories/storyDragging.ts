import { DataTransferItem, type LogOutputChannel, type TreeDragAndDropController } from 'vscode';
import { View } from '../common/contributions.ts';
import { reportingErrors } from '../common/errors.ts';
import type { OnDemand } from '../common/onDemand.ts';
import type { StoryActions } from './storyActions.ts';
import type { StoryTreeNode } from './storyTree.ts';

/** VS Code's MIME type for lines dragged out of this view. */
const MIME = `application/vnd.code.tree.${View.stories.toLowerCase()}`;

/** Lets a story be dragged to another position in the list. */
export function storyDragging(
  actions: OnDemand<StoryActions>,
  log: LogOutputChannel,
): TreeDragAndDropController<StoryTreeNode> {
  return {
    dragMimeTypes: [MIME],
    dropMimeTypes: [MIME],
    handleDrag([node], data) {
      if (node?.kind === 'story') {
        data.set(MIME, new DataTransferItem(node.ref));
      }
    },
    handleDrop(target, data) {
      const dragged: unknown = data.get(MIME)?.value;
      return reportingErrors(log, async () => (await actions.get()).drop(dragged, target));
    },
  };
}
