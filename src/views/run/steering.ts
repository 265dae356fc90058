import {
  commands,
  type LogOutputChannel,
  l10n,
  type Memento,
  ProgressLocation,
  window,
} from 'vscode';
import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { once } from '../../base/once.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { deliverRequest } from '../../orchestrator/workspace/delivery.ts';
import { livingRun } from '../../orchestrator/workspace/livingRun.ts';
import { requireOwnHints } from '../../orchestrator/workspace/ownHints.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { pausedPartsWords } from '../../presentation/waitingWords.ts';
import { ConfigValue } from '../common/configValue.ts';
import { Command } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { FixableError } from '../common/errors.ts';
import { plainLabel } from '../common/plainText.ts';
import { parseStoryRef, type StoryRef } from '../common/refs.ts';
import { registerCommands } from '../common/registerCommand.ts';
import { translate } from '../common/translate.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf, folderPathOf } from '../folders/folders.ts';
import { RunSettings } from '../settings/runSettings.ts';
import { ClaudeCheck } from '../setup/claudeCheck.ts';
import { setup } from '../setup/setup.ts';
import { answerQuestions, type GivenAnswer, sendGiven } from './answering.ts';
import { askText, hintDraft } from './askText.ts';
import { chooseStory } from './chooseStory.ts';
import { canResume, continuing } from './fittingActions.ts';
import { laneCommands } from './laneCommands.ts';
import { runActionsMenu } from './runActionsMenu.ts';
import { runStarter } from './runStarter.ts';
import { noRun, seenIn, sendRequest } from './sendRequest.ts';

/** From the progress page, where the answer was typed. */
const answerSchema = once(() =>
  z.looseObject({
    text: z.string().trim().min(1),
    runId: z.string(),
    iteration: z.number().int().positive(),
    storyId: z.string().optional(),
  }),
);

/**
 * Commands that start, control and stop runs, and the setup before the first one: they launch the loop or send it a
 * request.
 * @param program `dist/cli.js` of this extension
 * @param onLook called when a person has viewed the state of a run
 * @param state the workspace's state; stores what a person chose last
 */
export function steering(
  folders: Folders,
  program: string,
  onLook: () => void,
  state: Memento,
  log: LogOutputChannel,
) {
  const store = new DisposableStore();
  /** Settings of a run that are set in the window. */
  const settings = store.add(new RunSettings(log));
  const claude = store.add(new ClaudeCheck(folders, settings, program, log));
  store.add(setup(folders, settings, claude, program, log));
  const onLastWindowClosed = store.add(new ConfigValue('onLastWindowClosed', 'continue'));
  const startRun = runStarter(
    settings,
    onLastWindowClosed,
    program,
    folder => claude.requireAgent(folder),
    log,
  );

  async function start(folder: Folder, story: StoryRef | undefined): Promise<void> {
    const isRunning = await startRun(folder, story && [story.storyId]);
    // It may have been removed from the window meanwhile.
    if (isRunning && folders.all.includes(folder)) {
      await commands.executeCommand(Command.showTerminal, { folder: folder.path });
    }
  }

  async function runStory(folder: Folder, story: StoryRef | undefined): Promise<void> {
    requireTrust();
    // A run of a story that waits or is put aside ends before its first agent.
    const chosen =
      story ??
      (await chooseStory(
        folder,
        l10n.t('Run which story?'),
        ({ done }, state) => !done && state?.kind !== 'waiting' && state?.kind !== 'parked',
      ));
    if (chosen !== undefined) {
      await start(folder, chosen);
    }
  }

  async function stop(folder: Folder): Promise<void> {
    const { runId } = (await livingRun(folder.files)) ?? {};
    if (runId === undefined) {
      throw noRun();
    }
    log.info(`Stopping run ${runId}`);
    await window.withProgress(
      { location: ProgressLocation.Window, title: l10n.t('Stopping Ralph…') },
      async () => {
        await deliverRequest(folder.files, { type: 'stop', mode: 'end' });
        await untilGone(folder, runId);
      },
    );
    log.info(`Run ${runId} has stopped`);
  }

  /** Resolves when the run's loop is gone, even if it was gone before the call. */
  function untilGone(folder: Folder, runId: string): Promise<void> {
    const { runs } = folder;
    return new Promise(resolve => {
      const look = (run: WatchedRun) => {
        // Nothing is heard any more of a folder that was removed from the window.
        if (run.runId !== runId || !run.alive || !folders.all.includes(folder)) {
          listeners.dispose();
          resolve();
        }
      };
      const listeners = store.add(new DisposableStore());
      listeners.add(runs.onDidChange(look));
      listeners.add(folders.onDidChange(() => look(runs.current)));
      void runs.refresh().then(() => look(runs.current));
    });
  }

  async function resume(folder: Folder): Promise<void> {
    // This starts its next agent.
    requireTrust();
    await folder.runs.refresh();
    const { alive, state } = folder.runs.current;
    if (alive && !canResume(state)) {
      // The request would have no effect.
      throw new HumanError(l10n.t('The run is active; it is not waiting for anything.'));
    }
    const parts = alive && state.pause ? pausedPartsWords(state.pause, translate, 'window') : '';
    if (parts !== '') {
      // It would pause again at once.
      throw partsPaused(parts, folder, continuing(state)[0]);
    }
    await sendRequest(folder, { type: 'resume' });
  }

  async function skip(folder: Folder, story: StoryRef | undefined): Promise<void> {
    requireTrust();
    requireAnyRun(folder);
    const { storyId: only, storyIds } = runStanding(folder.runs.current);
    const chosen =
      story ??
      (only === undefined
        ? await chooseStory(folder, l10n.t('Skip which story?'), ({ done, id }, state) =>
            storyIds.length > 0
              ? storyIds.includes(id)
              : !done && state?.kind !== 'skipped' && state?.kind !== 'parked',
          )
        : undefined);
    const storyId = chosen?.storyId ?? only;
    if (storyId !== undefined) {
      await sendRequest(folder, { type: 'skip', storyId }, seenIn(folder, chosen));
    }
  }

  async function reset(folder: Folder, story: StoryRef | undefined): Promise<void> {
    requireTrust();
    requireAnyRun(folder);
    const chosen =
      story ??
      (await chooseStory(
        folder,
        l10n.t('Which story gets another chance?'),
        ({ done, id }) => !done && folder.runs.current.state.storyRecords.has(id),
      ));
    if (chosen !== undefined) {
      const { storyId } = chosen;
      await sendRequest(folder, { type: 'reset', storyId }, seenIn(folder, chosen));
    }
  }

  async function hint(folder: Folder, story: StoryRef | undefined): Promise<void> {
    requireTrust();
    await requireOwnHints(folder.files);
    const storyId = story?.storyId;
    // While the person writes, the list may change.
    const seen = seenIn(folder, story);
    const text = await askText({
      title:
        storyId === undefined
          ? l10n.t('Hint for all later agents')
          : l10n.t('Hint for the agents of {0}', plainLabel(storyId, 60)),
      prompt: l10n.t('One or two sentences for the next agent'),
      draftOf: hintDraft(folder.path, storyId),
    });
    if (text === undefined) {
      return;
    }
    await sendRequest(folder, { type: 'hint', text, storyId }, seen);
  }

  /** Sends answers, which continue the run, even one that ended because of the question. */
  async function answer(
    folder: Folder,
    given: GivenAnswer | undefined,
    story: StoryRef | undefined,
  ): Promise<void> {
    requireTrust();
    const isAnswered =
      given === undefined
        ? await answerQuestions(folder, story)
        : await sendGiven(folder, given).then(() => true);
    if (isAnswered && !folder.runs.current.alive) {
      await start(folder, undefined);
    }
  }

  const at =
    (act: (folder: Folder, story: StoryRef | undefined) => Promise<void>) =>
    (argument: unknown) => {
      const story = parseStoryRef(argument);
      return act(folderOf(folders, story?.folder ?? folderPathOf(argument)), story);
    };
  store.add(
    registerCommands(log, {
      [Command.startRun]: at(start),
      [Command.runStory]: at(runStory),
      [Command.stopRun]: at(stop),
      [Command.stopAfterIteration]: at(folder =>
        sendRequest(folder, { type: 'stop', mode: 'afterIteration' }),
      ),
      [Command.pauseRun]: at(folder => sendRequest(folder, { type: 'pause' })),
      [Command.resumeRun]: at(resume),
      [Command.skipStory]: at(skip),
      [Command.resetStory]: at(reset),
      [Command.giveHint]: at(hint),
      [Command.answerQuestion]: argument =>
        answer(
          folderOf(folders, folderPathOf(argument)),
          answerSchema().safeParse(argument).data,
          parseStoryRef(argument),
        ),
    }),
  );
  store.add(laneCommands(folders, settings, startRun, state, log));
  store.add(runActionsMenu(folders, onLook, log));
  return Object.assign(store, {
    settings,
    claude,
    /** Starts a run, or continues the last one. @returns whether a run is running now */
    start: startRun,
    /** Starts a run in the active folder without showing it, for callers that show it themselves. */
    startActive: async () => {
      await startRun(folderOf(folders, undefined));
    },
  });
}

export type Steering = ReturnType<typeof steering>;

/** @param way what lets the run continue, if the person has paused parts of it */
function partsPaused(
  words: string,
  folder: Folder,
  way: ReturnType<typeof continuing>[number] | undefined,
): HumanError {
  const at = { folder: folder.path };
  switch (way) {
    case 'continueStory':
      return new FixableError(words, l10n.t('Continue a Story…'), Command.continueStory, at);
    case 'continueLane':
      return new FixableError(words, l10n.t('Continue a Lane…'), Command.continueLane, at);
    default:
      return new HumanError(words);
  }
}

/** Without any run, a request would start a journal that belongs to no run. */
function requireAnyRun({ runs }: Folder): void {
  if (runs.current.runId === undefined) {
    throw new HumanError(l10n.t('There has been no run in this folder yet. Start one first.'));
  }
}
