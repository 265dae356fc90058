import { rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { once } from '../../base/once.ts';
import { readPlainFile, writeDerivedFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { diskRefusal } from '../../base/systemRefusal.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { identify, isRunning } from '../process/processIdentity.ts';
import { RunFiles } from '../workspace/runFiles.ts';
import { closeRunFoundDead } from './recovery.ts';

const ownerSchema = once(() =>
  z.looseObject({
    pid: z.number().int().positive(),
    startId: z.string().optional(),
    /** Absolute path of the folder that it works in. */
    workspace: z.string(),
  }),
);

type Owner = z.infer<ReturnType<typeof ownerSchema>>;

const MAX_LOCK_BYTES = 16 * 1024;

/** Another loop commits to the branch that this work tree is on. */
export class WorkTreeTakenError extends HumanError {
  constructor({ pid, workspace }: Owner) {
    super(
      say(
        'A run is already going on in another folder of this git work tree (process {0}, in {1}), and both would commit to the same branch. Watch it with "ralph-fresh status --watch --cwd {1}", end it with "ralph-fresh stop --cwd {1}", or work here in a work tree of its own ("git worktree add").',
        pid,
        shellWord(workspace),
      ),
    );
  }
}

/**
 * Takes the work tree that a folder is in: whoever shares HEAD shares the branch, and would take the other's commits for
 * its own. The lock is in git's own folder for this work tree, so every folder of it finds the same one, and a linked work
 * tree or a submodule has another. Like the run lock it names a living process.
 *
 * What a loop left running that was killed in another folder is ended first: it could still commit.
 *
 * @returns gives it back; safe to call twice
 * @throws {WorkTreeTakenError} when another loop has it
 */
export async function acquireWorkTree({ workspace }: RunFiles): Promise<() => Promise<void>> {
  const gitDir = gitDirOf(workspace);
  if (gitDir === undefined) {
    // Outside of a repository no run starts, which is told where that is looked at.
    return async () => undefined;
  }
  const file = path.join(gitDir, 'ralph-fresh-lock.json');
  const self: Owner = { ...(await identify(process.pid)), workspace };
  let died: Owner | undefined;
  const unlock = await takeLook(gitDir, file);
  try {
    const owner = await readOwner(file);
    if (owner && !isSame(owner, self) && (await isRunning(identityOf(owner)))) {
      if (owner.workspace !== workspace) {
        throw new WorkTreeTakenError(owner);
      }
      // One in this very folder keeps it. Its journal tells of it in better words, by what comes next.
      return async () => undefined;
    }
    died = owner;
    // Not synced: it names a process, and none outlives the machine.
    await writeDerivedFile(file, `${JSON.stringify(self)}\n`).catch((error: unknown) => {
      throw cannotLock(gitDir, error);
    });
  } finally {
    await unlock();
  }
  if (died !== undefined && died.workspace !== workspace && gitDirOf(died.workspace) === gitDir) {
    await closeRunFoundDead(new RunFiles(died.workspace));
  }
  return async () => {
    const owner = await readOwner(file);
    if (owner && isSame(owner, self)) {
      await rm(file, { force: true });
    }
  };
}

/** Around a look and its change, for milliseconds. */
async function takeLook(gitDir: string, file: string): Promise<() => Promise<void>> {
  // Loaded here, as everywhere: whoever only looks needs no lock.
  const { lock } = await import('../../base/fileLock.ts');
  try {
    return await lock(gitDir, {
      lockfilePath: `${file}.taking`,
      stale: 5_000,
      retries: { retries: 60, factor: 1.2, minTimeout: 20, maxTimeout: 500 },
    });
  } catch (error) {
    throw cannotLock(gitDir, error);
  }
}

function cannotLock(gitDir: string, error: unknown): HumanError {
  const refused = diskRefusal(error, gitDir);
  return new HumanError(
    refused ??
      say(
        'Ralph cannot keep the lock of this work tree in {0} ({1}). Make that folder writable for you.',
        gitDir,
        (error as NodeJS.ErrnoException).code ?? messageOf(error),
      ),
    { cause: error },
  );
}

async function readOwner(file: string): Promise<Owner | undefined> {
  const text = await readPlainFile(file, MAX_LOCK_BYTES);
  if (text === undefined) {
    return undefined;
  }
  try {
    const owner = ownerSchema().parse(JSON.parse(text.toString('utf8')));
    // Ours always name the start where it can be known; a bare pid may be anybody's.
    return owner.startId === undefined && process.platform === 'linux' ? undefined : owner;
  } catch {
    // Written in one step, so what cannot be read is none of ours.
    return undefined;
  }
}

function isSame(one: Owner, other: Owner): boolean {
  return one.pid === other.pid && one.startId === other.startId;
}

function identityOf({ pid, startId }: Owner): { pid: number; startId?: string } {
  return startId === undefined ? { pid } : { pid, startId };
}
