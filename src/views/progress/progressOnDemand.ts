import { type LogOutputChannel, type Uri, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Command, WebviewPanelType } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { reportingErrors } from '../common/errors.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { Folders } from '../folders/folders.ts';

/** The progress page, loaded when it is opened, or when one from before a reload is restored. */
export function progressOnDemand(
  folders: Folders,
  runs: ActiveRun,
  extensionUri: Uri,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const page = store.add(
    new OnDemand(
      [Command.showProgress],
      async () => {
        const { ProgressPage } = await import('./progressPage.ts');
        return () => new ProgressPage(folders, runs, extensionUri, log);
      },
      log,
    ),
  );
  store.add(
    window.registerWebviewPanelSerializer(WebviewPanelType.progress, {
      deserializeWebviewPanel: panel =>
        reportingErrors(log, async () => {
          try {
            (await page.get()).restore(panel);
          } catch (error) {
            // An empty tab would be useless.
            panel.dispose();
            throw error;
          }
        }),
    }),
  );
  return store;
}
