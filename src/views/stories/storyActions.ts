import { Disposable, type LogOutputChannel } from 'vscode';
import type { Folders } from '../folders/folders.ts';
import { discoveredCommands } from './discoveredCommands.ts';
import { storyCommands } from './storyCommands.ts';
import type { StoryLines } from './storyLines.ts';
import { storyOrder } from './storyOrder.ts';

/** Actions of a person on stories, by commands, checkboxes and dragging. */
export function storyActions(stories: StoryLines, folders: Folders, log: LogOutputChannel) {
  const commands = storyCommands(stories, folders, log);
  const order = storyOrder(stories, folders, log);
  const discovered = discoveredCommands(folders, log);
  const { tickBoxes } = commands;
  return Object.assign(Disposable.from(commands, order, discovered), {
    tickBoxes,
    drop: order.drop,
  });
}

export type StoryActions = ReturnType<typeof storyActions>;
