import { type LogOutputChannel, l10n } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { moveStory } from '../../orchestrator/stories/edit/edit.ts';
import { Command } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { parseStoryRef } from '../common/refs.ts';
import { registerCommand } from '../common/registerCommand.ts';
import type { Folders } from '../folders/folders.ts';
import type { StoryLines } from './storyLines.ts';
import type { StoryNode, StoryTreeNode } from './storyNodes.ts';

/** Changes the order of stories, by dragging or from the keyboard. */
export class StoryOrder implements Disposable {
  private readonly store = new DisposableStore();
  private readonly stories: StoryLines;
  private readonly folders: Folders;

  constructor(stories: StoryLines, folders: Folders, log: LogOutputChannel) {
    this.stories = stories;
    this.folders = folders;
    for (const [command, step] of [
      [Command.moveStoryUp, -1],
      [Command.moveStoryDown, 1],
    ] as const) {
      this.store.add(registerCommand(command, log, argument => this.step(argument, step)));
    }
  }

  dispose(): void {
    this.store.dispose();
  }

  /** A dragged story takes the position that it is dropped on. @param dragged identifies the story */
  async drop(dragged: unknown, target: StoryTreeNode | undefined): Promise<void> {
    const ref = parseStoryRef(dragged);
    const story = ref && this.stories.find(ref);
    if (story === undefined) {
      return;
    }
    const other = this.placeOf(story, target);
    if (other === undefined || other === story) {
      return;
    }
    const order = this.inOrder(story);
    await this.move(story, other, order.indexOf(story) < order.indexOf(other) ? 'after' : 'before');
  }

  /** The story whose position a line stands for; below all lines, the last one. */
  private placeOf(story: StoryNode, target: StoryTreeNode | undefined): StoryNode | undefined {
    switch (target?.kind) {
      case 'story':
        return target;
      case 'epic':
        return story.parent === target ? target.stories[0] : target.stories.at(-1);
      case 'criterion':
      case 'commit':
        return target.parent;
      case 'folder':
      case 'problem':
        return undefined;
      default:
        return this.siblings(story).at(-1);
    }
  }

  private async step(argument: unknown, step: -1 | 1): Promise<void> {
    const ref = parseStoryRef(argument ?? this.stories.selected);
    const story = ref && this.stories.find(ref);
    if (story === undefined) {
      return;
    }
    const siblings = this.siblings(story);
    const other = siblings[siblings.indexOf(story) + step];
    if (other !== undefined) {
      await this.move(story, other, step < 0 ? 'before' : 'after');
    }
  }

  private async move(story: StoryNode, other: StoryNode, side: 'before' | 'after'): Promise<void> {
    if (story.folder !== other.folder) {
      throw new HumanError(l10n.t('A story cannot be moved to another folder.'));
    }
    const folder = this.folders.at(story.folder);
    const file = folder?.stories.current;
    if (folder === undefined || file === undefined) {
      return;
    }
    await moveStory(file.path, selector(story), selector(other), side, { expectedHash: file.hash });
    await folder.stories.refresh();
  }

  private inOrder(story: StoryNode): readonly StoryNode[] {
    const folder = this.folders.at(story.folder);
    return folder === undefined ? [] : this.stories.nodesOf(folder).shown;
  }

  /** The lines among which a story is ordered. */
  private siblings(story: StoryNode): readonly StoryNode[] {
    return this.inOrder(story).filter(({ parent }) => parent === story.parent);
  }
}

function selector({ story }: StoryNode) {
  return { id: story.id, position: story.position };
}
