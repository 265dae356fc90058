import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { commonDirOf } from './gitDir.ts';

/** A command of git that may stay unfinished. */
export type Operation = 'am' | 'bisect' | 'cherry-pick' | 'merge' | 'rebase' | 'revert';

/** Files in git's folder of a work tree that exist while one of its commands is unfinished there. */
const MARKS: readonly (readonly [string, Operation])[] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'am'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

/**
 * The command of git that is unfinished in a work tree. Files are enough to know, so no process is needed.
 * @param gitDir git's folder of the work tree
 */
export function unfinishedOperation(gitDir: string): Operation | undefined {
  const found = MARKS.find(([file]) => existsSync(path.join(gitDir, file)));
  if (found !== undefined) {
    return found[1];
  }
  // After a commit in the middle of several, only the list of those that follow is left.
  const [next = ''] = linesOf(path.join(gitDir, 'sequencer', 'todo'));
  return /^p(?:ick)?\s/.test(next) ? 'cherry-pick' : /^revert\s/.test(next) ? 'revert' : undefined;
}

/**
 * The command of git that is in progress on a branch, in any work tree of the repository: it remembers where the
 * branch is, or expects to find it there later.
 *
 * @param gitDir git's folder of the work tree
 * @param ref the branch with `refs/heads/`
 * @param isHere whether this work tree has the branch checked out
 */
export function operationOn(gitDir: string, ref: string, isHere: boolean): Operation | undefined {
  if (isHere) {
    const found = unfinishedOperation(gitDir);
    // A bisect keeps only the branch to which it returns.
    if (found !== undefined && found !== 'bisect') {
      return found;
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
    // Reading a pipe would block.
    return statSync(file).isFile() ? readFileSync(file, 'utf8').split(/\r?\n/) : [];
  } catch {
    // It ended meanwhile, or there is none.
    return [];
  }
}
