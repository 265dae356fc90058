import { Disposable, type LogOutputChannel, type Memento } from 'vscode';
import { onceItSucceeds } from '../../base/once.ts';
import { reportingErrors } from '../common/errors.ts';
import type { Folders } from '../folders/folders.ts';
import { onDidEndAnswering } from '../run/answeringNow.ts';
import type { RunAlerts } from './runAlerts.ts';

/**
 * The alerts of runs, loaded when a folder has a run. They are told of every change, also of those that come while they are
 * loaded: a run that was seen running is told of when it has ended.
 * @param workspace stores which alerts were shown
 * @param person stores which alerts the person does not want to see
 */
export function alertsOnDemand(
  folders: Folders,
  workspace: Memento,
  person: Memento,
  log: LogOutputChannel,
): Disposable {
  const loaded = onceItSucceeds(async () => {
    const { runAlerts } = await import('./runAlerts.ts');
    return runAlerts(folders, workspace, person, log);
  });
  const tell = (what: (alerts: RunAlerts) => Promise<void>) =>
    void reportingErrors(log, async () => what(await loaded()));
  return Disposable.from(
    folders.inEach(folder =>
      folder.runs.onDidChange(run => {
        if (run.runId !== undefined) {
          tell(({ look }) => look(folder, run));
        }
      }),
    ),
    onDidEndAnswering(answered => tell(({ askTheRest }) => askTheRest(answered))),
  );
}
