import type { LogOutputChannel } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import type { Folders } from '../folders/folders.ts';
import { StoryCommands } from './storyCommands.ts';
import type { StoryLines } from './storyLines.ts';
import { StoryOrder } from './storyOrder.ts';

/** Actions of a person on stories, by commands, checkboxes and dragging. */
export class StoryActions implements Disposable {
  private readonly store = new DisposableStore();
  readonly commands: StoryCommands;
  readonly order: StoryOrder;

  constructor(stories: StoryLines, folders: Folders, log: LogOutputChannel) {
    this.commands = this.store.add(new StoryCommands(stories, folders, log));
    this.order = this.store.add(new StoryOrder(stories, folders, log));
  }

  dispose(): void {
    this.store.dispose();
  }
}
