import {
  type DataTransfer,
  DataTransferItem,
  type LogOutputChannel,
  type TreeDragAndDropController,
} from 'vscode';
import { View } from '../common/contributions.ts';
import { reportingErrors } from '../common/errors.ts';
import type { OnDemand } from '../common/onDemand.ts';
import type { StoryActions } from './storyActions.ts';
import type { StoryTreeNode } from './storyNodes.ts';

/** VS Code's MIME type for lines dragged out of this view. */
const MIME = `application/vnd.code.tree.${View.stories.toLowerCase()}`;

/** Lets a story be dragged to another position in the list. */
export class StoryDragging implements TreeDragAndDropController<StoryTreeNode> {
  readonly dragMimeTypes = [MIME];
  readonly dropMimeTypes = [MIME];
  private readonly actions: OnDemand<StoryActions>;
  private readonly log: LogOutputChannel;

  constructor(actions: OnDemand<StoryActions>, log: LogOutputChannel) {
    this.actions = actions;
    this.log = log;
  }

  handleDrag([node]: readonly StoryTreeNode[], data: DataTransfer): void {
    if (node?.kind === 'story') {
      data.set(MIME, new DataTransferItem(node.ref));
    }
  }

  handleDrop(target: StoryTreeNode | undefined, data: DataTransfer): Promise<void> {
    const dragged: unknown = data.get(MIME)?.value;
    return reportingErrors(this.log, async () => {
      const { order } = await this.actions.get();
      await order.drop(dragged, target);
    });
  }
}
