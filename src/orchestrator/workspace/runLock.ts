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
    /** The run it works on; absent for a short-lived writer such as a tick. */
    runId: z.string().refine(isRunId).optional(),
  }),
);

const MAX_LOCK_BYTES = 4_096;
const SHORT_WRITER_MS = 20;
const SHORT_WRITER_LIMIT_MS = 10_000;

interface Facts {
  readonly runId?: string | undefined;
}

/** The process that may write to the workspace's journals. */
export type LockOwner = OwnerOf<Facts>;

/** The acquired lock; `release` may be called twice. */
export interface RunLock {
  /** A loop that was found dead: its run must be closed before a new one starts. */
  readonly died?: LockOwner;
  release(): Promise<void>;
}

export type LockAttempt =
  | { readonly kind: 'acquired'; readonly lock: RunLock }
  | { readonly kind: 'held'; readonly by: LockOwner };

/**
 * Takes the lock for the workspace's only loop. The lock is a file that names a running process. It is free as soon
 * as its owner is killed, but stays taken while its owner sleeps (a closed laptop). A short file lock around check
 * and write prevents two processes from both finding it free.
 * @throws the system's error if the state folder cannot be written
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
          'Process {0} holds {1} and does not release it. End that process, or remove the file if it has nothing to do with Ralph Fresh.',
          attempt.by.pid,
          files.lockFile,
        ),
      );
    }
    // A short-lived writer has it, for one line of the journal.
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

/** The process that holds the lock; `undefined` if there is none, or it is dead. */
export async function livingLockOwner(files: RunFiles): Promise<LockOwner | undefined> {
  return lockOf(files).livingOwner();
}

function lockOf(files: RunFiles): ProcessLock<Facts> {
  return new ProcessLock(files.lockFile, MAX_LOCK_BYTES, value => ownerSchema().parse(value));
}
