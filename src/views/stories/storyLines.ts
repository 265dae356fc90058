import type { StoryRef } from '../common/refs.ts';
import type { Folder } from '../folders/folder.ts';
import type { StoryFilter } from './storyFilter.ts';
import type { StoryNodes } from './storyNodes.ts';
import type { StoryNode, StoryTreeNode } from './storyTree.ts';

/** The lines of the Stories view, for the actions on stories. */
export interface StoryLines {
  readonly filter: StoryFilter;
  /** The line that has the keyboard focus. */
  readonly selected: StoryTreeNode | undefined;
  /** Shows only these stories from now on, also after a reload. */
  show(filter: StoryFilter): void;
  /** The lines of a folder, as far as its stories have been read. */
  nodesOf(folder: Folder): StoryNodes;
  /** The line of a story, whether or not the filter hides it. */
  find(ref: StoryRef): StoryNode | undefined;
  /** Redraws a story's line even if it has not changed: its checkbox may show an unfulfilled request. */
  redraw(node: StoryNode): void;
}
