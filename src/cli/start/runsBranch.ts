import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { runGit } from '../../orchestrator/git/runGit.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { readStoryList } from '../../orchestrator/stories/storyFile.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import { wayToBranch } from '../wayToBranch.ts';

/**
 * Looks, before anything is written, whether the commits of a run that goes on are here. The name of the branch alone does
 * not tell: an agent may have made one, and a person may have merged it.
 * @throws {HumanError} when its commits are on its own branch or a detached HEAD, and not in what is checked out
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
    // On a detached HEAD nothing else leads to its commits.
    if (await holds(workspace, last, last)) {
      throw new HumanError(
        say(
          'The last run worked on a detached HEAD, and its last commit {0} is not in what is checked out. Go there with "git switch --detach {0}", or bring its work along with "git merge {0}". To start a new run here instead, give --new.',
          last.slice(0, 10),
        ),
      );
    }
    return;
  }
  if (canSwitch && storyFile !== undefined && (await branchOf(storyFile)) === branch) {
    // The run goes there itself.
    return;
  }
  if (await holds(workspace, `refs/heads/${branch}`, last)) {
    throw new HumanError(
      say(
        'The last run worked on the branch {0}, and its commits are not on the one that is checked out. {1} To start a new run here instead, give --new.',
        shorten(branch, 200),
        await wayToBranch(workspace, branch),
      ),
    );
  }
}

/** @returns the branch that a story file names; of a broken one the start of the run tells */
async function branchOf(storyFile: string): Promise<string | undefined> {
  return (await readStoryList(storyFile))?.branchName;
}

/** Whether a commit can be reached from somewhere; not where one of both is gone. */
async function holds(workspace: string, from: string, commit: string): Promise<boolean> {
  try {
    const args = ['--max-count=1', '--end-of-options', commit, `^${from}`];
    return (await runGit(workspace, 'rev-list', ...args)) === '';
  } catch {
    return false;
  }
}
