import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { isContained } from '../git/isAncestor.ts';
import { runGit } from '../git/runGit.ts';
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
      if (
        start === undefined ||
        (await isContained(workspace, start, hash)) ||
        // Without one of them, nothing can be compared.
        !(await isContained(workspace, start, start)) ||
        !(await isContained(workspace, hash, 'HEAD'))
      ) {
        continue;
      }
      const ofIteration = new Set(await changedPaths(workspace, start, hash));
      const others = (await pathsOf(workspace, hash)).filter(file => !ofIteration.has(file));
      if (others.length > 0) {
        throw new HumanError(
          say(
            'Commit {0} of iteration {1} contains earlier work, too, because it replaced commits that were there before, for example with "git commit --amend": {2}. To take back only what the iteration has changed: git diff --binary {3} {0} | git apply --reverse --index',
            hash.slice(0, 7),
            iteration,
            namedFiles(others),
            start.slice(0, 7),
          ),
        );
      }
    }
  }
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

/** The files that a commit changes; none for a merge. */
async function pathsOf(dir: string, hash: string): Promise<string[]> {
  const output = await runGit(
    dir,
    ...['--no-optional-locks', 'diff-tree', '--root', '--no-commit-id', '-r', '-z', '--name-only'],
    ...['--no-renames', hash],
  );
  return output.split('\0').filter(file => file !== '');
}
