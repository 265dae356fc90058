import { say } from '../../base/say.ts';
import { hasInHistory } from '../git/workBranch.ts';
import { nameOf, SHORT_HASH } from '../iteration/branchWatch.ts';
import type { Place } from '../places/place.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import type { Verdict } from '../run/verdict.ts';

/**
 * Between two iterations a person may switch to another branch that contains the run's work.
 * @returns what ends the run, if the branch does not contain it, or git cannot be read: then no agent could commit
 */
export async function followBranch(
  run: Pick<Run, 'state' | 'branch'>,
  { dir }: Pick<Place, 'dir'>,
  snapshot: Snapshot,
): Promise<Verdict | undefined> {
  const { branch: now, gitProblem } = snapshot;
  if (gitProblem !== undefined) {
    return { kind: 'astray', message: gitProblem };
  }
  if (now === undefined) {
    return undefined;
  }
  const before = run.branch;
  run.branch = now;
  const newest = run.state().commits.at(-1);
  if (
    before === undefined ||
    before === now ||
    newest === undefined ||
    (await hasInHistory(dir, newest.hash))
  ) {
    return undefined;
  }
  run.branch = before;
  const commit = newest.hash.slice(0, SHORT_HASH);
  if (before === '') {
    return {
      kind: 'astray',
      message: say(
        'The run worked on a detached HEAD, and now HEAD is on {0}, which lacks its commit {1}. Go back (git switch --no-overwrite-ignore --detach {1}) or merge its work (git merge --no-overwrite-ignore {1}), then run again to continue; or start a new run here with --new.',
        nameOf(now),
        commit,
      ),
    };
  }
  return {
    kind: 'astray',
    message: say(
      'The run worked on {0}, and now HEAD is on {1}, which lacks its commit {2}. Go back (git switch --no-overwrite-ignore {0}) or merge its work (git merge --no-overwrite-ignore {0}), then run again to continue; or start a new run here with --new.',
      nameOf(before),
      nameOf(now),
      commit,
    ),
  };
}
