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
    const run = (command: string, argument: object = { folder: path }) => ({
      run: () => commands.executeCommand(command, argument),
    });
    const atStory = at === undefined ? { folder: path } : { folder: path, storyId: at };
    const named = at === undefined ? {} : { description: plainLabel(at, 60) };
    switch (action) {
      case 'trust':
        return {
          label: `$(workspace-untrusted) ${l10n.t('Manage Workspace Trust')}`,
          description: l10n.t('nothing runs until you trust this folder'),
          run: () => commands.executeCommand(MANAGE_TRUST),
        };
      case 'answer':
        return {
          label: `$(comment-discussion) ${answerLabel(!folder.runs.current.alive, translate)}`,
          description: plainLabel(question?.message ?? '', 120),
          ...run(Command.answerQuestion),
        };
      case 'resume':
        return { label: `$(debug-continue) ${l10n.t('Resume')}`, ...run(Command.resumeRun) };
      case 'continueStory':
        return {
          label: `$(debug-continue) ${l10n.t('Continue a Story…')}`,
          ...run(Command.continueStory),
        };
      case 'continueLane':
        return {
          label: `$(debug-continue) ${l10n.t('Continue a Lane…')}`,
          ...run(Command.continueLane),
        };
      case 'tryNow':
        return {
          label: `$(debug-continue) ${l10n.t('Try Now')}`,
          description: l10n.t('does not wait for the usage limit'),
          ...run(Command.resumeRun),
        };
      case 'dontPause':
        return { label: `$(debug-continue) ${l10n.t('Do Not Pause')}`, ...run(Command.resumeRun) };
      case 'pause':
        return {
          label: `$(debug-pause) ${l10n.t('Pause After Iteration')}`,
          ...run(Command.pauseRun),
        };
      case 'stopAfterIteration':
        return {
          label: `$(circle-slash) ${l10n.t('Stop After Iteration')}`,
          ...run(Command.stopAfterIteration),
        };
      case 'stop':
        return {
          label: `$(debug-stop) ${l10n.t('Stop')}`,
          description: isOne
            ? l10n.t('a later start continues it')
            : l10n.t('ends the agents of all stories; a later start continues them'),
          ...run(Command.stopRun),
        };
      case 'skip':
        return {
          label: `$(debug-step-over) ${isOne ? l10n.t('Skip Story') : l10n.t('Skip a Story…')}`,
          ...named,
          ...run(Command.skipStory, atStory),
        };
      case 'hint':
        return {
          label: `$(comment) ${l10n.t('Hint…')}`,
          ...named,
          ...run(Command.giveHint, atStory),
        };
      case 'start':
        return { label: `$(play) ${l10n.t('Start Fresh Run')}`, ...run(Command.startRun) };
      case 'continue':
        return {
          label: `$(play) ${l10n.t('Start Fresh Run')}`,
          description: l10n.t('continues where the last one ended'),
          ...run(Command.startRun),
        };
      case 'startLanes':
        return {
          label: `$(play) ${l10n.t('Start with Several Agents…')}`,
          description: l10n.t('stories that are ready now: {0}', readyNow(folder)),
          ...run(Command.startLanes),
        };
      case 'changeLanes':
        return {
          label: `$(organization) ${l10n.t('Change the Number of Agents…')}`,
          description: l10n.t('up to {0} at once', folder.runs.current.state.lanes),
          ...run(Command.changeLanes),
        };
      case 'changeLimit': {
        const setting = limitSetting(folder.runs.current.state);
        return {
          label: `$(settings-gear) ${l10n.t('Open Settings')}`,
          description: setting === undefined ? '' : `${SETTINGS_SECTION}.${setting}`,
          run: () => openRunSetting(setting),
        };
      }
      case 'review':
        return {
          label: `$(diff-multiple) ${l10n.t('Review Changes')}`,
          ...run(Command.openRunChanges),
        };
      case 'progress':
        return { label: `$(graph) ${l10n.t('Show Progress')}`, ...run(Command.showProgress) };
      case 'terminal':
        return { label: `$(terminal) ${l10n.t('Show Terminal')}`, ...run(Command.showTerminal) };
      case 'stories':
        return {
          label: `$(list-unordered) ${l10n.t('Show Stories')}`,
          ...run(`${View.stories}.focus`),
        };
      case 'chooseFolder':
        return {
          label: `$(root-folder) ${l10n.t('Choose Another Folder…')}`,
          run: chooseFolder,
        };
    }
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
