import path from 'node:path';
import { runGit } from './runGit.ts';

/**
 * Whether a file came with a repository: git has it in its index. Asked of the innermost repository, since a folder on
 * the way may be a submodule, and in any case of letters, since the disk may make no difference between them.
 *
 * @param file absolute path; its folder must exist
 * @throws git's words, also outside a repository
 */
export async function isTracked(file: string): Promise<boolean> {
  const dir = path.dirname(file);
  const prefix = (await runGit(dir, 'rev-parse', '--show-prefix')).replace(/\r?\n$/, '');
  const place = `:(top,icase,literal)${prefix}${path.basename(file)}`;
  return (await runGit(dir, '--no-optional-locks', 'ls-files', '-z', '--', place)) !== '';
}

/**
 * Whether git has anything at or below a place in its index.
 * @param dir absolute path of a folder in the work tree
 * @param place relative to it, with forward slashes
 * @throws git's words, also outside a repository
 */
export async function hasTracked(dir: string, place: string): Promise<boolean> {
  const found = await runGit(
    dir,
    ...['--no-optional-locks', 'ls-files', '-z', '--', `:(icase,literal)${place}`],
  );
  return found !== '';
}
