import {
  type CancellationToken,
  EventEmitter,
  type LogOutputChannel,
  type Memento,
  type TreeDataProvider,
  type TreeItem,
  type TreeView,
  window,
  workspace,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { type LeftOnBranch, leftOnBranch } from '../../orchestrator/workspace/leftOnBranch.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { Command, ContextKey, View } from '../common/contributions.ts';
import { DisposableStore, Owner } from '../common/disposableStore.ts';
import { reportingErrors } from '../common/errors.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { StoryRef } from '../common/refs.ts';
import { remember } from '../common/remember.ts';
import { Throttle } from '../common/throttle.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { DetailLines } from './detailLines.ts';
import { MinuteHand } from './minuteHand.ts';
import { StoriesFrame } from './storiesFrame.ts';
import { storyDragging } from './storyDragging.ts';
import { isFiltering, keptFilter, parseFilter, type StoryFilter } from './storyFilter.ts';
import { toTreeItem } from './storyItems.ts';
import type { StoryLines } from './storyLines.ts';
import { StoryNodes } from './storyNodes.ts';
import { childrenOf, isNamedBy, type StoryNode, type StoryTreeNode } from './storyTree.ts';

/** Delay of updates in ms: each event of a run may change any of 5,000 lines. */
const FOLLOW_MS = 100;

/** Key under which the window stores the filter. */
const FILTER_KEY = 'storyFilter';

/** What `storyActions.ts` registers when it is loaded. */
const ACTIONS = [
  Command.tickStory,
  Command.untickStory,
  Command.openStory,
  Command.openStoryFile,
  Command.chooseStoryFile,
  Command.showRunStories,
  Command.refreshStories,
  Command.filterStories,
  Command.clearFilter,
  Command.moveStoryUp,
  Command.moveStoryDown,
  Command.acceptDiscovered,
  Command.editDiscovered,
  Command.dropDiscovered,
];

/** The Stories view: the stories of the window's folders, with states and checkboxes. */
export class StoriesView extends Owner implements TreeDataProvider<StoryTreeNode>, StoryLines {
  private readonly changeEmitter = this.own(
    new EventEmitter<StoryTreeNode | StoryTreeNode[] | undefined>(),
  );
  readonly onDidChangeTreeData = this.changeEmitter.event;
  private readonly filteredKey = new ContextKeyValue<boolean>(ContextKey.filtered);
  private readonly folders: Folders;
  private readonly view: TreeView<StoryTreeNode>;
  private readonly frame: StoriesFrame;
  private readonly nodes = new Map<Folder, StoryNodes>();
  /** Folders whose stories are needed; the others are not read. */
  private readonly known = new Set<Folder>();
  /** If no story file was found: the last run's, on its branch. */
  private readonly left = new Map<Folder, LeftOnBranch>();
  private readonly minutes = this.own(
    new MinuteHand(
      () => this.folders.all.flatMap(folder => this.nodesOf(folder).shown),
      lines => this.changeEmitter.fire([...lines]),
    ),
  );
  private readonly details: DetailLines;
  private readonly state: Memento;
  private readonly log: LogOutputChannel;
  private currentFilter: StoryFilter;

  /** @param state the workspace's state; stores the filter */
  constructor(folders: Folders, state: Memento, log: LogOutputChannel) {
    super();
    this.folders = folders;
    this.state = state;
    this.log = log;
    this.currentFilter = parseFilter(state.get<unknown>(FILTER_KEY));
    if (isFiltering(this.currentFilter)) {
      this.filteredKey.set(true);
    }
    const actions = this.own(
      new OnDemand(
        ACTIONS,
        async () => {
          const { storyActions } = await import('./storyActions.ts');
          return () => storyActions(this, folders, log);
        },
        log,
      ),
    );
    this.view = this.own(
      window.createTreeView(View.stories, {
        treeDataProvider: this,
        dragAndDropController: storyDragging(actions, log),
        manageCheckboxStateManually: true,
        showCollapseAll: true,
      }),
    );
    this.details = this.own(
      new DetailLines(
        folders,
        node => {
          const folder = folders.at(node.folder);
          return folder !== undefined && this.nodesOf(folder).allStories.includes(node);
        },
        lines => this.changeEmitter.fire(lines),
        log,
      ),
    );
    this.frame = new StoriesFrame(this.view, folders, {
      nodesOf: folder => this.nodesOf(folder),
      leftOf: folder => this.left.get(folder),
      knows: folder => this.known.has(folder),
    });
    this.own(
      this.view.onDidChangeCheckboxState(({ items }) =>
        reportingErrors(log, async () => (await actions.get()).tickBoxes(items)),
      ),
    );
    this.own(folders.inEach(folder => this.follow(folder)));
    this.own(folders.onDidChange(() => this.updateAll()));
    this.own(folders.onDidChangeActive(() => this.frame.update(this.currentFilter)));
    this.own(this.view.onDidChangeVisibility(({ visible }) => this.minutes.follow(visible)));
    this.own(
      this.view.onDidChangeSelection(({ selection: [node] }) => {
        const folder = node && folders.at(folderOf(node));
        if (folder !== undefined && folder !== folders.active) {
          folders.activate(folder);
        }
      }),
    );
  }

  /** Fires when the stories become visible or hidden. */
  get onDidChangeVisibility(): TreeView<StoryTreeNode>['onDidChangeVisibility'] {
    return this.view.onDidChangeVisibility;
  }

  /** Whether the stories are visible. */
  get isVisible(): boolean {
    return this.view.visible;
  }

  getTreeItem(node: StoryTreeNode): TreeItem {
    return toTreeItem(node);
  }

  async resolveTreeItem(
    item: TreeItem,
    node: StoryTreeNode,
    _token: CancellationToken,
  ): Promise<TreeItem> {
    const { toTooltip } = await import('./storyTooltip.ts');
    const tooltip = toTooltip(node, this.folders.at(folderOf(node))?.runs);
    if (tooltip !== undefined) {
      item.tooltip = tooltip;
    }
    return item;
  }

  getParent(node: StoryTreeNode): StoryTreeNode | undefined {
    return node.kind === 'folder' ? undefined : node.parent;
  }

  async getChildren(node?: StoryTreeNode): Promise<StoryTreeNode[]> {
    if (node !== undefined) {
      return childrenOf(node, await this.details.open(node));
    }
    const { all } = this.folders;
    await Promise.all(all.map(folder => this.look(folder)));
    const [only] = all;
    return all.length > 1
      ? all.map(folder => this.nodesOf(folder).line)
      : only === undefined
        ? []
        : [...this.nodesOf(only).roots];
  }

  get filter(): StoryFilter {
    return this.currentFilter;
  }

  /** Shows only these stories from now on, also after a reload. */
  show(filter: StoryFilter): void {
    this.currentFilter = filter;
    remember(this.state, FILTER_KEY, keptFilter(filter), error => this.log.error(error));
    this.filteredKey.set(isFiltering(filter));
    this.updateAll();
  }

  /** The lines of a folder, as far as its stories have been read. */
  nodesOf(folder: Folder): StoryNodes {
    let nodes = this.nodes.get(folder);
    if (nodes === undefined) {
      nodes = new StoryNodes(folder.path, folder.name);
      this.nodes.set(folder, nodes);
    }
    return nodes;
  }

  /** The line of a story, whether or not the filter hides it. */
  find(ref: StoryRef): StoryNode | undefined {
    const owner = this.folders.at(ref.folder);
    const isMeant = isNamedBy(ref);
    return owner && this.nodesOf(owner).allStories.find(({ story }) => isMeant(story));
  }

  /** The line that has the keyboard focus. */
  get selected(): StoryTreeNode | undefined {
    return this.view.selection[0];
  }

  /** Redraws a story's line even if it has not changed: its checkbox may show an unfulfilled request. */
  redraw(node: StoryNode): void {
    this.changeEmitter.fire(node);
  }

  private follow(folder: Folder): Disposable {
    const store = new DisposableStore();
    const update = store.add(new Throttle(() => this.update(folder), FOLLOW_MS));
    store.add(
      folder.stories.onDidChange(() => {
        this.update(folder);
        // It may name another folder with the files of its stories.
        this.details.look();
      }),
    );
    store.add(
      folder.runs.onDidChange(({ runId }) => {
        if (runId !== undefined && !this.known.has(folder)) {
          // The badge must appear even if the view has not been opened yet.
          void this.look(folder);
          return;
        }
        // The agent's edits reach the journal later than the file, and file events can be lost.
        folder.stories.refreshSoon();
        update.call();
      }),
    );
    return {
      dispose: () => {
        store.dispose();
        this.nodes.delete(folder);
        this.known.delete(folder);
        this.left.delete(folder);
        this.details.forget(folder.path);
      },
    };
  }

  private async look(folder: Folder): Promise<void> {
    if (!this.known.has(folder)) {
      await folder.stories.refresh();
      await this.lookOnBranch(folder);
      if (!this.folders.all.includes(folder)) {
        return;
      }
      this.known.add(folder);
      this.updateNodes(folder);
      this.frame.update(this.currentFilter);
      this.minutes.follow(this.isVisible);
    }
  }

  private update(folder: Folder): void {
    if (!this.known.has(folder)) {
      return;
    }
    if (folder.stories.current === undefined || this.left.has(folder)) {
      void this.lookOnBranch(folder).then(() => this.frame.update(this.currentFilter));
    }
    const { isRearranged, changed } = this.updateNodes(folder);
    this.frame.update(this.currentFilter);
    if (isRearranged) {
      const isOne = this.folders.all.length < 2;
      this.changeEmitter.fire(isOne ? undefined : this.nodesOf(folder).line);
    } else if (changed.length > 0) {
      this.changeEmitter.fire([...changed]);
    }
    this.minutes.follow(this.isVisible);
  }

  /** A file that is missing here may exist on the run's branch. */
  private async lookOnBranch(folder: Folder): Promise<void> {
    let left: LeftOnBranch | undefined;
    // In Restricted Mode, git is not called.
    if (folder.stories.current === undefined && workspace.isTrusted) {
      try {
        await folder.runs.refresh();
        left = await leftOnBranch(folder.path, folder.runs.current.state);
      } catch (error) {
        this.log.error(error as Error);
      }
    }
    if (left === undefined || folder.stories.current !== undefined) {
      this.left.delete(folder);
    } else if (this.folders.all.includes(folder)) {
      this.left.set(folder, left);
    }
  }

  private updateAll(): void {
    for (const folder of this.folders.all) {
      if (this.known.has(folder)) {
        this.updateNodes(folder);
      }
    }
    this.frame.update(this.currentFilter);
    this.changeEmitter.fire(undefined);
    this.minutes.follow(this.isVisible);
  }

  private updateNodes(folder: Folder) {
    const hasFolderLine = this.folders.all.length > 1;
    const changes = this.nodesOf(folder).update({
      file: folder.stories.current,
      run: folder.runs.current,
      states: folder.runs.states,
      filter: this.currentFilter,
      hasFolderLine,
    });
    const changed = changes.changed.filter(({ kind }) => hasFolderLine || kind !== 'folder');
    return { ...changes, changed };
  }
}

function folderOf(node: StoryTreeNode): string {
  return node.kind === 'criterion' || node.kind === 'commit' ? node.parent.folder : node.folder;
}
