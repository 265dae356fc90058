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
  isStillSettled,
  landSettlement,
  readSettlement,
  requireConflict,
  type Settlement,
  settleAsIs,
  settleWithSide,
  settlingPlace,
} from '../../orchestrator/loop/settlement.ts';
import type { ConflictedFile, Side } from '../../orchestrator/places/conflictedPlace.ts';
import { Command } from '../common/contributions.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainLabel, plainSentence } from '../common/plainText.ts';
import { parseStoryRef } from '../common/refs.ts';
import { registerTrustedCommands } from '../common/registerCommand.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { type ChosenStory, chosenStory } from './chooseStory.ts';
import { closeFilesOf, completeMerges, isBelow, openMerge, saveFilesOf } from './mergeEditors.ts';

const MAX_NAME = 80;

/** A person settles the conflict of a story in VS Code's merge editor, and lands the result. */
export function settleCommands(folders: Folders, log: LogOutputChannel): Disposable {
  /** The stories that are being handed to the queue. */
  const landing = new Set<string>();
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
    void reportingErrors(log, () => offer(chosen, settlement));
  }

  /** What is next, until the person decides. */
  async function offer({ folder, storyId }: ChosenStory, settlement: Settlement): Promise<void> {
    const { branch, files } = settlement;
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
    if (choice === undefined) {
      return;
    }
    // The question stays for hours, and VS Code has no way to take it back.
    const isOpen = await isStillSettled(folder.files, settlement);
    if (isOpen) {
      const command = choice === landIt ? Command.landSettled : Command.giveConflictBack;
      await commands.executeCommand(command, ref);
    } else {
      void window.showInformationMessage(
        plainSentence(
          l10n.t(
            'Nothing was changed: you do not settle this conflict of {0} any more. It has landed, or was given back.',
            name(storyId),
          ),
        ),
      );
    }
  }

  async function land(argument: unknown): Promise<void> {
    const chosen = await chooseBegun(argument, l10n.t('Land which story?'));
    const key = JSON.stringify([chosen?.folder.path, chosen?.storyId]);
    // A second click must not land what the first one is about to land.
    if (chosen === undefined || landing.has(key)) {
      return;
    }
    landing.add(key);
    try {
      await landStory(chosen);
    } finally {
      landing.delete(key);
    }
  }

  async function landStory({ folder, storyId }: ChosenStory): Promise<void> {
    const before = await readSettlement(folder.files, storyId);
    if (!(await completeMerges(before)) || !(await decideRest({ folder, storyId }))) {
      throw new HumanError(
        l10n.t(
          '{0} has not landed: a file is not settled yet. Settle what is open, then land it again.',
          name(storyId),
        ),
      );
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
    const root = await settlingPlace(folder.files, storyId);
    if (root !== undefined && !(await saveFilesOf({ root }))) {
      throw new HumanError(
        l10n.t(
          '{0} is not given back: a file could not be saved. Save it, or undo its changes, then try again.',
          name(storyId),
        ),
      );
    }
    const kept = await cancelSettlement(folder.files, storyId);
    await (root !== undefined && closeFilesOf({ root }));
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
    if (argument instanceof Uri) {
      return storyOfEditor(begun, argument);
    }
    return begun.length === 1 ? begun[0] : choose(argument, placeHolder, 'begun');
  }

  return registerTrustedCommands(log, {
    [Command.settleConflict]: settle,
    [Command.landSettled]: land,
    [Command.giveConflictBack]: giveBack,
  });
}

/** @throws {HumanError} if the editor is about something else, such as a merge of the person's own */
async function storyOfEditor(begun: readonly ChosenStory[], file: Uri): Promise<ChosenStory> {
  for (const story of begun) {
    const root = await settlingPlace(story.folder.files, story.storyId);
    if (root !== undefined && isBelow(root, file)) {
      return story;
    }
  }
  throw new HumanError(
    l10n.t(
      'This editor does not belong to a conflict that you settle for Ralph. Use Land Settled Story or Give Conflict Back in the menu of the story.',
    ),
  );
}

/** Asks before the agent of the story is ended. @throws {HumanError} if it is landing, or has no conflict */
async function mayTake({ folder, storyId }: ChosenStory): Promise<boolean> {
  const holder = await holderOf(folder.files, storyId);
  if (holder === 'queue') {
    throw new HumanError(
      l10n.t('{0} is landing now, so there is nothing to settle.', name(storyId)),
    );
  }
  await requireConflict(folder.files, storyId);
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

/**
 * What no merge editor has completed now: a person may have saved one without choosing everywhere, or have settled
 * the file in another editor.
 * @returns false if something is left to do
 */
async function decideRest({ folder, storyId }: ChosenStory): Promise<boolean> {
  const settlement = await readSettlement(folder.files, storyId);
  for (const file of settlement.files.filter(({ isOpen }) => isOpen)) {
    const isSettled =
      file.kind === 'text'
        ? await decideText(folder, settlement, file)
        : await askSide(settlement, file);
    if (!isSettled) {
      return false;
    }
  }
  return true;
}

/**
 * The text alone does not say it: where no side was chosen, the merge editor has saved the old text.
 * @returns whether the person says that it is settled
 */
async function decideText(
  folder: Folder,
  settlement: Settlement,
  file: ConflictedFile,
): Promise<boolean> {
  const [settled, open] = [l10n.t('It Is Settled'), l10n.t('Open It')];
  const choice =
    file.marks === undefined
      ? await window.showWarningMessage(
          plainSentence(l10n.t('Is {0} settled?', shorten(file.path, MAX_NAME))),
          {
            modal: true,
            detail: l10n.t(
              'Its merge was not completed. Where no side was chosen, the merge editor saves the text from before both changes, and that would land.',
            ),
          },
          settled,
          open,
        )
      : open;
  if (choice === settled) {
    await settleAsIs(settlement, file.path);
  } else if (choice === open) {
    await openMerge(folder, settlement, file);
  }
  return choice === settled;
}

/**
 * Lines cannot be merged: one of the versions counts as a whole.
 * @returns false if the person decides later
 */
async function askSide(
  settlement: Settlement,
  { kind, path: file }: ConflictedFile,
): Promise<boolean> {
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
  if (choice?.side === undefined) {
    return false;
  }
  await settleWithSide(settlement, file, choice.side);
  return true;
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
