import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a folder contain exactly the files of another one, which are moved there. A file with the same content is not
 * touched, so that processes that are using it are not affected.
 */
export function syncFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const files = filesBelow(from);
  for (const file of files) {
    const [made, there] = [path.join(from, file), path.join(to, file)];
    if (!isSame(made, there)) {
      mkdirSync(path.dirname(there), { recursive: true });
      renameSync(made, there);
    }
  }
  const wanted = new Set(files);
  for (const file of filesBelow(to)) {
    if (!wanted.has(file)) {
      rmSync(path.join(to, file), { force: true });
    }
  }
}

/** Relative to the folder. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(entry => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

function isSame(made: string, there: string): boolean {
  try {
    return readFileSync(made).equals(readFileSync(there));
  } catch {
    // It does not exist yet.
    return false;
  }
}
