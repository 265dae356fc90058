import { window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { plainLabel } from '../common/plainText.ts';
import { parseStoryRef } from '../common/refs.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf } from '../folders/folders.ts';

const MAX_ID = 60;
const MAX_TITLE = 150;

/** A story of a folder. */
export interface ChosenStory {
  readonly folder: Folder;
  readonly storyId: string;
}

/**
 * The story that a command is about: the one of its line, otherwise the one that a person chooses.
 * @param idsOf the stories to choose from
 * @param none what to say if there is none
 * @returns `undefined` if the person canceled
 */
export async function chosenStory(
  folders: Folders,
  argument: unknown,
  {
    idsOf,
    none,
    placeHolder,
  }: {
    readonly idsOf: (folder: Folder) => Promise<readonly string[]>;
    readonly none: string;
    readonly placeHolder: string;
  },
): Promise<ChosenStory | undefined> {
  const given = parseStoryRef(argument);
  const folder = folderOf(folders, given?.folder);
  if (given !== undefined) {
    return { folder, storyId: given.storyId };
  }
  await folder.stories.refresh();
  const titles = new Map(folder.stories.list.map(({ id, title }) => [id, title]));
  const items = [...new Set(await idsOf(folder))].map(storyId => ({
    label: plainLabel(storyId, MAX_ID),
    description: plainLabel(titles.get(storyId) ?? '', MAX_TITLE),
    storyId,
  }));
  if (items.length === 0) {
    throw new HumanError(none);
  }
  const choice = await window.showQuickPick(items, { placeHolder, matchOnDescription: true });
  return choice && { folder, storyId: choice.storyId };
}
