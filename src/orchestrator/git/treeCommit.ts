import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say, type Words } from '../../base/say.ts';
import { shorten, withoutControls } from '../../base/text.ts';
import { changedTrackedFiles } from './git.ts';
import { isAncestor } from './isAncestor.ts';
import { runGit, writeGit } from './runGit.ts';

/**
 * A commit created from an existing tree: it has no effect until HEAD is fast-forwarded to it, the only step that
 * changes the work tree.
 */

/** Maximum number of files in a message. */
const MAX_NAMED = 5;

/**
 * Creates a commit on top of HEAD, without moving HEAD.
 * @param options.tree a tree, in any form that git accepts
 * @returns its full hash
 */
export async function commitOnHead(
  dir: string,
  options: { readonly tree: string; readonly head: string; readonly message: string },
): Promise<string> {
  // As an argument, the message could be mistaken for an option.
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
 * Fast-forwards files and branch to a descendant of HEAD. Of the commands that can do this, it is the only one that
 * overwrites neither untracked *nor* ignored files (`reset --keep` and `read-tree -u` overwrite ignored ones). Git
 * moves the branch after the files: if the process is killed in between, HEAD is where it was.
 */
export async function fastForward(dir: string, commit: string): Promise<void> {
  await writeGit(dir, mergeForward(commit));
  // A hook may have added a commit on top of it.
  if (!(await isAncestor(dir, commit, 'HEAD'))) {
    throw new Error('it gave no reason.');
  }
}

/** The arguments for git with which it fast-forwards HEAD, and does nothing else. */
export function mergeForward(commit: string): string[] {
  return [
    ...['merge', '--ff-only', '--no-overwrite-ignore'],
    // Overrides settings for merges in the configuration.
    ...['--no-squash', '--no-verify-signatures', '--no-autostash', '--no-stat', '--no-progress'],
    commit,
  ];
}

/**
 * @param from `undefined` for what the commit `to` itself changes; then there are none for a merge
 * @param renames `joined` lists a renamed file once, by its new path
 * @returns the files that differ between two commits or trees, relative to the top folder
 */
export async function changedPaths(
  dir: string,
  from: string | undefined,
  to: string,
  renames: 'joined' | 'apart' = 'apart',
): Promise<string[]> {
  const output = await runGit(
    dir,
    ...['--no-optional-locks', 'diff-tree', '-r', '-z', '--name-only', '--no-commit-id'],
    renames === 'joined' ? '--find-renames' : '--no-renames',
    ...(from === undefined ? ['--root', to] : [from, to]),
  );
  return output.split('\0').filter(file => file !== '');
}

/** @returns the files that only the second commit or tree has, relative to the top folder */
export async function addedPaths(dir: string, from: string, to: string): Promise<string[]> {
  const output = await runGit(
    dir,
    ...['--no-optional-locks', 'diff-tree', '-r', '-z', '--name-only'],
    ...['--no-renames', '--diff-filter=A', from, to],
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
        '{0} exists: another git process is working in this repository, or one crashed and left it behind. If none is running, remove that file and try again.',
        lock,
      ),
    );
  }
}

/**
 * A journal must not be reset: its content would be wrong, and the loop may be writing to it.
 * @throws {HumanError} if files of the run state are among the paths
 */
export function requireNoState(changed: readonly string[]): void {
  const state = changed.find(file => /(?:^|\/)\.omc\/state\//.test(file));
  if (state !== undefined) {
    throw new HumanError(
      say(
        '{0} has been committed, and going back would change the state of the run itself. Remove the state from git first: git rm -r --cached .omc/state, then commit.',
        shorten(state, 200),
      ),
    );
  }
}

/**
 * @param among the relevant files; default: all tracked files
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

/** The first few files, for a message. */
export function namedFiles(files: readonly string[]): Words {
  const named = files
    .slice(0, MAX_NAMED)
    .map(file => shorten(file, 200))
    .join(', ');
  const more = files.length - MAX_NAMED;
  return more > 0 ? say('{0} and {1} more', named, more) : named;
}
