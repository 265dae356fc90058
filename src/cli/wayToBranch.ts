import { say } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';

/**
 * How to come to a branch that is not checked out here: git switches to none that another worktree has.
 * @throws {HumanError} when git cannot tell
 */
export async function wayToBranch(workspace: string, branch: string): Promise<string> {
  // Few commands need git for this.
  const [{ lookAtBranch }, { adviceOnWorktree }] = await Promise.all([
    import('../orchestrator/git/branch.ts'),
    import('../orchestrator/git/worktrees.ts'),
  ]);
  const { heldBy } = await lookAtBranch(workspace, branch);
  return heldBy === undefined
    ? say('Go there with "git switch {0}".', shellWord(branch))
    : say('It is checked out in {0}. {1}', heldBy, adviceOnWorktree(heldBy));
}
