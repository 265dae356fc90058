import type { RunState } from '../journal/runState.ts';
import { isRunning } from '../process/processIdentity.ts';
import { readRun } from './runCheckpoint.ts';
import type { RunFiles } from './runFiles.ts';
import { newestRunId } from './runIds.ts';
import { type LockOwner, livingLockOwner } from './runLock.ts';

/**
 * The loop that is running in this workspace: the owner of the lock, or, if the lock file has been removed, the
 * process named by the newest journal.
 */
export async function livingRun(files: RunFiles): Promise<LockOwner | undefined> {
  const owner = await livingLockOwner(files);
  if (owner?.runId !== undefined) {
    return owner;
  }
  const runId = await newestRunId(files);
  if (runId === undefined) {
    return undefined;
  }
  const state = await readRun(files, runId);
  return (await isItsLoopRunning(state)) && state.pid !== undefined && state.startId !== undefined
    ? { pid: state.pid, startId: state.startId, runId }
    : undefined;
}

/**
 * Whether the loop that wrote this run is still running; known only if the journal identifies its process exactly.
 */
export async function isItsLoopRunning({ phase, pid, startId }: RunState): Promise<boolean> {
  return (
    (phase === 'running' || phase === 'stopping') &&
    pid !== undefined &&
    startId !== undefined &&
    (await isRunning({ pid, startId }))
  );
}
