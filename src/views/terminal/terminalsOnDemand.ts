import { type LogOutputChannel, type Memento, tasks } from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { Command, TASK_TYPE } from '../contributions.ts';
import { DisposableStore } from '../disposableStore.ts';
import { reportingErrors } from '../errors.ts';
import type { Folders } from '../folders/folders.ts';
import { OnDemand } from '../onDemand.ts';

/**
 * The terminals of runs, loaded by the first one that is opened, and by the Tasks menu.
 * @param start starts a run in the active folder
 * @param memory of the person, for all windows
 */
export function terminalsOnDemand(
  folders: Folders,
  start: () => Promise<void>,
  memory: Memento,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const terminals = store.add(
    new OnDemand(
      [Command.showTerminal],
      async () => {
        const { RunTask } = await import('./runTask.ts');
        return () => new RunTask(folders, start, memory, log);
      },
      log,
    ),
  );
  store.add(
    tasks.registerTaskProvider(TASK_TYPE, {
      provideTasks: async () => (await terminals.get()).tasks(),
      // Without a definition of its own there is nothing in tasks.json to fill in.
      resolveTask: () => undefined,
    }),
  );
  // After a reload the run goes on, and its terminal is to be there again. Only the first look counts:
  // a run that this window starts brings its terminal itself.
  store.add(
    folders.inEach(folder => {
      const listener = folder.runs.onDidChange(({ alive }) => {
        listener.dispose();
        if (alive && folder === folders.active) {
          void reportingErrors(log, async () => (await terminals.get()).attach(folder));
        }
      });
      return listener;
    }),
  );
  return store;
}
