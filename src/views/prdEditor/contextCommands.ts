import path from 'node:path';
import { EventEmitter, type LogOutputChannel, l10n, Uri, window, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { isWithin } from '../../base/isWithin.ts';
import { shorten, withoutControls } from '../../base/text.ts';
import { runOwnCommand } from '../../orchestrator/workspace/ownCommand.ts';
import { Command, NEXT_PROMPT_SCHEME } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { parseStoryRef } from '../common/refs.ts';
import { registerTrustedCommands } from '../common/registerCommand.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf } from '../folders/folders.ts';
import { chooseStory } from '../run/chooseStory.ts';
import { storyFileOf } from '../run/storyFileOf.ts';

/** Maximum length of a story id in the title of a tab, in UTF-16 units. */
const MAX_TITLE = 80;

/**
 * "Show Next Prompt", and a person's choice of files for prompts.
 * @param program `dist/cli.js` of this extension
 */
export function contextCommands(
  folders: Folders,
  program: string,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const changed = store.add(new EventEmitter<Uri>());
  const texts = new Map<string, string>();
  store.add(
    workspace.registerTextDocumentContentProvider(NEXT_PROMPT_SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: uri =>
        texts.get(uri.toString()) ??
        `${l10n.t('This prompt was shown before the window was reloaded. Show it again from the menu of its story.')}\n`,
    }),
  );

  async function answer(folder: Folder, ...args: readonly string[]): Promise<string> {
    const storyFile = (await storyFileOf(folder)).path;
    return runOwnCommand({
      program,
      workspace: folder.path,
      args: ['context', ...args, ...(storyFile === undefined ? [] : [`--file=${storyFile}`])],
      env: process.env,
    });
  }

  async function showNextPrompt(argument: unknown): Promise<void> {
    const given = parseStoryRef(argument);
    const folder = folderOf(folders, given?.folder);
    const story =
      given ?? (await chooseStory(folder, l10n.t('Whose prompt?'), ({ done }) => !done));
    if (story === undefined) {
      return;
    }
    const title = l10n.t('Next prompt of {0}', shorten(story.storyId, MAX_TITLE));
    const uri = Uri.from({
      scheme: NEXT_PROMPT_SCHEME,
      path: `/${withoutControls(title).replaceAll(/[/\\?#]/g, '-')}.txt`,
      query: JSON.stringify([folder.path, story.storyId]),
    });
    texts.set(uri.toString(), await answer(folder, story.storyId));
    changed.fire(uri);
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: true });
  }

  /** @param how the flag of `ralph-fresh context` */
  async function choose(how: '--pin' | '--bar'): Promise<void> {
    const file = window.activeTextEditor?.document.uri;
    const folder = folders.all.find(one => file && isWithin(one.path, file.fsPath));
    if (file?.scheme !== 'file' || folder === undefined) {
      throw new HumanError(l10n.t('Open a file of the project in an editor first.'));
    }
    const name = path.basename(file.fsPath);
    const question =
      how === '--pin'
        ? l10n.t('Whose prompt should name {0} first?', name)
        : l10n.t('Whose prompt should not name {0}?', name);
    const story = await chooseStory(folder, question, ({ done }) => !done);
    if (story === undefined) {
      return;
    }
    await answer(folder, story.storyId, `${how}=${file.fsPath}`);
    window.setStatusBarMessage(
      how === '--pin'
        ? l10n.t('The prompt of {0} will name {1} first.', story.storyId, name)
        : l10n.t('The prompt of {0} will not name {1}.', story.storyId, name),
      MESSAGE_MS,
    );
  }

  store.add(
    registerTrustedCommands(log, {
      [Command.showNextPrompt]: showNextPrompt,
      [Command.pinFile]: () => choose('--pin'),
      [Command.barFile]: () => choose('--bar'),
    }),
  );
  return store;
}

const MESSAGE_MS = 5_000;
