import { saidOf } from '../../base/messageOf.ts';
import { hasTracked } from '../git/trackedFile.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import { clearWorkRefs } from '../workspace/discardedWork.ts';
import { clearOldRuns } from '../workspace/oldRuns.ts';
import { removeRestorePoints } from '../workspace/restorePoints.ts';
import { runIds } from '../workspace/runIds.ts';

/** Of older runs only the journals are kept, and a rollback to them by number is no longer possible. */
export const RUNS_KEPT = 20;

/**
 * Removes old restore points, transcripts, and refs of work that has landed or was discarded long ago, which would
 * otherwise accumulate forever. Git keeps the commits according to its own rules.
 */
export async function clearBehind({
  files,
  id: runId,
  journal,
}: Pick<Run, 'files' | 'id' | 'journal'>): Promise<void> {
  const { workspace } = files;
  const kept = async () => {
    const ids = new Set([...(await runIds(files)), runId]);
    const upToThis = [...ids].filter(id => id <= runId).sort();
    // A run that seems newer came with the repository or from a wrong clock, and must not displace another one.
    const younger = [...ids].filter(id => id > runId);
    return [...upToThis.slice(-RUNS_KEPT), ...younger];
  };
  const tasks = [
    ['restorePointsNotRemoved', async () => removeRestorePoints(workspace, await kept())],
    ['restorePointsNotRemoved', async () => clearWorkRefs(files, await kept())],
    [
      'oldRunsNotCleared',
      async () => clearOldRuns(files, await kept(), place => hasTracked(workspace, place)),
    ],
  ] as const;
  for (const [code, task] of tasks) {
    try {
      await task();
    } catch (error) {
      warn(journal, code, saidOf(error));
    }
  }
}
