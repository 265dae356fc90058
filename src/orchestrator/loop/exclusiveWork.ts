import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { requireWritableState } from '../preconditions/state.ts';
import { livingRun } from '../workspace/livingRun.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { acquireRunLock, type LockOwner } from '../workspace/runLock.ts';
import { ignoreStateDir } from '../workspace/stateIgnore.ts';
import { acquireWorkTree } from './workTreeLock.ts';

/** Another loop is running in this workspace. */
export class AlreadyRunningError extends HumanError {
  constructor(owner: LockOwner) {
    super(
      say(
        'A run is already active in this folder (process {0}). Watch it with "ralph-fresh status --watch", or stop it with "ralph-fresh stop".',
        owner.pid,
      ),
    );
  }
}

/** @throws {AlreadyRunningError} if a loop is running */
export async function requireNoLoop(files: RunFiles): Promise<void> {
  const loop = await livingRun(files);
  if (loop?.runId !== undefined) {
    throw new AlreadyRunningError(loop);
  }
}

/**
 * Does some work while no loop can start here.
 * @throws {AlreadyRunningError} if one is running
 * @throws {WorkTreeTakenError} if one is running in another folder of the same work tree
 */
export async function exclusively<T>(files: RunFiles, work: () => Promise<T>): Promise<T> {
  await requireWritableState(files);
  await requireNoLoop(files);
  // The agent of a killed loop may still be working on these files. Loaded on demand: a window only needs it to
  // write.
  const { closeRunFoundDead } = await import('./recovery.ts');
  await closeRunFoundDead(files);
  await ignoreStateDir(files);
  const attempt = await acquireRunLock(files);
  if (attempt.kind === 'held') {
    throw new AlreadyRunningError(attempt.by);
  }
  try {
    const releaseWorkTree = await acquireWorkTree(files);
    try {
      return await work();
    } finally {
      await releaseWorkTree();
    }
  } finally {
    await attempt.lock.release();
  }
}
