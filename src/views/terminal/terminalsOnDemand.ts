import { type LogOutputChannel, type Memento, tasks, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { Command, TASK_TYPE } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { reportingErrors } from '../common/errors.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { Folders } from '../folders/folders.ts';
import { KeptTerminals } from './keptTerminals.ts';

/**
 * The terminals of runs, loaded when the first one is opened, and by the Tasks menu.
 * @param start starts a run in the active folder
 * @param state the workspace's state; stores which terminals were open
 * @param memory the global state, for all windows
 */
export function terminalsOnDemand(
  folders: Folders,
  start: () => Promise<void>,
  state: Memento,
  memory: Memento,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const kept = new KeptTerminals(state, error => log.error(error));
  const terminals = store.add(
    new OnDemand(
      [Command.showTerminal, Command.filterTerminal, Command.showStoryTerminal, Command.allowTool],
      async () => {
        const { RunTask } = await import('./runTask.ts');
        return () => new RunTask(folders, start, { kept, memory }, log);
      },
      log,
    ),
  );
  store.add(
    tasks.registerTaskProvider(TASK_TYPE, {
      provideTasks: async () => (await terminals.get()).tasks(),
      // Without a definition of its own, tasks.json contains nothing to resolve.
      resolveTask: () => undefined,
    }),
  );
  // After a reload, the terminal is restored, whether its run is still active or has ended meanwhile. Only the first
  // check counts: a run that this window starts opens its terminal itself.
  store.add(
    folders.inEach(folder => {
      const listener = folder.runs.onDidChange(({ alive, runId }) => {
        listener.dispose();
        const isWanted = (alive && folder === folders.active) || kept.of(folder.path) !== undefined;
        // In Restricted Mode, VS Code would ask for trust in a dialog.
        if (isWanted && runId !== undefined && workspace.isTrusted) {
          void reportingErrors(log, async () => (await terminals.get()).bringBack(folder));
        }
      });
      return listener;
    }),
  );
  return store;
}
