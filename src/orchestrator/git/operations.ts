import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { commonDirOf } from './gitDir.ts';

/** An unfinished command of git that keeps a branch where it is. */
export type Operation = 'am' | 'bisect' | 'cherry-pick' | 'merge' | 'rebase' | 'revert';

/** Files in git's folder of a work tree that exist while HEAD's branch takes part. */
const MARKS: readonly (readonly [string, Operation])[] = [
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'am'],
];

/**
 * The command of git that is in progress on a branch, in any work tree of the repository: it remembers where the
 * branch is, or expects to find it there later. Files are enough to know, so no process is needed.
 *
 * @param gitDir git's folder of the work tree
 * @param ref the branch with `refs/heads/`
 * @param isHere whether this work tree has the branch checked out
 */
export function operationOn(gitDir: string, ref: string, isHere: boolean): Operation | undefined {
  if (isHere) {
    const found = MARKS.find(([file]) => existsSync(path.join(gitDir, file)));
    if (found !== undefined) {
      return found[1];
    }
  }
  const common = commonDirOf(gitDir);
  for (const dir of [common, ...linkedDirs(common)]) {
    const lines = (file: string) => linesOf(path.join(dir, file));
    const isRebased = [
      ...lines('rebase-merge/head-name'),
      ...lines('rebase-apply/head-name'),
      ...lines('rebase-merge/update-refs'),
    ].includes(ref);
    if (isRebased) {
      return 'rebase';
    }
    // Names the branch that it will return to.
    if (lines('BISECT_START').some(name => name === ref || `refs/heads/${name}` === ref)) {
      return 'bisect';
    }
  }
  return undefined;
}

function linkedDirs(common: string): string[] {
  const folder = path.join(common, 'worktrees');
  return existsSync(folder) ? readdirSync(folder).map(name => path.join(folder, name)) : [];
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/);
  } catch {
    // It ended meanwhile, or there is none.
    return [];
  }
}
