import { say } from '../../base/say.ts';
import { shellText } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { changedFilesBut, conflictingBranchProblem, lookAtBranch } from '../git/branch.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { heldElsewhere } from '../git/worktrees.ts';
import type { Precondition } from './precondition.ts';

/** The branch named in the story file can be checked out. */
export const branch: Precondition = {
  id: 'branch',
  needsGit: true,
  async judge({ canAsk, files: { workspace }, isIsolated, isPrepared, settings, stories }) {
    const wanted = stories?.branchName ?? '';
    if (settings.branch === 'stay' || wanted === '' || isPrepared) {
      return { level: 'holds', message: 'A run works on the branch that is checked out.' };
    }
    const { conflicting, current, exists, heldBy } = await lookAtBranch(workspace, wanted);
    const holds = { level: 'holds', message: `A run works on the branch ${wanted}.` } as const;
    if (current === wanted) {
      return holds;
    }
    if (heldBy !== undefined && !isIsolated) {
      return { level: 'refuses', ...heldElsewhere(wanted, heldBy) };
    }
    // If the branch does not exist and all stories are done, a run has nothing to do.
    const isIdle = !exists && stories?.stories.every(({ done }) => done) === true;
    if (conflicting !== undefined && !isIdle) {
      return { level: 'refuses', ...conflictingBranchProblem(wanted, conflicting) };
    }
    if (isIsolated) {
      return {
        level: 'holds',
        message: `Work lands on the branch ${wanted}; ${current || 'the detached HEAD'} stays checked out.`,
      };
    }
    if (canAsk || isIdle) {
      return holds;
    }
    const changed = await changedFilesBut(workspace, []).catch(error => {
      throw asHumanError(error);
    });
    return changed.length === 0
      ? holds
      : {
          level: 'refuses',
          message: say(
            'The story file asks for the branch {0}, but there are uncommitted changes on {1}.',
            shorten(wanted, 200),
            current || say('a detached HEAD'),
          ),
          next: exists
            ? say(
                'Commit or stash them, take them along with git switch --no-overwrite-ignore --merge {0}, or work here with --branch stay.',
                shellText(wanted),
              )
            : say('Commit or stash them, or work here with --branch stay.'),
        };
  },
};
