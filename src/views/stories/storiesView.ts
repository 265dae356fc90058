import path from 'node:path';
import {
  commands,
  EventEmitter,
  type LogOutputChannel,
  l10n,
  Range,
  type TreeDataProvider,
  type TreeItem,
  TreeItemCheckboxState,
  type TreeView,
  Uri,
  window,
} from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { recordTick } from '../../orchestrator/run/ticks.ts';
import { setStoryDone } from '../../orchestrator/stories/edit.ts';
import { storyKeys } from '../../orchestrator/stories/select.ts';
import { ContextKeyValue } from '../contextKey.ts';
import { Command, ContextKey, View } from '../contributions.ts';
import { DisposableStore } from '../disposableStore.ts';
import { reportingErrors } from '../errors.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { ActiveStories } from '../folders/activeStories.ts';
import { plainSentence } from '../plainSentence.ts';
import { type StoryNode, type StoryTreeNode, toTreeItem } from './storyItems.ts';
import { commitsByStory, storyStates } from './storyState.ts';

/** The Stories view: the story file's stories with their ticks, and under each its commits. */
export class StoriesView implements TreeDataProvider<StoryTreeNode>, Disposable {
  private readonly store = new DisposableStore();
  private readonly changeEmitter = this.store.add(
    new EventEmitter<StoryTreeNode | StoryTreeNode[] | undefined>(),
  );
  readonly onDidChangeTreeData = this.changeEmitter.event;
  private readonly storyFileKey = new ContextKeyValue<'none' | 'broken' | 'ready'>(
    ContextKey.storyFile,
  );
  private readonly stories: ActiveStories;
  private readonly runs: ActiveRun;
  private readonly view: TreeView<StoryTreeNode>;
  private nodes: readonly StoryTreeNode[] | undefined;

  constructor(stories: ActiveStories, runs: ActiveRun, log: LogOutputChannel) {
    this.stories = stories;
    this.runs = runs;
    this.view = this.store.add(
      window.createTreeView(View.stories, {
        treeDataProvider: this,
        manageCheckboxStateManually: true,
        showCollapseAll: true,
      }),
    );
    this.store.add(stories.onDidChange(() => this.update()));
    this.store.add(
      runs.onDidChange(() => {
        // The agent's edits reach the journal later than the file, and file events can be lost.
        stories.refreshSoon();
        this.update();
      }),
    );
    this.store.add(
      this.view.onDidChangeCheckboxState(({ items }) =>
        reportingErrors(log, async () => {
          for (const [node, state] of items) {
            await this.tick(node, state === TreeItemCheckboxState.Checked);
          }
        }),
      ),
    );
    this.store.add(commands.registerCommand(Command.refreshStories, () => stories.refresh()));
    this.store.add(
      commands.registerCommand(Command.openStoryFile, (file?: Uri, line = 1, column = 1) =>
        reportingErrors(log, () => this.openStoryFile(file, line, column)),
      ),
    );
    for (const [command, done] of [
      [Command.tickStory, true],
      [Command.untickStory, false],
    ] as const) {
      this.store.add(
        commands.registerCommand(command, (node?: StoryTreeNode) =>
          reportingErrors(log, () => this.tick(node, done)),
        ),
      );
    }
    this.store.add(
      commands.registerCommand(Command.openStory, (node?: StoryTreeNode) =>
        reportingErrors(log, () =>
          this.openStoryFile(undefined, node?.kind === 'story' ? node.story.line : 1, 1),
        ),
      ),
    );
  }

  dispose(): void {
    this.store.dispose();
  }

  getTreeItem(node: StoryTreeNode): TreeItem {
    return toTreeItem(node);
  }

  getParent(node: StoryTreeNode): StoryTreeNode | undefined {
    return node.kind === 'commit' ? node.parent : undefined;
  }

  async getChildren(node?: StoryTreeNode): Promise<StoryTreeNode[]> {
    if (node) {
      return node.kind === 'story'
        ? node.commits.map(commit => ({ kind: 'commit', parent: node, commit }))
        : [];
    }
    if (this.nodes === undefined) {
      await this.stories.refresh();
      this.nodes = this.build();
      this.tellAround();
    }
    return [...this.nodes];
  }

  private update(): void {
    if (this.nodes === undefined) {
      // Nobody has looked yet.
      return;
    }
    const before = this.nodes;
    const hadChildren = this.hasChildren;
    const changed: StoryNode[] = [];
    this.nodes = this.build(node => changed.push(node));
    this.tellAround();
    const sameLines =
      before.length === this.nodes.length &&
      before.every((node, index) => node === this.nodes?.[index]);
    // The first line that can be opened moves all the others to the right.
    if (!sameLines || hadChildren !== this.hasChildren) {
      this.changeEmitter.fire(undefined);
    } else if (changed.length > 0) {
      this.changeEmitter.fire(changed);
    }
  }

  private get hasChildren(): boolean {
    return this.nodes?.some(node => node.kind === 'story' && node.commits.length > 0) ?? false;
  }

  /** @param onChange told of every line that was there before and says something else now */
  private build(onChange: (node: StoryNode) => void = () => undefined): StoryTreeNode[] {
    const file = this.stories.current;
    if (file === undefined) {
      return [];
    }
    if (file.kind === 'invalid') {
      return [{ kind: 'problem', file }];
    }
    const { states } = this.runs;
    const keys = storyKeys(file.stories);
    const storyState = storyStates(file.stories, { run: this.runs.current, states });
    const commits = commitsByStory(states);
    const known = new Map(
      this.nodes?.flatMap(node => (node.kind === 'story' ? [[node.key, node]] : [])),
    );
    return file.stories.flatMap((story): StoryNode[] => {
      const state = storyState.get(story);
      const key = keys.get(story) ?? story.id;
      if (state === undefined) {
        return [];
      }
      const facts = { story, state, commits: commits.get(story.id) ?? [] };
      const node = known.get(key);
      if (node === undefined) {
        return [{ kind: 'story', key, ...facts }];
      }
      const isSame =
        (node.story === story || JSON.stringify(node.story) === JSON.stringify(story)) &&
        node.commits.length === facts.commits.length &&
        JSON.stringify(node.state) === JSON.stringify(state);
      Object.assign(node, facts);
      if (!isSame) {
        onChange(node);
      }
      return [node];
    });
  }

  /** What stands around the list: the count above it, and which welcome there is when it is empty. */
  private tellAround(): void {
    const file = this.stories.current;
    if (file?.kind === 'stories') {
      const done = file.stories.filter(story => story.done).length;
      const total = file.stories.length;
      const [problem] = file.problems;
      const count =
        total === 0
          ? l10n.t('{0} holds no stories yet', path.basename(file.path))
          : l10n.t('{0} of {1} done', done, total);
      this.view.message =
        problem === undefined
          ? count
          : l10n.t('{0} — line {1}: {2}', count, problem.line, plainSentence(problem.message));
    } else if (file?.kind === 'invalid') {
      // In whole; the line below it is too short for most.
      const [{ line, message }] = file.problems;
      this.view.message = l10n.t(
        '{0}, line {1}: {2}',
        path.basename(file.path),
        line,
        plainSentence(message),
      );
    } else {
      // An empty message would leave a blank line; the declared type lacks `undefined`.
      this.view.message = '';
    }
    this.storyFileKey.set(
      file === undefined ? 'none' : file.kind === 'invalid' ? 'broken' : 'ready',
    );
  }

  private async tick(node: StoryTreeNode | undefined, done: boolean): Promise<void> {
    const { files } = this.runs;
    const file = this.stories.current;
    if (node?.kind !== 'story' || files === undefined || file === undefined) {
      return;
    }
    try {
      const { id, position } = node.story;
      // Should the file have changed since it was shown, a position in it is not trusted.
      await setStoryDone(file.path, { id, position }, done, { expectedHash: file.hash });
      await recordTick(files, id, done);
    } finally {
      // Also when it failed: the box must show what the file says.
      await this.stories.refresh();
      await this.runs.refresh();
      this.changeEmitter.fire(undefined);
    }
  }

  private async openStoryFile(file: Uri | undefined, line: number, column: number): Promise<void> {
    const current = this.stories.current?.path;
    const uri = file ?? (current === undefined ? undefined : Uri.file(current));
    if (uri === undefined) {
      await commands.executeCommand(Command.createStoryFile);
      return;
    }
    const at = new Range(line - 1, column - 1, line - 1, column - 1);
    await window.showTextDocument(uri, { selection: at });
  }
}
