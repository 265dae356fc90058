import type { Event, TreeDataProvider } from 'vscode';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import type { StoryTreeNode } from '../stories/storyNodes.ts';

/** What `activate` gives to other extensions, and to the tests inside the extension host. */
export interface RalphFreshApi {
  /** The data of the Stories view. */
  readonly stories: TreeDataProvider<StoryTreeNode>;
  /** How the workspace's newest run stands. */
  readonly run: {
    readonly current: WatchedRun;
    readonly onDidChange: Event<WatchedRun>;
  };
}
