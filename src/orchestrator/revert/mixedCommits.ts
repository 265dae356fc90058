import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { isContained } from '../git/isAncestor.ts';
import { changedPaths, namedFiles } from '../git/treeCommit.ts';
import { readDecisions } from '../journal/journal.ts';
import type { RecordedCommit, RunState } from '../journal/runState.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/**
 * Refuses commits that contain more than the work of their iteration: an agent that amends or squashes puts earlier work,
 * of other stories or of a person, into its own commit.
 * @param states of the runs that made them
 * @throws {HumanError} naming the files and the command that takes back only the iteration's work
 */
export async function requireOwnCommits(
  files: RunFiles,
  recorded: readonly RecordedCommit[],
  states: readonly RunState[],
): Promise<void> {
  const { workspace } = files;
  for (const { commits, runId } of states) {
    // What has landed is built on the branch, so it replaces nothing.
    const own = commits.filter(commit => recorded.includes(commit) && commit.landed !== true);
    const starts = own.length === 0 ? undefined : await startCommits(files, runId ?? '');
    for (const { hash, iteration } of own) {
      const start = starts?.get(iteration);
      const earlier = start === undefined ? [] : await earlierFiles(workspace, start, hash);
      if (start !== undefined && earlier.length > 0) {
        throw new HumanError(
          say(
            'Commit {0} of iteration {1} contains earlier work, too, because it replaced commits that were there before, for example with "git commit --amend": {2}. To take back only what the iteration has changed: git diff --binary {3} {0} | git apply --reverse --index',
            hash.slice(0, 7),
            iteration,
            namedFiles(earlier),
            start.slice(0, 7),
          ),
        );
      }
    }
  }
}

/** The files that a commit changes although they are the same as when its iteration began; none if it cannot be compared. */
async function earlierFiles(dir: string, start: string, hash: string): Promise<string[]> {
  const isContinued = await isContained(dir, start, hash);
  // A commit that the repository does not have is not contained in itself either.
  if (
    isContinued ||
    !(await isContained(dir, start, start)) ||
    !(await isContained(dir, hash, 'HEAD'))
  ) {
    return [];
  }
  const ofIteration = new Set(await changedPaths(dir, start, hash));
  const ofCommit = await changedPaths(dir, undefined, hash);
  return ofCommit.filter(file => !ofIteration.has(file));
}

/** Where HEAD was when each iteration began. */
async function startCommits(files: RunFiles, runId: string): Promise<ReadonlyMap<number, string>> {
  const events = await readDecisions(files.journalFile(runId));
  return new Map(
    events.flatMap(event =>
      event.type === 'iteration.started' && event.startCommit !== undefined
        ? [[event.iteration, event.startCommit] as const]
        : [],
    ),
  );
}
