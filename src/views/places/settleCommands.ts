import {
  commands,
  type LogOutputChannel,
  l10n,
  ProgressLocation,
  type QuickPickItem,
  Uri,
  window,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { shorten } from '../../base/text.ts';
import {
  beginSettlement,
  cancelSettlement,
  conflictsOf,
  holderOf,
  landSettlement,
  readSettlement,
  type Settlement,
  settleWithSide,
} from '../../orchestrator/loop/settlement.ts';
import type { ConflictedFile, Side } from '../../orchestrator/places/conflictedPlace.ts';
import { Command } from '../common/contributions.ts';
import { plainLabel, plainSentence } from '../common/plainText.ts';
import { parseStoryRef } from '../common/refs.ts';
import { registerCommands, registerTrustedCommand } from '../common/registerCommand.ts';
import type { Folders } from '../folders/folders.ts';
import { type ChosenStory, chosenStory } from './chooseStory.ts';
import { closeFilesOf, completeMerges, isBelow, openMerge } from './mergeEditors.ts';

const MAX_NAME = 80;

/** A person settles the conflict of a story in VS Code's merge editor, and lands the result. */
export function settleCommands(folders: Folders, log: LogOutputChannel): Disposable {
  const choose = (argument: unknown, placeHolder: string, of: 'open' | 'begun') =>
    chosenStory(folders, argument, {
      placeHolder,
      idsOf: async ({ files }) => (await conflictsOf(files))[of],
      none:
        of === 'open'
          ? l10n.t('No story of the newest run has a conflict to settle.')
          : l10n.t('You settle no conflict now. Use Settle Conflict first.'),
    });

  async function settle(argument: unknown): Promise<void> {
    const chosen = await choose(argument, l10n.t('Settle the conflict of which story?'), 'open');
    if (chosen === undefined || !(await mayTake(chosen))) {
      return;
    }
    const { folder, storyId } = chosen;
    const settlement = await window.withProgress(
      {
        location: ProgressLocation.Notification,
        title: plainSentence(l10n.t('Preparing a place to settle {0}…', name(storyId))),
      },
      () => beginSettlement(folder.files, storyId),
    );
    for (const file of settlement.files.filter(({ isOpen }) => isOpen)) {
      await (file.kind === 'text'
        ? openMerge(folder, settlement, file)
        : askSide(settlement, file));
    }
    // The command is complete, whether or not the message is closed.
    void offer(chosen, settlement);
  }

  /** What is next, until the person decides. */
  async function offer(
    { folder, storyId }: ChosenStory,
    { branch, files }: Settlement,
  ): Promise<void> {
    const [landIt, giveBack] = [l10n.t('Land It'), l10n.t('Give Back')];
    const text =
      files.length === 0
        ? l10n.t('The work on {0} fits on {1} now. Land it?', name(storyId), branch)
        : l10n.t(
            'Settle the conflict of {0}, then land it. Until then, no agent works on it.',
            name(storyId),
          );
    const choice = await window.showInformationMessage(plainSentence(text), landIt, giveBack);
    const ref = { folder: folder.path, storyId };
    if (choice !== undefined) {
      const command = choice === landIt ? Command.landSettled : Command.giveConflictBack;
      await commands.executeCommand(command, ref);
    }
  }

  async function land(argument: unknown): Promise<void> {
    const chosen = await chooseBegun(argument, l10n.t('Land which story?'));
    if (chosen === undefined) {
      return;
    }
    const { folder, storyId } = chosen;
    const before = await readSettlement(folder.files, storyId);
    if (!(await completeMerges(before))) {
      throw new HumanError(l10n.t('{0} has not landed: a file is not settled yet.', name(storyId)));
    }
    for (const file of before.files.filter(({ isOpen, kind }) => isOpen && kind !== 'text')) {
      await askSide(before, file);
    }
    const { isActive } = await window.withProgress(
      {
        location: ProgressLocation.Window,
        title: plainSentence(l10n.t('Handing {0} to the queue…', name(storyId))),
      },
      () => landSettlement(folder.files, storyId),
    );
    await closeFilesOf(before);
    log.info(`Settled the conflict of ${storyId} in ${folder.path}`);
    void window.showInformationMessage(
      plainSentence(
        isActive
          ? l10n.t('{0} waits to land, like the work of an agent.', name(storyId))
          : l10n.t('{0} lands first when the run continues.', name(storyId)),
      ),
    );
  }

  async function giveBack(argument: unknown): Promise<void> {
    const chosen = await chooseBegun(argument, l10n.t('Give the conflict of which story back?'));
    if (chosen === undefined) {
      return;
    }
    const { folder, storyId } = chosen;
    const before = await readSettlement(folder.files, storyId).catch(() => undefined);
    const kept = await cancelSettlement(folder.files, storyId);
    await (before && closeFilesOf(before));
    void window.showInformationMessage(
      plainSentence(
        kept === undefined
          ? l10n.t('{0} is given back to the agents.', name(storyId))
          : l10n.t(
              '{0} is given back to the agents. What you had done is kept: git show {1}',
              name(storyId),
              kept,
            ),
      ),
    );
  }

  /** The only conflict that is being settled needs no question, nor does that of the editor. */
  async function chooseBegun(
    argument: unknown,
    placeHolder: string,
  ): Promise<ChosenStory | undefined> {
    const begun: ChosenStory[] = [];
    for (const folder of parseStoryRef(argument) === undefined ? folders.all : []) {
      await folder.runs.refresh();
      for (const [storyId, { settling }] of folder.runs.current.state.storyNotes) {
        if (settling !== undefined) {
          begun.push({ folder, storyId });
        }
      }
    }
    for (const story of argument instanceof Uri && begun.length > 1 ? begun : []) {
      const { root } = await readSettlement(story.folder.files, story.storyId);
      if (isBelow(root, argument as Uri)) {
        return story;
      }
    }
    return begun.length === 1 ? begun[0] : choose(argument, placeHolder, 'begun');
  }

  return registerCommands(
    log,
    {
      [Command.settleConflict]: settle,
      [Command.landSettled]: land,
      [Command.giveConflictBack]: giveBack,
    },
    registerTrustedCommand,
  );
}

/** Asks before the agent of the story is ended. @throws {HumanError} if it is landing */
async function mayTake({ folder, storyId }: ChosenStory): Promise<boolean> {
  const holder = await holderOf(folder.files, storyId);
  if (holder === 'queue') {
    throw new HumanError(
      l10n.t('{0} is landing now, so there is nothing to settle.', name(storyId)),
    );
  }
  if (holder === undefined) {
    return true;
  }
  const button = l10n.t('End It and Settle');
  const choice = await window.showWarningMessage(
    plainSentence(l10n.t('An agent works on {0} now.', name(storyId))),
    {
      modal: true,
      detail: l10n.t(
        'It does the story again, without the earlier work. To settle the conflict of the earlier work yourself, end the agent. What it has done so far is kept.',
      ),
    },
    button,
  );
  return choice === button;
}

/** Lines cannot be merged: one of the versions counts as a whole. */
async function askSide(
  settlement: Settlement,
  { kind, path: file }: ConflictedFile,
): Promise<void> {
  const branch = plainLabel(settlement.branch, MAX_NAME);
  const items: (QuickPickItem & { readonly side?: Side })[] = [
    {
      label: l10n.t('Keep what has landed'),
      description:
        kind === 'deletedHere' ? l10n.t('deleted on {0}', branch) : l10n.t('as on {0}', branch),
      side: 'branch',
    },
    {
      label: l10n.t('Take the version of the agent'),
      description: kind === 'deletedThere' ? l10n.t('deleted by the agent') : '',
      side: 'agent',
    },
    {
      label: l10n.t('Decide later'),
      description: l10n.t('in a terminal: git add or git rm'),
    },
  ];
  const choice = await window.showQuickPick(items, {
    title: plainLabel(file, MAX_NAME),
    placeHolder: sideQuestion(kind),
    ignoreFocusOut: true,
  });
  if (choice?.side !== undefined) {
    await settleWithSide(settlement, file, choice.side);
  }
}

function sideQuestion(kind: ConflictedFile['kind']): string {
  switch (kind) {
    case 'binary':
      return l10n.t('Both sides have changed this binary file. Which version counts?');
    case 'deletedHere':
      return l10n.t('It is deleted on the branch, and the agent has changed it. Which one counts?');
    case 'deletedThere':
      return l10n.t(
        'The agent has deleted it, and it was changed on the branch. Which one counts?',
      );
    case 'text':
    case 'other':
      return l10n.t('Both sides use this name for different things. Which one counts?');
  }
}

function name(storyId: string): string {
  return shorten(storyId, MAX_NAME);
}
