import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

/** In bytes; a file of git that names a folder has one line. */
const MAX_BYTES = 64 * 1024;

/**
 * Real path of git's folder for a work tree (its own folder if the repository has several); `undefined` if there is
 * none.
 */
export function gitDirOf(dir: string): string | undefined {
  try {
    const found = findGitDir(dir);
    return found === undefined ? undefined : realpathSync.native(found);
  } catch {
    // Something else is there.
    return undefined;
  }
}

/** The folder that is shared by all work trees of a repository. */
export function commonDirOf(gitDir: string): string {
  const file = path.join(gitDir, 'commondir');
  return existsSync(file) ? path.resolve(gitDir, readLine(file)) : gitDir;
}

/** @throws if it is not a file written by git */
function findGitDir(dir: string): string | undefined {
  for (let folder = dir; ; folder = path.dirname(folder)) {
    const place = path.join(folder, '.git');
    if (existsSync(place)) {
      return existsSync(path.join(place, 'HEAD')) ? place : linkedGitDir(folder, place);
    }
    if (path.dirname(folder) === folder) {
      return undefined;
    }
  }
}

/** The folder for a work tree or submodule whose `.git` is a file. */
function linkedGitDir(folder: string, file: string): string | undefined {
  const [, dir] = /^gitdir: (.+)$/.exec(readLine(file)) ?? [];
  return dir === undefined ? undefined : path.resolve(folder, dir);
}

/** @throws if it is not a file: reading a pipe would block */
function readLine(file: string): string {
  const found = statSync(file);
  if (!found.isFile() || found.size > MAX_BYTES) {
    throw new Error(`${file} is not what git writes there.`);
  }
  return readFileSync(file, 'utf8').trimEnd();
}
