import path from 'node:path';
import { gitResult } from './runGit.ts';

/**
 * Whether a commit, or one before it, had a file or folder as another commit has it; also true if that one does not have
 * it, or git cannot tell.
 * @param dir absolute path of a folder in the work tree
 * @param file absolute path
 * @param head name of the commit
 * @param other name of the other one
 */
export async function hadFile(
  dir: string,
  file: string,
  head: string,
  other: string,
): Promise<boolean> {
  const name = path.relative(dir, file).replaceAll(path.sep, '/');
  const objects = await gitResult(dir, [
    ...['rev-parse', '--verify', '--quiet', '--end-of-options'],
    `${other}:./${name}`,
  ]);
  const object = objects.stdout.toString().trim();
  if (objects.code !== 0 || object === '') {
    return true;
  }
  const { code, stdout } = await gitResult(dir, [
    ...['--no-optional-locks', '--literal-pathspecs', 'log', '-1', '--format=%H', '-t'],
    ...['--no-ext-diff', '--no-textconv', '--no-relative', `--find-object=${object}`],
    ...['--end-of-options', head, '--', file],
  ]);
  return code !== 0 || stdout.toString().trim() !== '';
}
