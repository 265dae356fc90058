import { commands, type LogOutputChannel, l10n, type Memento, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { storyRecord } from '../../orchestrator/journal/runState.ts';
import type { StoryState } from '../../presentation/storyState.ts';
import { Command } from '../common/contributions.ts';
import { parseStoryRef, type StoryRef } from '../common/refs.ts';
import { registerCommands } from '../common/registerCommand.ts';
import { remember } from '../common/remember.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf, folderPathOf } from '../folders/folders.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import { chooseStory } from './chooseStory.ts';
import { pickLanes } from './pickLanes.ts';
import { proposedLanes } from './proposedLanes.ts';
import { readyNow } from './readyNow.ts';
import type { StartRun } from './runStarter.ts';
import { idInRun, noRun, seenIn, sendRequest } from './sendRequest.ts';

/** Key under which the window stores the number of agents that was chosen last. */
const LANES_KEY = 'lanes';

/**
 * Several agents at once: their number, and what concerns one of them alone.
 * @param state the workspace's state; stores the number that was chosen last
 */
export function laneCommands(
  folders: Folders,
  settings: RunSettings,
  startRun: StartRun,
  state: Memento,
  log: LogOutputChannel,
): Disposable {
  async function start(folder: Folder): Promise<void> {
    requireTrust();
    await folder.stories.refresh();
    const set = settings.given(folder.path).lanes ?? 1;
    const kept = state.get<unknown>(LANES_KEY);
    const lanes = await pickLanes(l10n.t('Start with Several Agents'), {
      ...situationOf(folder),
      last: typeof kept === 'number' ? kept : undefined,
      // Otherwise, one agent is what the usual start is for.
      from: set > 1 ? 1 : 2,
    });
    if (lanes === undefined) {
      return;
    }
    remember(state, LANES_KEY, lanes, error => log.error(error));
    if (await startRun(folder, undefined, lanes)) {
      await commands.executeCommand(Command.showTerminal, { folder: folder.path });
    }
  }

  async function change(folder: Folder): Promise<void> {
    requireTrust();
    const { alive, state: run } = folder.runs.current;
    if (!alive || run.isolated !== true) {
      throw noRun();
    }
    const lanes = await pickLanes(l10n.t('Change the Number of Agents'), {
      ...situationOf(folder),
      inUse: run.lanes,
      from: 1,
    });
    if (lanes !== undefined) {
      await sendRequest(folder, { type: 'lanes', lanes });
    }
  }

  /** The story that is meant, or that the person chooses among those to which it applies. */
  async function chosenOf(
    folder: Folder,
    story: StoryRef | undefined,
    placeHolder: string,
    accepts: (state: StoryState | undefined) => boolean,
  ): Promise<StoryRef | undefined> {
    requireTrust();
    return story ?? (await chooseStory(folder, placeHolder, (_story, state) => accepts(state)));
  }

  async function stop(folder: Folder, story: StoryRef | undefined): Promise<void> {
    const chosen = await chosenOf(folder, story, l10n.t('Stop which story?'), hasAgent);
    if (chosen !== undefined) {
      const { storyId } = chosen;
      await sendRequest(folder, { type: 'stop', mode: 'end', storyId }, seenIn(folder, chosen));
    }
  }

  async function pause(folder: Folder, story: StoryRef | undefined): Promise<void> {
    const chosen = await chosenOf(folder, story, l10n.t('Pause which story?'), hasAgent);
    if (chosen !== undefined) {
      const { storyId } = chosen;
      await sendRequest(folder, { type: 'pause', storyId }, seenIn(folder, chosen));
    }
  }

  async function continueStory(folder: Folder, story: StoryRef | undefined): Promise<void> {
    const chosen = await chosenOf(
      folder,
      story,
      l10n.t('Continue which story?'),
      status => status?.kind === 'paused' || (hasAgent(status) && isLast(status)),
    );
    if (chosen === undefined) {
      return;
    }
    const { storyId } = chosen;
    const { alive, state: run } = folder.runs.current;
    const seen = seenIn(folder, chosen);
    const known = await idInRun(folder, { ...chosen, seen });
    // Without a loop, its pause is recorded with the story, and ends with everything else that holds it back.
    const isKept = !alive && known !== undefined && storyRecord(run, known).paused === true;
    await sendRequest(folder, { type: isKept ? 'reset' : 'resume', storyId }, seen);
  }

  async function goOnInLane(folder: Folder): Promise<void> {
    requireTrust();
    await folder.runs.refresh();
    const { alive, state: run } = folder.runs.current;
    if (!alive || run.isolated !== true) {
      throw noRun();
    }
    const lane = await choosePausedLane(run.pausedLanes ?? []);
    if (lane !== undefined) {
      await sendRequest(folder, { type: 'resume', lane });
    }
  }

  const at =
    (act: (folder: Folder, story: StoryRef | undefined) => Promise<void>) =>
    (argument: unknown) => {
      const story = parseStoryRef(argument);
      return act(folderOf(folders, story?.folder ?? folderPathOf(argument)), story);
    };
  return registerCommands(log, {
    [Command.startLanes]: at(start),
    [Command.changeLanes]: at(change),
    [Command.stopStory]: at(stop),
    [Command.pauseStory]: at(pause),
    [Command.continueStory]: at(continueStory),
    [Command.continueLane]: at(goOnInLane),
  });
}

/**
 * The only lane that is paused, or the one that the person chooses.
 * @returns `undefined` if the person canceled
 */
async function choosePausedLane(paused: readonly number[]): Promise<number | undefined> {
  const [first, ...others] = [...paused].sort((a, b) => a - b);
  if (first === undefined) {
    throw new HumanError(l10n.t('No lane is paused.'));
  }
  if (others.length === 0) {
    return first;
  }
  const items = [first, ...others].map(lane => ({ label: l10n.t('Lane {0}', lane), lane }));
  const choice = await window.showQuickPick(items, { placeHolder: l10n.t('Continue which lane?') });
  return choice?.lane;
}

function situationOf(folder: Folder) {
  const ready = readyNow(folder);
  return { ready, proposed: proposedLanes(ready) };
}

function hasAgent(state: StoryState | undefined): boolean {
  return state?.kind === 'running';
}

function isLast(state: StoryState | undefined): boolean {
  return state?.kind === 'running' && state.agent?.isLast === true;
}
