import path from 'node:path';
import { type LogOutputChannel, RelativePattern, Uri, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import type { Criterion } from '../../orchestrator/stories/story.ts';
import { Owner } from '../common/disposableStore.ts';
import type { Folders } from '../folders/folders.ts';
import { hasDetails, type StoryNode, type StoryTreeNode } from './storyTree.ts';

/** VS Code does not report every change of a file, so opened ones are looked at this often, in ms. */
const LOOK_MS = 5_000;

/**
 * The lines whose criteria stand in a file of the story. The story file, whose changes renew all other lines, stays the
 * same when such a file changes, so the files of opened lines are followed here.
 */
export class DetailLines extends Owner {
  private readonly folders: Folders;
  private readonly has: (node: StoryNode) => boolean;
  private readonly onChange: (nodes: StoryNode[]) => void;
  private readonly log: LogOutputChannel;
  /** What each line that was opened shows below it, as text. */
  private readonly shown = new Map<StoryNode, string>();
  private readonly watchers = new Map<string, Disposable>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private lookAgain = false;

  /**
   * @param has whether the view still has this line
   * @param onChange called with lines below which something has changed
   */
  constructor(
    folders: Folders,
    has: (node: StoryNode) => boolean,
    onChange: (nodes: StoryNode[]) => void,
    log: LogOutputChannel,
  ) {
    super();
    this.folders = folders;
    this.has = has;
    this.onChange = onChange;
    this.log = log;
  }

  /** The criteria below a line that is opened; its file is followed from now on. */
  async open(node: StoryTreeNode): Promise<readonly Criterion[]> {
    if (node.kind !== 'story' || !hasDetails(node.story)) {
      return [];
    }
    let criteria: readonly Criterion[] = [];
    try {
      criteria = await this.read(node);
    } catch (error) {
      // Its commits are shown all the same.
      this.log.error(`The file of ${node.story.id} cannot be read:`, error);
    }
    this.shown.set(node, JSON.stringify(criteria));
    this.watch(node.folder);
    this.timer ??= setInterval(() => this.look(), LOOK_MS);
    return criteria;
  }

  /** Reads the files of opened lines again. Calls while they are read result in one more look. */
  look(): void {
    if (this.looking !== undefined) {
      this.lookAgain = true;
      return;
    }
    this.looking = this.lookUntilCurrent().finally(() => {
      this.looking = undefined;
    });
  }

  /** Follows nothing of a folder that has left the window. */
  forget(folder: string): void {
    this.watchers.get(folder)?.dispose();
    this.watchers.delete(folder);
    this.drop(node => node.folder === folder);
  }

  override dispose(): void {
    for (const folder of [...this.watchers.keys()]) {
      this.forget(folder);
    }
    super.dispose();
  }

  private async lookUntilCurrent(): Promise<void> {
    do {
      this.lookAgain = false;
      this.drop(node => !this.has(node));
      const changed: StoryNode[] = [];
      for (const [node, before] of [...this.shown]) {
        // An error was logged when the line was opened.
        const now = JSON.stringify(await this.read(node).catch(() => []));
        // A line may have been opened, or forgotten, meanwhile.
        if (now !== before && this.shown.get(node) === before) {
          this.shown.set(node, now);
          changed.push(node);
        }
      }
      if (changed.length > 0) {
        this.onChange(changed);
      }
    } while (this.lookAgain);
  }

  private async read({ folder: at, story }: StoryNode): Promise<readonly Criterion[]> {
    const folder = this.folders.at(at);
    const file = folder?.stories.current;
    if (folder === undefined || file === undefined) {
      return [];
    }
    const { readDetailCriteria } = await import('../../orchestrator/stories/storyDetails.ts');
    return readDetailCriteria(folder.path, file.path, story);
  }

  private watch(folder: string): void {
    if (this.watchers.has(folder)) {
      return;
    }
    const watcher = workspace.createFileSystemWatcher(
      new RelativePattern(Uri.file(folder), '**/*.md'),
    );
    const look = ({ fsPath }: Uri) => {
      const name = path.basename(fsPath);
      if ([...this.shown.keys()].some(({ story }) => path.basename(story.details ?? '') === name)) {
        this.look();
      }
    };
    watcher.onDidChange(look);
    watcher.onDidCreate(look);
    watcher.onDidDelete(look);
    this.watchers.set(folder, watcher);
  }

  private drop(isGone: (node: StoryNode) => boolean): void {
    for (const node of [...this.shown.keys()].filter(isGone)) {
      this.shown.delete(node);
    }
    if (this.shown.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }
}
