import type { StoryRef } from '../common/refs.ts';
import type { Folder } from '../folders/folder.ts';
import type { StoryFilter } from './storyFilter.ts';
import type { StoryNode, StoryNodes, StoryTreeNode } from './storyNodes.ts';

/** The lines of the Stories view, for what a person does with them. */
export interface StoryLines {
  readonly filter: StoryFilter;
  /** The line that the keyboard is on. */
  readonly selected: StoryTreeNode | undefined;
  /** Shows only these stories from now on, also after a reload. */
  show(filter: StoryFilter): void;
  /** The lines of a folder, as far as its stories have been read. */
  nodesOf(folder: Folder): StoryNodes;
  /** The line of a story, whether or not the filter hides it. */
  find(ref: StoryRef): StoryNode | undefined;
  /** Draws a story's line again, also where nothing has changed: its box may show what a person wished. */
  redraw(node: StoryNode): void;
}
