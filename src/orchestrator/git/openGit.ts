import { type SimpleGit, simpleGit } from 'simple-git';
import { gitEnv } from './git.ts';

/**
 * git in a folder, in an environment that points it to no other repository. In a file of its own, so that what only
 * reads does not carry the library.
 * @param more variables that are set besides
 */
export function openGit(dir: string, more: Readonly<Record<string, string>> = {}): SimpleGit {
  return simpleGit({ baseDir: dir, trimmed: false }).env({ ...gitEnv(), ...more });
}
