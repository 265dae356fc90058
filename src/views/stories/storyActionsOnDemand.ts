import type { LogOutputChannel } from 'vscode';
import { Command } from '../common/contributions.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { Folders } from '../folders/folders.ts';
import type { StoryActions } from './storyActions.ts';
import type { StoryLines } from './storyLines.ts';

/** Actions of a person on stories, loaded on first use. */
export function storyActionsOnDemand(
  stories: StoryLines,
  folders: Folders,
  log: LogOutputChannel,
): OnDemand<StoryActions> {
  return new OnDemand(
    [
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
    ],
    async () => {
      const { storyActions } = await import('./storyActions.ts');
      return () => storyActions(stories, folders, log);
    },
    log,
  );
}
