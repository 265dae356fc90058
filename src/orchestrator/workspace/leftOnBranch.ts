import { existsSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import type { RunState } from '../journal/runState.ts';

/** A story file that is missing because its run's branch is not checked out. */
export interface LeftOnBranch {
  /** Relative to the workspace. */
  readonly file: string;
  readonly branch: string;
}

/**
 * Checks whether a run's story file exists only on the run's branch. Only queries git, changes nothing.
 * @param workspace absolute path
 */
export async function leftOnBranch(
  workspace: string,
  { branch, storyFile: file }: Pick<RunState, 'branch' | 'storyFile'>,
): Promise<LeftOnBranch | undefined> {
  if (branch === undefined || file === undefined || existsSync(path.join(workspace, file))) {
    return undefined;
  }
  // Imported only on demand, because few callers need git.
  const { isFileOnOtherBranch } = await import('../git/branch.ts');
  try {
    return (await isFileOnOtherBranch(workspace, branch, file)) ? { branch, file } : undefined;
  } catch (error) {
    if (error instanceof HumanError) {
      // An error of git about the branch named in a journal is not the caller's concern.
      return undefined;
    }
    throw error;
  }
}
