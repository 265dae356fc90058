import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { once } from '../../base/once.ts';
import { say } from '../../base/say.ts';
import { type LockOwner as OwnerOf, ProcessLock } from '../process/processLock.ts';
import { requirePlainState } from './plainState.ts';
import { isRunId, type RunFiles } from './runFiles.ts';
import { takeFileLock } from './takeFileLock.ts';

const ownerSchema = once(() =>
  z.looseObject({
    pid: z.number().int().positive(),
    startId: z.string().optional(),
    /** The run it works on; absent for a short writer such as a tick. */
    runId: z.string().refine(isRunId).optional(),
  }),
);

const MAX_LOCK_BYTES = 4_096;
const SHORT_WRITER_MS = 20;
const SHORT_WRITER_LIMIT_MS = 10_000;

interface Facts {
  readonly runId?: string | undefined;
}

/** The process that may write the workspace's journals. */
export type LockOwner = OwnerOf<Facts>;

/** The held lock; `release` is safe to call twice. */
export interface RunLock {
  /** A loop that was found dead: its run is to be closed before a new one starts. */
  readonly died?: LockOwner;
  release(): Promise<void>;
}

export type LockAttempt =
  | { readonly kind: 'acquired'; readonly lock: RunLock }
  | { readonly kind: 'held'; readonly by: LockOwner };

/**
 * Takes the workspace's one loop lock. Ownership is a file that names a living process, so a lock whose
 * owner was killed is free at once, and one whose owner sleeps (a closed laptop) is not. A short file lock
 * around look-and-take keeps two starters from both finding it free.
 * @throws the system's error when the state folder cannot be written
 */
export async function acquireRunLock(files: RunFiles, runId?: string): Promise<LockAttempt> {
  const deadline = Date.now() + SHORT_WRITER_LIMIT_MS;
  for (;;) {
    const attempt = await tryAcquire(files, runId);
    if (attempt.kind === 'acquired' || attempt.by.runId !== undefined) {
      return attempt;
    }
    if (Date.now() > deadline) {
      throw new HumanError(
        say(
          'Process {0} holds {1} and does not give it back. End that process, or remove the file when it has nothing to do with Ralph Fresh.',
          attempt.by.pid,
          files.lockFile,
        ),
      );
    }
    // A short writer has it, for one line of the journal.
    await new Promise(resolve => setTimeout(resolve, SHORT_WRITER_MS));
  }
}

async function tryAcquire(files: RunFiles, runId: string | undefined): Promise<LockAttempt> {
  requirePlainState(files, runId);
  const unlock = await takeFileLock(files, files.lockFile);
  try {
    const taken = await lockOf(files).take(runId === undefined ? {} : { runId });
    return taken.kind === 'held' ? taken : { kind: 'acquired', lock: taken };
  } finally {
    await unlock();
  }
}

/** The process that holds the lock now; `undefined` when none does, or the one that did is dead. */
export async function livingLockOwner(files: RunFiles): Promise<LockOwner | undefined> {
  return lockOf(files).livingOwner();
}

function lockOf(files: RunFiles): ProcessLock<Facts> {
  return new ProcessLock(files.lockFile, MAX_LOCK_BYTES, value => ownerSchema().parse(value));
}
