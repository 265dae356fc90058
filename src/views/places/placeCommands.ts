import { commands, Disposable, type LogOutputChannel, l10n, Uri, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { runningIn } from '../../orchestrator/journal/runState.ts';
import { placeOfStory, type StoryPlace } from '../../orchestrator/places/placeChanges.ts';
import { listedStories } from '../../orchestrator/places/placeList.ts';
import { Command } from '../common/contributions.ts';
import { plainLabel, plainSentence } from '../common/plainText.ts';
import { registerTrustedCommands } from '../common/registerCommand.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { chosenStory } from './chooseStory.ts';
import type { LiveChanges } from './liveChanges.ts';
import { placesOf } from './placeFileSystem.ts';
import type { PlaceTerminals } from './placeTerminals.ts';

const MAX_NAME = 60;

/** Opens the place in which the agent of a story works or has worked. */
export function placeCommands(
  folders: Folders,
  changes: LiveChanges,
  terminals: PlaceTerminals,
  log: LogOutputChannel,
): Disposable {
  async function placeOf(argument: unknown, placeHolder: string) {
    const chosen = await chosenStory(folders, argument, {
      placeHolder,
      idsOf: async folder => listedStories(await placesOf(folder), runOf(folder)),
      none: l10n.t('No story of the newest run has a place of its own.'),
    });
    if (chosen === undefined) {
      return undefined;
    }
    const { folder, storyId } = chosen;
    await folder.runs.refresh();
    const place = await placeOfStory(await placesOf(folder), { runId: runOf(folder), storyId });
    if (place === undefined) {
      throw new HumanError(
        l10n.t(
          '{0} has no place now: it has not been worked on in this run, or another story has used its place since. What was kept of its work: ralph-fresh places',
          plainLabel(storyId, MAX_NAME),
        ),
      );
    }
    return { ...chosen, place };
  }

  async function openPlace(argument: unknown): Promise<void> {
    const found = await placeOf(argument, l10n.t('Open the place of which story?'));
    if (found !== undefined && (await mayEnter(found, l10n.t('Open Place')))) {
      const uri = Uri.file(found.place.dir);
      await commands.executeCommand('vscode.openFolder', uri, { forceNewWindow: true });
    }
  }

  async function openTerminal(argument: unknown): Promise<void> {
    const found = await placeOf(argument, l10n.t('Open a terminal in the place of which story?'));
    if (found !== undefined && (await mayEnter(found, l10n.t('Open Terminal')))) {
      terminals.open(found.folder, found.storyId, found.place);
    }
  }

  async function showChanges(argument: unknown): Promise<void> {
    const found = await placeOf(argument, l10n.t('Show the changes so far of which story?'));
    if (found !== undefined) {
      await changes.show(found.folder, found.storyId, found.place);
    }
  }

  return Disposable.from(
    changes,
    terminals,
    registerTrustedCommands(log, {
      [Command.openPlace]: openPlace,
      [Command.openPlaceTerminal]: openTerminal,
      [Command.showPlaceChanges]: showChanges,
    }),
  );
}

/** Asks first while an agent works there. */
async function mayEnter(
  {
    folder,
    place,
    storyId,
  }: { readonly folder: Folder; readonly storyId: string; readonly place: StoryPlace },
  button: string,
): Promise<boolean> {
  const { alive, state } = folder.runs.current;
  const current = alive ? runningIn(state, storyId) : undefined;
  if (current?.number !== place.iteration || place.usedBy === undefined) {
    return true;
  }
  const choice = await window.showWarningMessage(
    plainSentence(l10n.t('An agent works in the place of {0} now.', storyId)),
    {
      modal: true,
      detail: l10n.t(
        'The place is the agent’s. What you change there counts as its work, and may confuse it. To look only, use Show Changes So Far.',
      ),
    },
    button,
  );
  return choice === button;
}

function runOf({ runs }: Folder): string {
  return runs.current.runId ?? '';
}
