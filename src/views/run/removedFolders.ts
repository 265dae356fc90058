import { type LogOutputChannel, l10n, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainSentence } from '../common/plainText.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';

/**
 * A run does not depend on the window. When its folder is removed from the window, the person is told what becomes of
 * it: nothing here shows it any more.
 */
export function removedFolders(folders: Folders, log: LogOutputChannel): Disposable {
  let known = folders.all;
  return folders.onDidChange(() => {
    // One with another name is the same folder.
    const removed = known.filter(({ path }) => folders.at(path) === undefined);
    known = folders.all;
    for (const folder of removed.filter(({ runs }) => runs.current.alive)) {
      void reportingErrors(log, () => tell(folder));
    }
  });
}

async function tell({ files, name, runs }: Folder): Promise<void> {
  const { runId, state } = runs.current;
  const stop = l10n.t('Stop');
  const choice = await window.showInformationMessage(
    plainSentence(
      state.onLastWindow === 'stopAfterIteration'
        ? l10n.t(
            'The folder {0} is not in this window any more. Its run ends after this iteration, unless another window shows it.',
            name,
          )
        : l10n.t(
            'The folder {0} is not in this window any more. Its run continues; add the folder again to see it.',
            name,
          ),
    ),
    stop,
  );
  if (choice !== stop) {
    return;
  }
  const [{ livingRun }, { deliverRequest }] = await Promise.all([
    import('../../orchestrator/workspace/livingRun.ts'),
    import('../../orchestrator/workspace/delivery.ts'),
  ]);
  if ((await livingRun(files))?.runId === runId) {
    await deliverRequest(files, { type: 'stop', mode: 'end' });
  } else {
    void window.showInformationMessage(l10n.t('That run is over. Nothing was done.'));
  }
}
