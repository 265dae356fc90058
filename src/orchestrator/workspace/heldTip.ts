import { isContained } from '../git/isAncestor.ts';
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
