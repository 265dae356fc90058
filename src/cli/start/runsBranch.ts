import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { runGit } from '../../orchestrator/git/runGit.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { readStoryList } from '../../orchestrator/stories/storyFile.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import { wayToBranch } from '../wayToBranch.ts';

/**
 * Checks, before anything is written, whether the checkout contains the commits of a run that continues. The name of
 * the branch alone is not enough: an agent may have created the branch, and a person may have merged it.
 * @throws {HumanError} if its commits are on its own branch or a detached HEAD, and not in the checkout
 */
export async function requireRunsBranch(
  { workspace }: RunFiles,
  { branch, commits }: Pick<RunState, 'branch' | 'commits'>,
  { canSwitch, storyFile }: { readonly canSwitch: boolean; readonly storyFile?: string },
): Promise<void> {
  const last = commits.at(-1)?.hash;
  if (last === undefined || (await holds(workspace, 'HEAD', last))) {
    return;
  }
  if (branch === undefined) {
    // On a detached HEAD, nothing else references its commits.
    if (await holds(workspace, last, last)) {
      throw new HumanError(
        say(
          'The last run worked on a detached HEAD, and its last commit {0} is not in what is checked out. Go there with "git switch --no-overwrite-ignore --detach {0}", or merge its work with "git merge --no-overwrite-ignore {0}". To start a new run here instead, use --new.',
          last.slice(0, 10),
        ),
      );
    }
    return;
  }
  if (canSwitch && storyFile !== undefined && (await branchOf(storyFile)) === branch) {
    // The run switches to that branch itself.
    return;
  }
  if (await holds(workspace, `refs/heads/${branch}`, last)) {
    throw new HumanError(
      say(
        'The last run worked on the branch {0}, and its commits are not on the one that is checked out. {1} To start a new run here instead, use --new.',
        shorten(branch, 200),
        await wayToBranch(workspace, branch),
      ),
    );
  }
}

/** @returns the branch that a story file names; a broken file is reported when the run starts */
async function branchOf(storyFile: string): Promise<string | undefined> {
  return (await readStoryList(storyFile))?.branchName;
}

/** Whether a commit is reachable from another one; false if either no longer exists. */
async function holds(workspace: string, from: string, commit: string): Promise<boolean> {
  try {
    const args = ['--max-count=1', '--end-of-options', commit, `^${from}`];
    return (await runGit(workspace, 'rev-list', ...args)) === '';
  } catch {
    return false;
  }
}
