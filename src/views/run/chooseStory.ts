import { l10n, type QuickPickItem, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { titleNextTo } from '../../base/storyTitle.ts';
import type { Story } from '../../orchestrator/stories/story.ts';
import { runsOnFile, type StoryState, storyStates } from '../../presentation/storyState.ts';
import { plainLabel } from '../common/plainText.ts';
import type { StoryRef } from '../common/refs.ts';
import type { Folder } from '../folders/folder.ts';

/**
 * Asks which story is meant.
 * @param accepts stories to choose from, each with its state
 * @returns `undefined` if the person canceled
 * @throws {HumanError} if there is none to choose from
 */
export async function chooseStory(
  folder: Folder,
  placeHolder: string,
  accepts: (story: Story, state: StoryState | undefined) => boolean,
): Promise<StoryRef | undefined> {
  await folder.stories.refresh();
  const { current: file, list: stories } = folder.stories;
  const { current: run, states } = folder.runs;
  const standing = storyStates(stories, runsOnFile(file?.path ?? '', folder.path, { run, states }));
  const items = stories.filter(story => accepts(story, standing.get(story))).map(itemOf);
  if (items.length === 0) {
    throw new HumanError(l10n.t('There is no story that this applies to.'));
  }
  const choice = await window.showQuickPick(items, { placeHolder, matchOnDescription: true });
  return (
    choice && {
      folder: folder.path,
      storyId: choice.story.id,
      position: choice.story.position,
      seen: choice.story,
    }
  );
}

function itemOf(story: Story): QuickPickItem & { readonly story: Story } {
  return {
    label: plainLabel(story.id, 60),
    description: plainLabel(titleNextTo(story.id, story.title), 150),
    story,
  };
}
