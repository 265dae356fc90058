import path from 'node:path';
import { type LogOutputChannel, l10n, Uri, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { createStoryFile } from '../../orchestrator/stories/edit/createStoryFile.ts';
import type { NewStoryFile } from '../../orchestrator/stories/formats/newStories.ts';
import { prdFileText } from '../../orchestrator/stories/formats/prdWriter.ts';
import { findStoryFile } from '../../orchestrator/stories/knownSources.ts';
import { requireInside } from '../../orchestrator/stories/outsideLinks.ts';
import { STORY_FILE_PLACES } from '../../orchestrator/stories/storyPlaces.ts';
import { Command } from '../common/contributions.ts';
import { registerTrustedCommands } from '../common/registerCommand.ts';
import { requireFolder } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf, folderPathOf } from '../folders/folders.ts';
import { convertCommand } from './convertCommand.ts';
import { githubCommand } from './githubCommand.ts';

/**
 * Ways to get a story file: an example to edit, stories from a file of another format, or issues on GitHub.
 * @param program `dist/cli.js` of this extension
 */
export function storyFileCommands(
  folders: Folders,
  program: string,
  log: LogOutputChannel,
): Disposable {
  return registerTrustedCommands(log, {
    [Command.createStoryFile]: argument => create(folderOf(folders, folderPathOf(argument))),
    [Command.convertStories]: () => convertCommand(requireFolder(folders.active)),
    [Command.useGithubIssues]: () => githubCommand(requireFolder(folders.active), program),
  });
}

async function create(folder: Folder): Promise<void> {
  const existing = await findStoryFile(folder.path);
  const file = existing ?? newStoryFile(folder);
  if (existing === undefined) {
    requireInside(file);
    await createStoryFile(file, Buffer.from(prdFileText(firstStories(folder))));
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

function newStoryFile(folder: Folder): string {
  return path.join(folder.path, STORY_FILE_PLACES[0]);
}
