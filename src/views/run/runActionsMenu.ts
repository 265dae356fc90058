import { commands, type LogOutputChannel, l10n, window, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { isAllDone } from '../../orchestrator/loop/isAllDone.ts';
import { Command, SETTINGS_SECTION, View } from '../common/contributions.ts';
import { plainLabel } from '../common/plainText.ts';
import { registerCommand } from '../common/registerCommand.ts';
import { translate } from '../common/translate.ts';
import { MANAGE_TRUST } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf } from '../folders/folders.ts';
import { openRunSetting } from '../settings/openSettings.ts';
import { answerLabel, fittingActions, limitSetting, type RunAction } from './fittingActions.ts';
import { readyNow } from './readyNow.ts';

interface Item {
  readonly label: string;
  readonly description?: string;
  readonly run: () => PromiseLike<unknown>;
}

/**
 * The menu of the status bar: actions that are available now.
 * @param onLook called when a person has viewed the state of a run
 */
export function runActionsMenu(
  folders: Folders,
  onLook: () => void,
  log: LogOutputChannel,
): Disposable {
  async function show(): Promise<void> {
    const folder = folderOf(folders, undefined);
    onLook();
    const { runs, stories } = folder;
    const actions = fittingActions(runs.current, {
      allDone: isAllDone(stories.current, runs.current.state),
      isTrusted: workspace.isTrusted,
      folders: folders.all.length,
      ready: readyNow(folder),
    });
    const items = actions.map(action => item(action, folder));
    const choice = await window.showQuickPick(items, {
      placeHolder:
        folders.all.length > 1
          ? l10n.t('What should Ralph do in {0}?', plainLabel(folder.name, 60))
          : l10n.t('What should Ralph do?'),
      matchOnDescription: true,
    });
    await choice?.run();
  }

  function item(action: RunAction, folder: Folder): Item {
    const { path } = folder;
    const { question, storyId: at, storyIds } = runStanding(folder.runs.current);
    const isOne = storyIds.length < 2;
    const entry = (icon: string, label: string, command: string, description?: string): Item => ({
      label: `$(${icon}) ${label}`,
      description,
      run: () => commands.executeCommand(command, { folder: path }),
    });
    const atStory = at === undefined ? { folder: path } : { folder: path, storyId: at };
    const ofStory = (icon: string, label: string, command: string): Item => ({
      ...entry(icon, label, command, at && plainLabel(at, 60)),
      run: () => commands.executeCommand(command, atStory),
    });
    const items: Readonly<Record<RunAction, () => Item>> = {
      trust: () => ({
        label: `$(workspace-untrusted) ${l10n.t('Manage Workspace Trust')}`,
        description: l10n.t('nothing runs until you trust this folder'),
        run: () => commands.executeCommand(MANAGE_TRUST),
      }),
      answer: () =>
        entry(
          'comment-discussion',
          answerLabel(!folder.runs.current.alive, translate),
          Command.answerQuestion,
          plainLabel(question?.message ?? '', 120),
        ),
      resume: () => entry('debug-continue', l10n.t('Resume'), Command.resumeRun),
      continueStory: () =>
        entry('debug-continue', l10n.t('Continue a Story…'), Command.continueStory),
      continueLane: () => entry('debug-continue', l10n.t('Continue a Lane…'), Command.continueLane),
      tryNow: () =>
        entry(
          'debug-continue',
          l10n.t('Try Now'),
          Command.resumeRun,
          l10n.t('does not wait for the usage limit'),
        ),
      dontPause: () => entry('debug-continue', l10n.t('Do Not Pause'), Command.resumeRun),
      pause: () => entry('debug-pause', l10n.t('Pause After Iteration'), Command.pauseRun),
      stopAfterIteration: () =>
        entry('circle-slash', l10n.t('Stop After Iteration'), Command.stopAfterIteration),
      stop: () =>
        entry(
          'debug-stop',
          l10n.t('Stop'),
          Command.stopRun,
          isOne
            ? l10n.t('a later start continues it')
            : l10n.t('ends the agents of all stories; a later start continues them'),
        ),
      skip: () =>
        ofStory(
          'debug-step-over',
          isOne ? l10n.t('Skip Story') : l10n.t('Skip a Story…'),
          Command.skipStory,
        ),
      hint: () => ofStory('comment', l10n.t('Hint…'), Command.giveHint),
      start: () => entry('play', l10n.t('Start Fresh Run'), Command.startRun),
      continue: () =>
        entry(
          'play',
          l10n.t('Start Fresh Run'),
          Command.startRun,
          l10n.t('continues where the last one ended'),
        ),
      startLanes: () =>
        entry(
          'play',
          l10n.t('Start with Several Agents…'),
          Command.startLanes,
          l10n.t('stories that are ready now: {0}', readyNow(folder)),
        ),
      changeLanes: () =>
        entry(
          'organization',
          l10n.t('Change the Number of Agents…'),
          Command.changeLanes,
          l10n.t('up to {0} at once', folder.runs.current.state.lanes),
        ),
      changeLimit: () => {
        const setting = limitSetting(folder.runs.current.state);
        return {
          label: `$(settings-gear) ${l10n.t('Open Settings')}`,
          description: setting === undefined ? '' : `${SETTINGS_SECTION}.${setting}`,
          run: () => openRunSetting(setting),
        };
      },
      review: () => entry('diff-multiple', l10n.t('Review Changes'), Command.openRunChanges),
      progress: () => entry('graph', l10n.t('Show Progress'), Command.showProgress),
      terminal: () => entry('terminal', l10n.t('Show Terminal'), Command.showTerminal),
      stories: () => entry('list-unordered', l10n.t('Show Stories'), `${View.stories}.focus`),
      chooseFolder: () => ({
        label: `$(root-folder) ${l10n.t('Choose Another Folder…')}`,
        run: chooseFolder,
      }),
    };
    return items[action]();
  }

  async function chooseFolder(): Promise<void> {
    const items = folders.all.map(folder => ({
      label: plainLabel(folder.name, 60),
      description: folder.runs.current.alive ? l10n.t('a run is active') : '',
      folder,
    }));
    const choice = await window.showQuickPick(items, { placeHolder: l10n.t('Which folder?') });
    if (choice) {
      folders.activate(choice.folder);
    }
  }

  return registerCommand(Command.showRunActions, log, show);
}
