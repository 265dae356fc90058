import { gitResult } from '../git/runGit.ts';
import { readRefs } from './refs.ts';
import { tipRef } from './workRefs.ts';

/**
 * The ref that holds what has landed and its branch does not have yet; `undefined` if the branch has everything.
 * @param dir absolute path of the workspace
 */
export async function heldTip(dir: string, branch: string): Promise<string | undefined> {
  const ref = tipRef(dir, branch);
  const [tip] = await readRefs(dir, ref);
  return tip === undefined || (await isContained(dir, tip.commit, `refs/heads/${branch}`))
    ? undefined
    : ref;
}

/** @returns also false if the repository does not have one of them */
export async function isContained(dir: string, commit: string, ref: string): Promise<boolean> {
  const args = ['--no-optional-locks', 'merge-base', '--is-ancestor', '--end-of-options'];
  return (await gitResult(dir, [...args, commit, ref])).code === 0;
}
