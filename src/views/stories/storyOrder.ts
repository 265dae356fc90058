import { type LogOutputChannel, l10n } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { moveStory } from '../../orchestrator/stories/edit/edit.ts';
import { Command } from '../common/contributions.ts';
import { parseStoryRef } from '../common/refs.ts';
import { registerCommands } from '../common/registerCommand.ts';
import type { Folders } from '../folders/folders.ts';
import type { StoryLines } from './storyLines.ts';
import type { StoryNode, StoryTreeNode } from './storyTree.ts';

/** Changes the order of stories, by dragging or from the keyboard. */
export function storyOrder(stories: StoryLines, folders: Folders, log: LogOutputChannel) {
  /** A dragged story takes the position that it is dropped on. @param dragged identifies the story */
  async function drop(dragged: unknown, target: StoryTreeNode | undefined): Promise<void> {
    const ref = parseStoryRef(dragged);
    const story = ref && stories.find(ref);
    if (story === undefined) {
      return;
    }
    const other = placeOf(story, target);
    if (other === undefined || other === story) {
      return;
    }
    const order = inOrder(story);
    await move(story, other, order.indexOf(story) < order.indexOf(other) ? 'after' : 'before');
  }

  /** The story whose position a line stands for; below all lines, the last one. */
  function placeOf(story: StoryNode, target: StoryTreeNode | undefined): StoryNode | undefined {
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
        return siblings(story).at(-1);
    }
  }

  async function step(argument: unknown, by: -1 | 1): Promise<void> {
    const ref = parseStoryRef(argument ?? stories.selected);
    const story = ref && stories.find(ref);
    if (story === undefined) {
      return;
    }
    const among = siblings(story);
    const other = among[among.indexOf(story) + by];
    if (other !== undefined) {
      await move(story, other, by < 0 ? 'before' : 'after');
    }
  }

  async function move(story: StoryNode, other: StoryNode, side: 'before' | 'after'): Promise<void> {
    if (story.folder !== other.folder) {
      throw new HumanError(l10n.t('A story cannot be moved to another folder.'));
    }
    const folder = folders.at(story.folder);
    const file = folder?.stories.current;
    if (folder === undefined || file === undefined) {
      return;
    }
    await moveStory(file.path, selector(story), selector(other), side, { expectedHash: file.hash });
    await folder.stories.refresh();
  }

  function inOrder(story: StoryNode): readonly StoryNode[] {
    const folder = folders.at(story.folder);
    return folder === undefined ? [] : stories.nodesOf(folder).shown;
  }

  /** The lines among which a story is ordered. */
  function siblings(story: StoryNode): readonly StoryNode[] {
    return inOrder(story).filter(({ parent }) => parent === story.parent);
  }

  const moves = registerCommands(log, {
    [Command.moveStoryUp]: argument => step(argument, -1),
    [Command.moveStoryDown]: argument => step(argument, 1),
  });
  return Object.assign(moves, { drop });
}

function selector({ story }: StoryNode) {
  return { id: story.id, position: story.position };
}
