import path from 'node:path';
import { type ExtensionContext, type LogOutputChannel, l10n, window } from 'vscode';
import type { RalphFreshApi } from './views/api.ts';
import { ConfigValue } from './views/configValue.ts';
import { ContextKeyValue } from './views/contextKey.ts';
import { ContextKey } from './views/contributions.ts';
import { CommitDiff } from './views/diff/commitDiff.ts';
import { GitFileSystem } from './views/diff/gitFileSystem.ts';
import { ActiveRun } from './views/folders/activeRun.ts';
import { ActiveStories } from './views/folders/activeStories.ts';
import { Folders } from './views/folders/folders.ts';
import { RunNotifications } from './views/notifications/runNotifications.ts';
import { ProgressPage } from './views/progress/progressPage.ts';
import { RunCommands } from './views/run/runCommands.ts';
import { RunStatusBar } from './views/statusBar/runStatusBar.ts';
import { StoriesView } from './views/stories/storiesView.ts';
import { RunTask } from './views/terminal/runTask.ts';

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
      l10n.t('Ralph Fresh could not start: {0}. Please report it with its log.', String(error)),
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
  const settings = {
    agent: own(new ConfigValue('agent', 'claude')),
    claudePath: own(new ConfigValue('claudePath', '')),
    model: own(new ConfigValue('model', '')),
    maxIterations: own(new ConfigValue('maxIterations', 20)),
  };
  const program = path.join(context.extensionPath, 'dist', 'cli.js');
  const folders = own(new Folders(context.workspaceState, onError));
  const runs = own(new ActiveRun(folders));
  const stories = own(new ActiveStories(folders));
  const runCommands = own(new RunCommands(runs, settings, program, log));
  const storiesView = own(new StoriesView(stories, runs, log));
  own(new RunTask(runs, () => runCommands.start(), log));
  own(new RunStatusBar(runs, stories));
  own(new RunNotifications(runs));
  own(new GitFileSystem());
  own(new CommitDiff(log));
  own(new ProgressPage(runs, context.extensionUri, log));
  const running = new ContextKeyValue<boolean>(ContextKey.running);
  own(runs.onDidChange(({ alive }) => running.set(alive)));
  return { stories: storiesView, run: runs };
}
