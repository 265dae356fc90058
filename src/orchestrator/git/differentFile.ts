import { gitResult } from './runGit.ts';

/**
 * Whether a file or folder is another one in one commit than in another; false if neither has it, or git cannot tell.
 * @param dir absolute path of a folder in the work tree
 * @param file absolute path
 * @param commits names of commits
 */
export async function isDifferentFile(
  dir: string,
  file: string,
  ...commits: readonly [string, string]
): Promise<boolean> {
  const { code } = await gitResult(dir, [
    ...['--no-optional-locks', '--literal-pathspecs', 'diff', '--quiet', '--no-ext-diff'],
    ...['--no-textconv', '--no-relative', ...commits, '--', file],
  ]);
  return code === 1;
}
