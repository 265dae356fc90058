import { newestCommits } from '../../git/fileHistory.ts';
import { runGit } from '../../git/runGit.ts';
import type { Duplicate } from '../duplicates/duplicate.ts';
import { findDuplicates } from '../duplicates/findDuplicates.ts';
import { requireOlderCommits } from './replay.ts';

/** A past commit as if an agent had just made it. */
export interface ReplayedCommit {
  readonly hash: string;
  readonly subject: string;
  /** New functions and files. */
  readonly looked: number;
  readonly duplicates: readonly Duplicate[];
  /** How long the search took. */
  readonly ms: number;
}

/**
 * What would have been reported for the newest commits of a repository, newest first; without merges and without a
 * first commit, which repeats nothing.
 * @throws {HumanError} if it is a clone without any commit to compare with
 */
export async function replayDuplicates(dir: string, commits: number): Promise<ReplayedCommit[]> {
  const newest = await newestCommits(dir, commits);
  const replayed: ReplayedCommit[] = [];
  for (const { hash, subject } of newest) {
    const parent = await runGit(dir, 'rev-parse', '--verify', '--quiet', `${hash}^`);
    if (parent.trim() !== '') {
      const start = performance.now();
      const found = await findDuplicates(dir, { from: parent.trim(), to: hash });
      replayed.push({ hash, subject, ...found, ms: performance.now() - start });
    }
  }
  if (replayed.length === 0) {
    await requireOlderCommits(dir);
  }
  return replayed;
}
