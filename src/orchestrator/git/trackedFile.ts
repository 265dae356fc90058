import path from 'node:path';
import { runGit } from './runGit.ts';

/**
 * Whether git tracks a file, so that it came with the repository. Asks the innermost repository, because a parent
 * folder may be a submodule, and ignores case, because the file system may do so, too.
 *
 * @param file absolute path; its folder must exist
 * @throws git's message, also outside a repository
 */
export async function isTracked(file: string): Promise<boolean> {
  const dir = path.dirname(file);
  const prefix = (await runGit(dir, 'rev-parse', '--show-prefix')).replace(/\r?\n$/, '');
  const place = `:(top,icase,literal)${prefix}${path.basename(file)}`;
  return (await runGit(dir, '--no-optional-locks', 'ls-files', '-z', '--', place)) !== '';
}

/**
 * Whether git tracks anything at or below a path.
 * @param dir absolute path of a folder in the work tree
 * @param place relative to it, with forward slashes
 * @throws git's message, also outside a repository
 */
export async function hasTracked(dir: string, place: string): Promise<boolean> {
  const found = await runGit(
    dir,
    ...['--no-optional-locks', 'ls-files', '-z', '--', `:(icase,literal)${place}`],
  );
  return found !== '';
}

/**
 * Whether a commit has a file.
 * @param root absolute path of a folder in the work tree
 * @param file relative to the repository's root, with forward slashes
 */
export async function hasFileAt(root: string, commit: string, file: string): Promise<boolean> {
  const listed = await runGit(
    root,
    ...['--no-optional-locks', 'ls-tree', '-z', '--full-tree', commit, '--', file],
  );
  return listed !== '';
}
