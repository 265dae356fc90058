import path from 'node:path';
import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { once } from '../../base/once.ts';
import { say } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { diskRefusal } from '../../base/systemRefusal.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { type LockOwner, type LockTaken, ProcessLock } from '../process/processLock.ts';
import { RunFiles } from '../workspace/runFiles.ts';
import { closeRunFoundDead } from './recovery.ts';

const ownerSchema = once(() =>
  z.looseObject({
    pid: z.number().int().positive(),
    startId: z.string().optional(),
    workspace: z.string(),
  }),
);

interface Facts {
  /** Absolute path of the folder the loop works in. */
  readonly workspace: string;
}

type Owner = LockOwner<Facts>;

const MAX_LOCK_BYTES = 16 * 1024;

/** Another loop commits to the branch of this work tree. */
class WorkTreeTakenError extends HumanError {
  constructor({ pid, workspace }: Owner) {
    super(
      say(
        'A run is already active in another folder of this git work tree (process {0}, in {1}), and both would commit to the same branch. Watch it with "ralph-fresh status --watch --cwd {1}", stop it with "ralph-fresh stop --cwd {1}", or use a separate work tree here ("git worktree add").',
        pid,
        shellWord(workspace),
      ),
    );
  }
}

/**
 * Takes the lock for the work tree of a folder: loops with the same HEAD share the branch, and each would attribute
 * the other's commits to itself. The lock is in git's own folder for this work tree, so all its folders use the
 * same one, and a linked work tree or a submodule has another. Like the run lock, it names a running process.
 *
 * If a loop was killed in another folder, the processes it left are ended first, because they could still commit.
 *
 * @returns a function that releases the lock; may be called twice
 * @throws {WorkTreeTakenError} if another loop has it
 */
export async function acquireWorkTree({ workspace }: RunFiles): Promise<() => Promise<void>> {
  const gitDir = gitDirOf(workspace);
  if (gitDir === undefined) {
    // Outside of a repository no run starts; that is reported by a later check.
    return async () => undefined;
  }
  const file = path.join(gitDir, 'ralph-fresh-lock.json');
  const lock = new ProcessLock<Facts>(file, MAX_LOCK_BYTES, value => ownerSchema().parse(value));
  const taken = await takeLock(lock, gitDir, file, workspace);
  if (taken.kind === 'held') {
    if (taken.by.workspace !== workspace) {
      throw new WorkTreeTakenError(taken.by);
    }
    // A loop in this very folder keeps it. The next check of its journal gives a better message.
    return async () => undefined;
  }
  const { died, release } = taken;
  if (died !== undefined && died.workspace !== workspace && gitDirOf(died.workspace) === gitDir) {
    await closeRunFoundDead(new RunFiles(died.workspace));
  }
  return release;
}

/** @throws {HumanError} if the lock cannot be written */
async function takeLock(
  lock: ProcessLock<Facts>,
  gitDir: string,
  file: string,
  workspace: string,
): Promise<LockTaken<Facts>> {
  try {
    const { lockAround } = await import('../../base/fileLock.ts');
    const unlock = await lockAround(gitDir, file);
    try {
      return await lock.take({ workspace });
    } finally {
      await unlock();
    }
  } catch (error) {
    throw cannotLock(gitDir, error);
  }
}

function cannotLock(gitDir: string, error: unknown): HumanError {
  const refused = diskRefusal(error, gitDir);
  return new HumanError(
    refused ??
      say(
        'Ralph cannot keep the lock of this work tree in {0} ({1}). Make that folder writable.',
        gitDir,
        (error as NodeJS.ErrnoException).code ?? messageOf(error),
      ),
    { cause: error },
  );
}
