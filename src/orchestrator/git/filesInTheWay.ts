import { lstatSync } from 'node:fs';
import path from 'node:path';
import { changedTrackedFiles } from './git.ts';
import { runGit } from './runGit.ts';

/**
 * The files because of which git does not fast-forward a work tree: they have local changes, or are not tracked,
 * and the fast-forward would change them. They are found by comparing, because git's own message is localized.
 *
 * @param root absolute path of the top folder
 * @param from full hash of the commit that is checked out
 * @param to full hash of the other one
 * @returns relative to the top folder, sorted
 * @throws git's message
 */
export async function filesInTheWay(root: string, from: string, to: string): Promise<string[]> {
  const [{ changed, untracked }, dirty] = await Promise.all([
    changesFor(root, from, to),
    changedTrackedFiles(root),
  ]);
  return [...new Set([...dirty.filter(file => changed.has(file)), ...untracked])].sort();
}

/**
 * The files of {@link filesInTheWay} that git does not track. In a merge, it overwrites those that it ignores without
 * a word.
 */
export async function untrackedInTheWay(root: string, from: string, to: string): Promise<string[]> {
  return [...new Set((await changesFor(root, from, to)).untracked)].sort();
}

async function changesFor(
  root: string,
  from: string,
  to: string,
): Promise<{ readonly changed: ReadonlySet<string>; readonly untracked: readonly string[] }> {
  const output = await runGit(
    root,
    ...['--no-optional-locks', 'diff-tree', '-r', '-z', '--name-status', '--no-renames'],
    ...[from, to],
  );
  const fields = output.split('\0');
  const added: string[] = [];
  const changed = new Set<string>();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const file = fields[i + 1] ?? '';
    changed.add(file);
    if (fields[i] === 'A') {
      added.push(file);
    }
  }
  const untracked = added
    .map(file => firstOf(root, file))
    .filter(file => file !== undefined)
    // A tracked file that becomes a folder is no obstacle by itself.
    .filter(file => added.includes(file) || !changed.has(file));
  return { changed, untracked };
}

/** What is in the work tree at the path of a new file: itself, or a file where it needs a folder. */
function firstOf(root: string, file: string): string | undefined {
  const names = file.split('/');
  for (let count = 1; count <= names.length; count += 1) {
    const place = names.slice(0, count).join('/');
    const found = lstatSync(path.join(root, place), { throwIfNoEntry: false });
    if (found === undefined) {
      return undefined;
    }
    if (count === names.length || !found.isDirectory()) {
      return place;
    }
  }
  return undefined;
}
