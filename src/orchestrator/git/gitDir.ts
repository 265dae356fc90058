import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

/** A file of git's that names a folder is a line. */
const MAX_BYTES = 64 * 1024;

/** Real path of git's folder for a work tree, its own one where a repository has several; `undefined` without one. */
export function gitDirOf(dir: string): string | undefined {
  try {
    const found = findGitDir(dir);
    return found === undefined ? undefined : realpathSync.native(found);
  } catch {
    // Something else lies there.
    return undefined;
  }
}

/** Where a repository with several work trees keeps what they share. */
export function commonDirOf(gitDir: string): string {
  const file = path.join(gitDir, 'commondir');
  return existsSync(file) ? path.resolve(gitDir, readLine(file)) : gitDir;
}

/** @throws for what is no file of git's */
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

/** Of a work tree or a submodule whose `.git` is a file. */
function linkedGitDir(folder: string, file: string): string | undefined {
  const [, dir] = /^gitdir: (.+)$/.exec(readLine(file)) ?? [];
  return dir === undefined ? undefined : path.resolve(folder, dir);
}

/** @throws for what is no file: a pipe would be waited for */
function readLine(file: string): string {
  const found = statSync(file);
  if (!found.isFile() || found.size > MAX_BYTES) {
    throw new Error(`${file} is not what git writes there.`);
  }
  return readFileSync(file, 'utf8').trimEnd();
}
