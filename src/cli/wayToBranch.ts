import { type Message, say } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';

/**
 * How to switch to a branch that is not checked out here: git refuses a branch that another worktree has checked out.
 * @throws {HumanError} if git fails
 */
export async function wayToBranch(workspace: string, branch: string): Promise<Message> {
  // Loaded on demand: few commands need git for this.
  const [{ lookAtBranch }, { adviceOnWorktree }] = await Promise.all([
    import('../orchestrator/git/branch.ts'),
    import('../orchestrator/git/worktrees.ts'),
  ]);
  const { heldBy } = await lookAtBranch(workspace, branch);
  return heldBy === undefined
    ? say('Go there with "git switch --no-overwrite-ignore {0}".', shellWord(branch))
    : say('It is checked out in {0}. {1}', heldBy, adviceOnWorktree(heldBy));
}
