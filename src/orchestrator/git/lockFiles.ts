import { lstat, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isWithin } from '../../base/isWithin.ts';
import { folderOfProcess, isOwnNamespace, processTable } from '../process/processTable.ts';
import { HEADS } from './git.ts';
import { commonDirOf } from './gitDir.ts';

/** In ms. A living command of git seldom holds a lock longer, and whatever it writes there makes it younger. */
const PATIENCE_MS = 3_000;
const STEP_MS = 100;
/** Of git's processes, but not of programs like `gitk`. */
const GIT_NAME = /^\.?git(?:-|$)/;

/**
 * Finds a lock file that keeps git from committing in a work tree, and that is not just held for a moment: a git
 * process that was killed leaves such a file, and nobody removes it. Waits a few seconds for a young one.
 * @param gitDir git's folder of the work tree
 * @param branch the branch that is checked out; '' if HEAD is detached
 * @returns its absolute path
 */
export async function leftLock(gitDir: string, branch: string): Promise<string | undefined> {
  const locked = [
    path.join(gitDir, 'index'),
    path.join(gitDir, 'HEAD'),
    ...(branch === '' ? [] : [path.join(commonDirOf(gitDir), HEADS + branch)]),
  ];
  for (const file of locked) {
    const lock = `${file}.lock`;
    if (await isLeft(lock)) {
      return lock;
    }
  }
  return undefined;
}

/**
 * Removes the lock files of {@link leftLock} that no git process can hold.
 * @param rootOf gives the real path of the work tree; `undefined` if nobody can know who works in it
 * @param removed told of each one
 * @returns the absolute path of one that stays
 */
export async function removeLeftLocks(
  gitDir: string,
  branch: string,
  rootOf: () => Promise<string | undefined>,
  removed: (lock: string) => void,
): Promise<string | undefined> {
  const gone = new Set<string>();
  for (;;) {
    const lock = await leftLock(gitDir, branch);
    const root = lock === undefined ? undefined : await rootOf();
    // Something that leaves it again and again would keep the run here.
    if (lock === undefined || root === undefined || gone.has(lock)) {
      return lock;
    }
    const left = await removeLeftLock(lock, root);
    if (left === 'held') {
      return lock;
    }
    if (left === 'removed') {
      gone.add(lock);
      removed(lock);
    }
  }
}

/**
 * Removes a lock file of {@link leftLock} if no git process can hold it: one that does has been running since before the
 * processes are looked at.
 * @param root real path of the work tree
 * @returns `held` if it stays: a git process works here, such as a commit whose message a person is writing, or the lock
 * cannot be removed, or nobody can know who holds it, as on other systems than Linux
 */
async function removeLeftLock(lock: string, root: string): Promise<'removed' | 'gone' | 'held'> {
  // It may be in the folder that all work trees share.
  const folders = [root, path.dirname(lock)];
  for (let waited = 0; worksIn(folders); waited += STEP_MS) {
    if (waited >= PATIENCE_MS) {
      return 'held';
    }
    // Editors ask for the status again and again.
    await sleep(STEP_MS);
  }
  try {
    await rm(lock);
    return 'removed';
  } catch {
    return (await stampOf(lock)) === undefined ? 'gone' : 'held';
  }
}

/** Whether a git process works in one of the folders, as far as it can be known; those of this process do not count. */
function worksIn(folders: readonly string[]): boolean {
  if (process.platform !== 'linux' || !isOwnNamespace()) {
    return true;
  }
  try {
    return processTable()
      .filter(({ name, parent }) => GIT_NAME.test(name) && parent !== process.pid)
      .flatMap(({ pid }) => folderOfProcess(pid) ?? [])
      .some(at => folders.some(folder => isWithin(folder, at)));
  } catch {
    // Another person's.
    return true;
  }
}

/** Whether a file stays as it is until it is old. */
async function isLeft(lock: string): Promise<boolean> {
  const first = await stampOf(lock);
  if (first === undefined) {
    return false;
  }
  const age = Date.now() - first.changedAt;
  // A clock that was set back must not make it wait longer.
  const rest = Math.min(PATIENCE_MS - age, PATIENCE_MS);
  for (let waited = 0; waited < rest; waited += STEP_MS) {
    await sleep(STEP_MS);
    const now = await stampOf(lock);
    if (now?.inode !== first.inode || now.changedAt !== first.changedAt) {
      return false;
    }
  }
  return true;
}

async function stampOf(file: string) {
  // Where nothing can be looked at, git itself says what is wrong.
  const found = await lstat(file).catch(() => undefined);
  return found && { inode: found.ino, changedAt: found.mtimeMs };
}
