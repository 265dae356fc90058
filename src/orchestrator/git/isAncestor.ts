import { gitResult } from './runGit.ts';

/**
 * Whether a commit has another one in its history; every commit is its own ancestor.
 * @param ancestor a name of a commit, like `commit`
 * @throws git's message, also if the repository does not have one of them
 */
export async function isAncestor(dir: string, ancestor: string, commit: string): Promise<boolean> {
  if (ancestor === commit) {
    return true;
  }
  const { code, stderr } = await ask(dir, ancestor, commit);
  if (code > 1) {
    throw new Error(stderr.trim() || `git merge-base ended with ${code}.`);
  }
  return code === 0;
}

/** Like {@link isAncestor}, but false if the repository does not have one of them. */
export async function isContained(dir: string, commit: string, ref: string): Promise<boolean> {
  return (await ask(dir, commit, ref)).code === 0;
}

function ask(dir: string, ancestor: string, commit: string) {
  const args = ['--no-optional-locks', 'merge-base', '--is-ancestor', '--end-of-options'];
  return gitResult(dir, [...args, ancestor, commit]);
}
