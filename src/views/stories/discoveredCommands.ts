import { type LogOutputChannel, l10n, window, workspace } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import type { Message } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import {
  type KnownDiscovery,
  MAX_TITLE,
  waitingDiscoveries,
} from '../../orchestrator/journal/discoveries.ts';
import {
  acceptFoundWork,
  dropFoundWork,
  editFoundWork,
} from '../../orchestrator/loop/decideFoundWork.ts';
import { idsWithReports } from '../../orchestrator/stories/reportNote.ts';
import { readFoundWork } from '../../orchestrator/workspace/foundWork.ts';
import { discoveryOrigin } from '../../presentation/discoveryLines.ts';
import { Command } from '../common/contributions.ts';
import { plainSentence } from '../common/plainText.ts';
import { parseDiscoveryRef } from '../common/refs.ts';
import { registerCommands } from '../common/registerCommand.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';

interface Chosen {
  readonly folder: Folder;
  readonly discovery: KnownDiscovery;
}

/** What a person decides about work that agents found. Each command takes its line, or asks which. */
export function discoveredCommands(folders: Folders, log: LogOutputChannel) {
  async function accept(argument: unknown): Promise<void> {
    const chosen = await choose(folders, argument, l10n.t('Accept Discovered Work'));
    if (chosen === undefined) {
      return;
    }
    const { discovery, folder } = chosen;
    const file = folder.stories.current ?? (await refreshed(folder));
    if (file === undefined) {
      throw new HumanError(l10n.t('The story file is missing. Restore it, then try again.'));
    }
    const access = {
      mayRun: workspace.isTrusted,
      env: process.env,
      onWarning: (warning: Message) => {
        void window.showWarningMessage(plainSentence(translate.said(warning)));
      },
    };
    await settle(folder, () => acceptFoundWork(folder.files, file.path, discovery, access));
  }

  async function edit(argument: unknown): Promise<void> {
    const chosen = await choose(folders, argument, l10n.t('Edit Discovered Work'));
    if (chosen === undefined) {
      return;
    }
    const { discovery, folder } = chosen;
    const title = await window.showInputBox({
      title: l10n.t('Edit Discovered Work'),
      value: discovery.title,
      prompt: discoveryOrigin(discovery, translate),
      validateInput: value =>
        shorten(value, MAX_TITLE) === '' ? l10n.t('The story needs a title.') : undefined,
    });
    if (title !== undefined) {
      await settle(folder, () =>
        editFoundWork(folder.files, discovery.id, shorten(title, MAX_TITLE)),
      );
    }
  }

  async function drop(argument: unknown): Promise<void> {
    const chosen = await choose(folders, argument, l10n.t('Drop Discovered Work'));
    if (chosen !== undefined) {
      const { discovery, folder } = chosen;
      await settle(folder, () => dropFoundWork(folder.files, discovery.id));
    }
  }

  return registerCommands(log, {
    [Command.acceptDiscovered]: accept,
    [Command.editDiscovered]: edit,
    [Command.dropDiscovered]: drop,
  });
}

async function refreshed({ stories }: Folder) {
  await stories.refresh();
  return stories.current;
}

/** The view shows the result, also after a failure. */
async function settle(folder: Folder, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } finally {
    await folder.runs.refresh();
    await folder.stories.refresh();
  }
}

/** What the command is about; from the palette, a person chooses. */
async function choose(
  folders: Folders,
  argument: unknown,
  title: string,
): Promise<Chosen | undefined> {
  const ref = parseDiscoveryRef(argument);
  if (ref !== undefined) {
    const folder = folders.at(ref.folder);
    const found = folder && (await readFoundWork(folder.files));
    const discovery = found?.find(({ id }) => id === ref.discovery);
    if (folder === undefined || discovery === undefined) {
      throw new HumanError(l10n.t('This discovered work is not known any more.'));
    }
    return { folder, discovery };
  }
  const all = await Promise.all(folders.all.map(waitingIn));
  const items = all.flat().map(chosen => ({
    label: shorten(chosen.discovery.title, 200),
    description: chosen.discovery.from ?? '',
    detail: discoveryOrigin(chosen.discovery, translate),
    chosen,
  }));
  if (items.length === 0) {
    void window.showInformationMessage(l10n.t('No discovered work waits for you.'));
    return undefined;
  }
  const picked = await window.showQuickPick(items, { title, matchOnDetail: true });
  return picked?.chosen;
}

async function waitingIn(folder: Folder): Promise<Chosen[]> {
  const ids = idsWithReports(folder.stories.list);
  return waitingDiscoveries(await readFoundWork(folder.files), ids).map(discovery => ({
    folder,
    discovery,
  }));
}
