import path from 'node:path';
import {
  commands,
  Disposable,
  type LogOutputChannel,
  l10n,
  Range,
  TreeItemCheckboxState,
  Uri,
  window,
  workspace,
} from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { tickStory } from '../../orchestrator/loop/tickStory.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import { isStoryFolder } from '../../orchestrator/stories/storyFolder.ts';
import { Command } from '../common/contributions.ts';
import { parseStoryRef, type StoryRef } from '../common/refs.ts';
import { registerCommands } from '../common/registerCommand.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { discoveredCommands } from './discoveredCommands.ts';
import { type Mark, warnOfLostMarks } from './lostMarks.ts';
import { pickStoryFile } from './pickStoryFile.ts';
import { pickStoryFilter } from './pickStoryFilter.ts';
import { NO_FILTER } from './storyFilter.ts';
import type { StoryLines } from './storyLines.ts';
import { storyOrder } from './storyOrder.ts';
import { isNamedBy, type StoryTreeNode } from './storyTree.ts';

/**
 * Actions of a person on stories and their files, by commands, checkboxes and dragging. Each command takes a line of
 * the view or a {@link StoryRef}.
 */
export function storyActions(stories: StoryLines, folders: Folders, log: LogOutputChannel) {
  /** Applies checkboxes that a person has changed. */
  async function tickBoxes(
    boxes: readonly (readonly [StoryTreeNode, TreeItemCheckboxState])[],
  ): Promise<void> {
    const marks: (Mark | undefined)[] = [];
    try {
      for (const [node, state] of boxes) {
        marks.push(await tick(parseStoryRef(node), state === TreeItemCheckboxState.Checked));
      }
    } finally {
      warnOfLostMarks(marks, log);
    }
  }

  async function tickOne(argument: unknown, done: boolean): Promise<void> {
    warnOfLostMarks([await tick(parseStoryRef(argument), done)], log);
  }

  /** @returns the mark that was made; `undefined` if the story has it already */
  async function tick(ref: StoryRef | undefined, done: boolean): Promise<Mark | undefined> {
    if (ref === undefined) {
      return undefined;
    }
    const folder = requireFolder(ref);
    const node = stories.find(ref);
    try {
      const file = await currentFile(folder);
      if (file === undefined) {
        throw new HumanError(l10n.t('The story file is missing. Restore it, then try again.'));
      }
      const { storyId, position } = ref;
      const selector = { id: storyId, position };
      const hasChanged = await tickStory(folder.files, file.path, selector, done, {
        expectedHash: file.hash,
        access: { mayRun: workspace.isTrusted, env: process.env },
      });
      return hasChanged ? { folder, storyFile: file.path, storyId, done } : undefined;
    } finally {
      // Also after a failure: the checkbox must show the file's state.
      await folder.stories.refresh();
      await folder.runs.refresh();
      if (node !== undefined) {
        stories.redraw(node);
      }
    }
  }

  /** Shows the lists that runs work on, wherever another one is shown. */
  async function showRunStories(): Promise<void> {
    for (const folder of folders.all) {
      const file = folder.otherStoryFile;
      if (file !== undefined) {
        await folder.stories.choose(file);
      }
    }
  }

  async function openStory(ref: StoryRef | undefined): Promise<void> {
    if (ref === undefined) {
      await openFile(undefined, 1, 1);
      return;
    }
    const file = await currentFile(requireFolder(ref));
    const stories = file?.kind === 'stories' ? file.stories : [];
    const story = stories.find(isNamedBy(ref));
    const place = file && path.join(file.path, story?.file ?? '');
    await openFile(place === undefined ? undefined : Uri.file(place), story?.line ?? 1, 1);
  }

  async function openFile(file: Uri | undefined, line: number, column: number): Promise<void> {
    const current = folders.active?.stories.current?.path;
    const uri = file ?? (current === undefined ? undefined : Uri.file(current));
    if (uri === undefined) {
      await commands.executeCommand(Command.createStoryFile);
      return;
    }
    if (isStoryFolder(uri.fsPath)) {
      await commands.executeCommand('revealInExplorer', uri);
      return;
    }
    const at = new Range(line - 1, column - 1, line - 1, column - 1);
    await window.showTextDocument(uri, { selection: at });
  }

  /** A person works there now. */
  function requireFolder({ folder: folderPath }: StoryRef): Folder {
    const folder = folders.at(folderPath);
    if (folder === undefined) {
      throw new HumanError(l10n.t('The folder of this story is no longer open in this window.'));
    }
    if (folder !== folders.active) {
      folders.activate(folder);
    }
    return folder;
  }

  const order = storyOrder(stories, folders, log);
  const ownCommands = registerCommands(log, {
    [Command.tickStory]: argument => tickOne(argument, true),
    [Command.untickStory]: argument => tickOne(argument, false),
    [Command.openStory]: argument => openStory(parseStoryRef(argument)),
    [Command.openStoryFile]: (file, line, column) =>
      openFile(file instanceof Uri ? file : undefined, place(line), place(column)),
    [Command.chooseStoryFile]: argument => pickStoryFile(folders, argument),
    [Command.showRunStories]: showRunStories,
    [Command.refreshStories]: () =>
      Promise.all(folders.all.map(({ stories: model }) => model.refresh())),
    [Command.filterStories]: async () => {
      const filter = await pickStoryFilter(
        stories.filter,
        folders.all.flatMap(folder => stories.nodesOf(folder).allStories),
      );
      if (filter !== undefined) {
        stories.show(filter);
      }
    },
    [Command.clearFilter]: async () => stories.show(NO_FILTER),
  });
  return Object.assign(Disposable.from(ownCommands, order, discoveredCommands(folders, log)), {
    tickBoxes,
    drop: order.drop,
  });
}

export type StoryActions = ReturnType<typeof storyActions>;

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
