import path from 'node:path';
import { type ExtensionContext, type LogOutputChannel, l10n, window, workspace } from 'vscode';
import type { RalphFreshApi } from './views/api.ts';
import { ConfigValue } from './views/configValue.ts';
import { diffsOnDemand } from './views/diff/diffsOnDemand.ts';
import { ActiveRun } from './views/folders/activeRun.ts';
import { ActiveStories } from './views/folders/activeStories.ts';
import type { Folder } from './views/folders/folder.ts';
import { Folders } from './views/folders/folders.ts';
import { IterationsView } from './views/iterations/iterationsView.ts';
import { RunDocuments } from './views/iterations/runDocuments.ts';
import { RunAlerts } from './views/notifications/runAlerts.ts';
import { plainSentence } from './views/plainSentence.ts';
import { prdEditorOnDemand } from './views/prdEditor/prdEditorOnDemand.ts';
import { progressOnDemand } from './views/progress/progressOnDemand.ts';
import { RunActionsMenu } from './views/run/runActionsMenu.ts';
import { RunCommands } from './views/run/runCommands.ts';
import { RunContextKeys } from './views/run/runContextKeys.ts';
import { RunStarter } from './views/run/runStarter.ts';
import { WindowPresence } from './views/run/windowPresence.ts';
import { RunSettings } from './views/settings/runSettings.ts';
import { ClaudeCheck } from './views/setup/claudeCheck.ts';
import { Setup } from './views/setup/setup.ts';
import { RunStatusBar } from './views/statusBar/runStatusBar.ts';
import { StoriesView } from './views/stories/storiesView.ts';
import { RunTask } from './views/terminal/runTask.ts';
import { LanguageModelTools } from './views/tools/languageModelTools.ts';

/** Builds the objects and hands them to each other; each registers what it contributes. */
export function activate(context: ExtensionContext): RalphFreshApi {
  const log = window.createOutputChannel('Ralph Fresh', { log: true });
  context.subscriptions.push(log);
  try {
    return build(context, log);
  } catch (error) {
    // VS Code itself would say nothing.
    log.error(error instanceof Error ? error : String(error));
    void window.showErrorMessage(
      plainSentence(
        l10n.t('Ralph Fresh could not start: {0}. Please report it with its log.', String(error)),
      ),
    );
    throw error;
  }
}

function build(context: ExtensionContext, log: LogOutputChannel): RalphFreshApi {
  const own = <T extends { dispose(): void }>(object: T): T => {
    context.subscriptions.push(object);
    return object;
  };
  const onError = (error: Error) => log.error(error);
  const settings = own(new RunSettings(log));
  const program = path.join(context.extensionPath, 'dist', 'cli.js');
  const folders = own(new Folders(context.workspaceState, onError));
  const runs = own(new ActiveRun(folders));
  const stories = own(new ActiveStories(folders));
  const claude = own(new ClaudeCheck(folders, settings, { program, log }));
  own(new Setup(folders, settings, claude, log));
  const onLastWindowClosed = own(new ConfigValue('onLastWindowClosed', 'continue'));
  const requireAgent = (folder: Folder) => claude.requireAgent(folder);
  const starter = new RunStarter(settings, onLastWindowClosed, program, requireAgent, log);
  const runCommands = own(new RunCommands(folders, starter, log));
  const start = (folder: Folder) => starter.start(folder);
  own(new LanguageModelTools({ folders, settings, claude, start, log }));
  const storiesView = own(new StoriesView(folders, context.workspaceState, log));
  own(storiesView.onDidChangeVisibility(({ visible }) => visible && claude.lookSoon()));
  own(workspace.onDidGrantWorkspaceTrust(() => storiesView.isVisible && claude.lookSoon()));
  own(new IterationsView(runs, folders, own(new RunDocuments(folders)), log));
  own(new RunTask(folders, () => runCommands.startActive(), context.globalState, log));
  const statusBar = own(new RunStatusBar(runs, stories));
  own(own(new RunActionsMenu(folders, log)).onDidLook(() => statusBar.noteLook()));
  own(storiesView.onDidChangeVisibility(({ visible }) => visible && statusBar.noteLook()));
  own(new RunAlerts(folders, context.workspaceState, context.globalState, log));
  own(new RunContextKeys(runs, stories));
  own(new WindowPresence(folders, onError));
  own(diffsOnDemand(folders, context.workspaceState, log));
  own(prdEditorOnDemand(folders, settings, program, log));
  own(progressOnDemand(folders, runs, context.extensionUri, log));
  return { stories: storiesView, run: runs };
}
