import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shorten, withoutControls } from '../../base/text.ts';
import { changedTrackedFiles } from './git.ts';
import { runGit, writeGit } from './runGit.ts';

/**
 * A commit made of a tree that is in the repository already: it has no effect on anything until HEAD goes
 * forward to it, by the one step that touches the work tree.
 */

/** So many files are named in a message. */
const MAX_NAMED = 5;

/**
 * Makes a commit on top of HEAD, without moving HEAD.
 * @param options.tree a tree, in any way that git can name it
 * @returns its full hash
 */
export async function commitOnHead(
  dir: string,
  options: { readonly tree: string; readonly head: string; readonly message: string },
): Promise<string> {
  // As an argument it could be taken for an option.
  const folder = await mkdtemp(path.join(tmpdir(), 'ralph-fresh-'));
  try {
    const file = path.join(folder, 'message.txt');
    await writeFile(file, `${withoutControls(options.message).trim()}\n`);
    const args = ['commit-tree', options.tree, '-p', options.head, '-F', file];
    return (await writeGit(dir, args)).trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Brings files and branch to a commit that comes from HEAD. Of the commands that do so this is the only one that
 * spares untracked *and* ignored files (`reset --keep` and `read-tree -u` write over ignored ones), and git moves
 * the branch after the files: whoever is killed in the middle finds HEAD where it was.
 */
export async function fastForward(dir: string, commit: string): Promise<void> {
  await writeGit(dir, [
    ...['merge', '--ff-only', '--no-overwrite-ignore'],
    // What the configuration may say of merges that are none.
    ...['--no-squash', '--no-verify-signatures', '--no-autostash', '--no-stat', '--no-progress'],
    commit,
  ]);
  // A hook may have committed on top of it.
  if ((await runGit(dir, 'merge-base', commit, 'HEAD')).trim() !== commit) {
    throw new Error('it gave no reason.');
  }
}

/**
 * @param renames `joined` names a renamed file once, by its new path
 * @returns the files in which two commits or trees differ, relative to the top folder
 */
export async function changedPaths(
  dir: string,
  from: string,
  to: string,
  renames: 'joined' | 'apart' = 'apart',
): Promise<string[]> {
  const output = await runGit(
    dir,
    ...['--no-optional-locks', 'diff-tree', '-r', '-z', '--name-only'],
    ...[renames === 'joined' ? '--find-renames' : '--no-renames', from, to],
  );
  return output.split('\0').filter(file => file !== '');
}

/** @throws {HumanError} naming the lock file of another git process */
export async function requireUnlocked(dir: string): Promise<void> {
  const lock = path.resolve(
    dir,
    (await runGit(dir, 'rev-parse', '--git-path', 'index.lock')).replace(/\r?\n$/, ''),
  );
  if (existsSync(lock)) {
    throw new HumanError(
      say(
        '{0} exists: another git process works in this repository, or one died and left it. When none is running, remove that file and try again.',
        lock,
      ),
    );
  }
}

/**
 * A journal that goes back is a lie, and the loop may be writing it.
 * @throws {HumanError} when the state of runs is among the files
 */
export function requireNoState(changed: readonly string[]): void {
  const state = changed.find(file => /(?:^|\/)\.omc\/state\//.test(file));
  if (state !== undefined) {
    throw new HumanError(
      say(
        '{0} has been committed, and going back would change the state of the run itself. Take the state out of git first: git rm -r --cached .omc/state, then commit.',
        shorten(state, 200),
      ),
    );
  }
}

/**
 * @param among the files that matter; all tracked ones when it is left out
 * @throws {HumanError} naming files with uncommitted changes
 */
export async function requireClean(dir: string, among?: readonly string[]): Promise<void> {
  const changed = await changedTrackedFiles(dir);
  const files = among === undefined ? changed : changed.filter(file => among.includes(file));
  if (files.length > 0) {
    throw new HumanError(
      say(
        'There are uncommitted changes in {0}. Commit or stash them, then try again.',
        namedFiles(files),
      ),
    );
  }
}

/** The first of some files, for a message. */
export function namedFiles(files: readonly string[]): string {
  const named = files
    .slice(0, MAX_NAMED)
    .map(file => shorten(file, 200))
    .join(', ');
  const more = files.length - MAX_NAMED;
  return more > 0 ? say('{0} and {1} more', named, more) : named;
}
