import path from 'node:path';
import { l10n, type QuickPickItem, window } from 'vscode';
import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import { readStoryFileOrThrow } from '../../orchestrator/stories/storyFile.ts';
import { countStories } from '../../presentation/storyCount.ts';
import { plainLabel } from '../common/plainText.ts';
import { errorWords, translate } from '../common/translate.ts';
import { requireFolder } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';

/** Maximum length of a path, and of a problem with a file, in UTF-16 units. */
const MAX_LABEL = 200;

/** From the line of a folder. */
const folderSchema = z.looseObject({ kind: z.literal('folder'), folder: z.string() });

/**
 * Lets the person choose among the story files of a folder, and shows the chosen one.
 * @param argument of the command: a folder's line; without it, the active folder
 */
export async function pickStoryFile(folders: Folders, argument: unknown): Promise<void> {
  const folder = requireFolder(folders.at(folderSchema.safeParse(argument).data?.folder));
  const file = await ask(folder);
  if (file !== undefined) {
    await folder.stories.choose(file);
    if (folder !== folders.active) {
      folders.activate(folder);
    }
  }
}

async function ask(folder: Folder): Promise<string | undefined> {
  const picked = await window.showQuickPick(choices(folder), {
    title: l10n.t('Story File'),
    placeHolder: l10n.t('Choose the list to show and work on'),
    matchOnDescription: true,
  });
  return picked?.file;
}

interface FileItem extends QuickPickItem {
  readonly file: string;
}

async function choices(folder: Folder): Promise<FileItem[]> {
  const { stories } = folder;
  const files = await stories.findFiles();
  if (files.length === 0) {
    throw new HumanError(
      l10n.t('This folder has no story file yet. Create one with "Ralph: Create a Story File".'),
    );
  }
  const items: FileItem[] = [];
  for (const file of files) {
    const isShown = file === stories.current?.path;
    items.push({
      file,
      label: plainLabel(path.relative(folder.path, file), MAX_LABEL),
      description: [
        await readStoryFileOrThrow(file).then(read => describe(read, folder), cannotRead),
        ...(isShown ? [l10n.t('shown now')] : []),
      ].join(' · '),
    });
  }
  return items;
}

function cannotRead(error: unknown): string {
  return plainLabel(errorWords(error), MAX_LABEL);
}

function describe(file: StoryFile, { path: folder, runs }: Folder): string {
  const [problem] = file.problems;
  if (file.kind === 'invalid') {
    return l10n.t(
      'cannot be used, line {0}: {1}',
      problem?.line ?? 1,
      plainLabel(translate.said(problem?.message ?? ''), MAX_LABEL),
    );
  }
  const { done, total } = countStories(file, folder, runs.current);
  return l10n.t('{0} of {1} done', done, total);
}
