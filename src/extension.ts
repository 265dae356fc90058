import path from 'node:path';
import { type ExtensionContext, type LogOutputChannel, l10n, Uri, window } from 'vscode';
import { messageOf } from './base/messageOf.ts';
import { ownOutsideLinks, ownOutsiderTexts } from './orchestrator/settings/ownSettingsFile.ts';
import { askForOutsideLinks } from './orchestrator/stories/outsideLinks.ts';
import { askForOutsiderTexts } from './orchestrator/stories/outsiderTexts.ts';
import { plainSentence } from './views/common/plainText.ts';
import { diffsOnDemand } from './views/diff/diffsOnDemand.ts';
import { ActiveRun } from './views/folders/activeRun.ts';
import { ActiveStories } from './views/folders/activeStories.ts';
import { Folders } from './views/folders/folders.ts';
import { iterationsOnDemand } from './views/iterations/iterationsOnDemand.ts';
import { alertsOnDemand } from './views/notifications/alertsOnDemand.ts';
import { placesOnDemand } from './views/places/placesOnDemand.ts';
import { prdEditorOnDemand } from './views/prdEditor/prdEditorOnDemand.ts';
import { progressOnDemand } from './views/progress/progressOnDemand.ts';
import { removedFolders } from './views/run/removedFolders.ts';
import { runContextKeys } from './views/run/runContextKeys.ts';
import { claudeWhenSeen, steeringOnDemand } from './views/run/steeringOnDemand.ts';
import { windowPresence } from './views/run/windowPresence.ts';
import { restrictedMode } from './views/setup/restrictedMode.ts';
import { setupView } from './views/setup/setupView.ts';
import { statusBarOnDemand } from './views/statusBar/statusBarOnDemand.ts';
import { StoriesView } from './views/stories/storiesView.ts';
import { terminalsOnDemand } from './views/terminal/terminalsOnDemand.ts';
import type { RalphFreshApi } from './views/tools/api.ts';
import { toolsOnDemand } from './views/tools/toolsOnDemand.ts';

/** Builds the objects and hands them to each other; each registers what it contributes. */
export function activate(context: ExtensionContext): RalphFreshApi {
  const log = window.createOutputChannel('Ralph Fresh', { log: true });
  context.subscriptions.push(log);
  askForOutsideLinks(() => ownOutsideLinks(process.env, process.platform));
  askForOutsiderTexts(() => ownOutsiderTexts(process.env, process.platform));
  try {
    return build(context, log);
  } catch (error) {
    // VS Code itself would say nothing.
    log.error(error instanceof Error ? error : String(error));
    void window.showErrorMessage(
      plainSentence(
        l10n.t(
          'Ralph Fresh could not start: {0}. Please report it with its log.',
          messageOf(error),
        ),
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
  const program = path.join(context.extensionPath, 'dist', 'cli.js');
  // A window without a folder has no storage of its own, and no runs either.
  const storage = context.storageUri ?? context.globalStorageUri;
  const folders = own(new Folders(context.workspaceState, onError));
  const runs = own(new ActiveRun(folders));
  const stories = own(new ActiveStories(folders));
  // Before the keys that say what a folder holds: sentences go by both.
  own(restrictedMode());
  const statusBar = own(statusBarOnDemand(runs, stories, log));
  const { workspaceState } = context;
  const onLook = () => statusBar.noteLook();
  const steering = own(steeringOnDemand(folders, program, onLook, workspaceState, log));
  const storiesView = own(new StoriesView(folders, context.workspaceState, log));
  own(setupView());
  own(claudeWhenSeen(storiesView, steering, log));
  own(iterationsOnDemand(runs, folders, log));
  const start = async () => (await steering.get()).startActive();
  own(terminalsOnDemand(folders, start, context.workspaceState, context.globalState, log));
  own(toolsOnDemand(folders, steering, log));
  own(storiesView.onDidChangeVisibility(({ visible }) => visible && statusBar.noteLook()));
  own(alertsOnDemand(folders, context.workspaceState, context.globalState, log));
  own(removedFolders(folders, log));
  own(runContextKeys(runs, stories));
  own(windowPresence(folders, onError));
  own(diffsOnDemand(folders, Uri.joinPath(storage, 'reviewNotes'), log));
  own(placesOnDemand(folders, context.workspaceState, log));
  own(prdEditorOnDemand(folders, steering, program, log));
  own(progressOnDemand(folders, runs, context.extensionUri, log));
  return { stories: storiesView, run: runs };
}
