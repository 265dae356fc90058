import {
  commands,
  type LogOutputChannel,
  l10n,
  Range,
  TreeItemCheckboxState,
  Uri,
  window,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import { tickStory } from '../../orchestrator/workspace/tickStory.ts';
import { Command } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { parseStoryRef, type StoryRef } from '../common/refs.ts';
import { registerCommand } from '../common/registerCommand.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { pickStoryFile } from './pickStoryFile.ts';
import { pickStoryFilter } from './pickStoryFilter.ts';
import { runsOtherFile } from './runsOtherFile.ts';
import { NO_FILTER } from './storyFilter.ts';
import type { StoryLines } from './storyLines.ts';
import { isNamedBy, type StoryTreeNode } from './storyNodes.ts';

/** Commands on stories and their files. Each takes a line of the view or a {@link StoryRef}. */
export class StoryCommands implements Disposable {
  private readonly store = new DisposableStore();
  private readonly stories: StoryLines;
  private readonly folders: Folders;

  constructor(stories: StoryLines, folders: Folders, log: LogOutputChannel) {
    this.stories = stories;
    this.folders = folders;
    const register = (id: string, action: (...args: readonly unknown[]) => Promise<void>) =>
      this.store.add(registerCommand(id, log, action));
    register(Command.tickStory, argument => this.tick(parseStoryRef(argument), true));
    register(Command.untickStory, argument => this.tick(parseStoryRef(argument), false));
    register(Command.openStory, argument => this.openStory(parseStoryRef(argument)));
    register(Command.openStoryFile, (file, line, column) =>
      this.openFile(file instanceof Uri ? file : undefined, place(line), place(column)),
    );
    register(Command.chooseStoryFile, argument => pickStoryFile(folders, argument));
    register(Command.showRunStories, () => this.showRunStories());
    register(Command.refreshStories, async () => {
      await Promise.all(folders.all.map(({ stories: model }) => model.refresh()));
    });
    register(Command.filterStories, async () => {
      const filter = await pickStoryFilter(
        stories.filter,
        folders.all.flatMap(folder => stories.nodesOf(folder).allStories),
      );
      if (filter !== undefined) {
        stories.show(filter);
      }
    });
    register(Command.clearFilter, async () => stories.show(NO_FILTER));
  }

  dispose(): void {
    this.store.dispose();
  }

  /** Applies checkboxes that a person has changed. */
  async tickBoxes(
    boxes: readonly (readonly [StoryTreeNode, TreeItemCheckboxState])[],
  ): Promise<void> {
    for (const [node, state] of boxes) {
      await this.tick(parseStoryRef(node), state === TreeItemCheckboxState.Checked);
    }
  }

  private async tick(ref: StoryRef | undefined, done: boolean): Promise<void> {
    if (ref === undefined) {
      return;
    }
    const folder = this.requireFolder(ref);
    const node = this.stories.find(ref);
    try {
      const file = await currentFile(folder);
      if (file === undefined) {
        throw new HumanError(l10n.t('The story file is missing. Restore it, then try again.'));
      }
      const { storyId: id, position } = ref;
      const selector = { id, position };
      await tickStory(folder.files, file.path, selector, done, { expectedHash: file.hash });
    } finally {
      // Also after a failure: the checkbox must show the file's state.
      await folder.stories.refresh();
      await folder.runs.refresh();
      if (node !== undefined) {
        this.stories.redraw(node);
      }
    }
  }

  /** Shows the lists that runs work on, wherever another one is shown. */
  private async showRunStories(): Promise<void> {
    for (const folder of this.folders.all) {
      const file = runsOtherFile(folder);
      if (file !== undefined) {
        await folder.stories.choose(file);
      }
    }
  }

  private async openStory(ref: StoryRef | undefined): Promise<void> {
    if (ref === undefined) {
      await this.openFile(undefined, 1, 1);
      return;
    }
    const file = await currentFile(this.requireFolder(ref));
    const stories = file?.kind === 'stories' ? file.stories : [];
    const line = stories.find(isNamedBy(ref))?.line ?? 1;
    await this.openFile(file && Uri.file(file.path), line, 1);
  }

  private async openFile(file: Uri | undefined, line: number, column: number): Promise<void> {
    const current = this.folders.active?.stories.current?.path;
    const uri = file ?? (current === undefined ? undefined : Uri.file(current));
    if (uri === undefined) {
      await commands.executeCommand(Command.createStoryFile);
      return;
    }
    const at = new Range(line - 1, column - 1, line - 1, column - 1);
    await window.showTextDocument(uri, { selection: at });
  }

  /** A person works there now. */
  private requireFolder({ folder: folderPath }: StoryRef): Folder {
    const folder = this.folders.at(folderPath);
    if (folder === undefined) {
      throw new HumanError(l10n.t('The folder of this story is no longer open in this window.'));
    }
    if (folder !== this.folders.active) {
      this.folders.activate(folder);
    }
    return folder;
  }
}

/** The shown story file, even if it has not been read yet. */
async function currentFile({ stories }: Folder): Promise<StoryFile | undefined> {
  if (stories.current === undefined) {
    await stories.refresh();
  }
  return stories.current;
}

/** A line or column, from 1. */
function place(value: unknown): number {
  return typeof value === 'number' && value >= 1 ? Math.floor(value) : 1;
}
