import type { Event, TreeDataProvider } from 'vscode';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import type { StoryTreeNode } from '../stories/storyTree.ts';

/** The result of `activate`, for other extensions and for the tests inside the extension host. */
export interface RalphFreshApi {
  /** The data of the Stories view. */
  readonly stories: TreeDataProvider<StoryTreeNode>;
  /** State of the workspace's newest run. */
  readonly run: {
    readonly current: WatchedRun;
    readonly onDidChange: Event<WatchedRun>;
  };
}
