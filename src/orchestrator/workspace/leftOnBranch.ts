import { existsSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import type { RunState } from '../journal/runState.ts';

/** A story file that is away, since its run's branch is not checked out. */
export interface LeftOnBranch {
  /** Relative to the workspace. */
  readonly file: string;
  readonly branch: string;
}

/**
 * Looks whether a run's story file is only on the run's branch. Asks git, and changes nothing.
 * @param workspace absolute path
 */
export async function leftOnBranch(
  workspace: string,
  { branch, storyFile: file }: Pick<RunState, 'branch' | 'storyFile'>,
): Promise<LeftOnBranch | undefined> {
  if (branch === undefined || file === undefined || existsSync(path.join(workspace, file))) {
    return undefined;
  }
  // Few need git for this.
  const { isFileOnOtherBranch } = await import('../git/branch.ts');
  try {
    return (await isFileOnOtherBranch(workspace, branch, file)) ? { branch, file } : undefined;
  } catch (error) {
    if (error instanceof HumanError) {
      // What git says of a journal's branch is no answer to what was asked.
      return undefined;
    }
    throw error;
  }
}
