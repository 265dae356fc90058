import path from 'node:path';
import { type LogOutputChannel, l10n, Range, Uri, window, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { createStoryFile } from '../../orchestrator/stories/createStoryFile.ts';
import type { NewStoryFile } from '../../orchestrator/stories/formats/newStories.ts';
import { prdFileText } from '../../orchestrator/stories/formats/prdWriter.ts';
import type { StoryList } from '../../orchestrator/stories/story.ts';
import {
  findStoryFile,
  readStoryFileOrThrow,
  STORY_FILE_PLACES,
} from '../../orchestrator/stories/storyFile.ts';
import { findStorySources } from '../../orchestrator/stories/storySources.ts';
import { Command } from '../common/contributions.ts';
import { plainLabel, plainSentence } from '../common/plainText.ts';
import { registerCommands, registerTrustedCommand } from '../common/registerCommand.ts';
import { translate } from '../common/translate.ts';
import { requireFolder } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf, folderPathOf } from '../folders/folders.ts';

/** Maximum length of a path, in UTF-16 units. */
const MAX_LABEL = 200;

/** Ways to create a `prd.json`: an example to edit, or stories from a file of another format. */
export function storyFileCommands(folders: Folders, log: LogOutputChannel): Disposable {
  return registerCommands(
    log,
    {
      [Command.createStoryFile]: argument => create(folderOf(folders, folderPathOf(argument))),
      [Command.convertStories]: () => convert(requireFolder(folders.active)),
    },
    registerTrustedCommand,
  );
}

async function create(folder: Folder): Promise<void> {
  const existing = await findStoryFile(folder.path);
  const file = existing ?? newStoryFile(folder);
  if (existing === undefined) {
    await createStoryFile(file, firstStories(folder));
  }
  await window.showTextDocument(Uri.file(file));
}

/** An example story file that the person overwrites; it shows where everything belongs. */
function firstStories(folder: Folder): NewStoryFile {
  return {
    project: path.basename(folder.path),
    branchName: '',
    description: l10n.t(
      'What the stories together achieve, for an agent that knows nothing of it.',
    ),
    stories: [
      {
        id: 'US-001',
        title: l10n.t('One small step that a single agent can finish'),
        description: l10n.t('As a user, I want …, so that …'),
        criteria: [
          { text: l10n.t('Something that can be checked') },
          { text: l10n.t('The tests pass') },
        ],
        priority: 1,
        dependsOn: [],
        done: false,
      },
    ],
  };
}

/** Shows the stories of another file as a `prd.json` that is written when the person saves it. */
async function convert(folder: Folder): Promise<void> {
  const file = newStoryFile(folder);
  const sources = await findStorySources(folder.path);
  if (sources.some(({ path: source }) => source === file)) {
    await window.showTextDocument(Uri.file(file));
    throw new HumanError(
      l10n.t('{0} already contains stories. Move it elsewhere first to convert others.', file),
    );
  }
  const source = await choose(folder, sources);
  if (source === undefined) {
    return;
  }
  const document = await workspace.openTextDocument(Uri.file(file).with({ scheme: 'untitled' }));
  const editor = await window.showTextDocument(document);
  // A draft that is still open already has text.
  const all = document.validateRange(new Range(0, 0, document.lineCount, 0));
  await editor.edit(edit => edit.replace(all, prdFileText(source)));
  void window.showInformationMessage(
    l10n.t(
      '{0} stories of {1}. Review them, then save the file to use them.',
      source.stories.length,
      plainSentence(path.relative(folder.path, source.path)),
    ),
  );
}

async function choose(
  folder: Folder,
  sources: readonly StoryList[],
): Promise<StoryList | undefined> {
  const other = { label: l10n.t('Another File…'), source: undefined };
  const items = [
    ...sources.map(source => ({
      label: plainLabel(path.relative(folder.path, source.path), MAX_LABEL),
      description: l10n.t('{0} stories', source.stories.length),
      source,
    })),
    other,
  ];
  const chosen = await window.showQuickPick(items, {
    title: l10n.t('Convert Stories to prd.json'),
    placeHolder: l10n.t('Where are the stories now?'),
  });
  if (chosen !== other) {
    return chosen?.source;
  }
  const [file] =
    (await window.showOpenDialog({
      title: l10n.t('Select a File with Stories'),
      defaultUri: folder.uri,
      openLabel: l10n.t('Convert'),
    })) ?? [];
  return file === undefined ? undefined : readSource(file.fsPath);
}

/** @throws {HumanError} if it contains no stories */
async function readSource(file: string): Promise<StoryList> {
  const list = await readStoryFileOrThrow(file);
  if (list.kind === 'invalid') {
    const [{ line, message }] = list.problems;
    throw new HumanError(
      l10n.t('{0}, line {1}: {2}', path.basename(file), line, translate.said(message)),
    );
  }
  if (list.stories.length === 0) {
    throw new HumanError(
      l10n.t('There are no stories in {0}: no checkboxes, tasks or entries.', path.basename(file)),
    );
  }
  return list;
}

function newStoryFile(folder: Folder): string {
  return path.join(folder.path, STORY_FILE_PLACES[0]);
}
