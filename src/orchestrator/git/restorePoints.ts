import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import type { SimpleGit } from 'simple-git';
import { HumanError } from '../humanError.ts';
import { isRunId } from '../run/runFiles.ts';
import { shorten, withoutControls } from '../text.ts';
import {
  asHumanError,
  changedTrackedFiles,
  GitRepository,
  gitEnv,
  openGit,
  runGit,
} from './git.ts';

/**
 * Below it are the restore points, `<workspace>/<run>/<n>`, so that no clean-up of git takes their commits for
 * garbage.
 */
const REFS = 'refs/ralph-fresh/';
/** As git itself writes it, by SHA-1 or SHA-256; it needs no look-up. Zeros would remove the ref. */
const FULL_HASH = /^(?!0+$)(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** So many files are named in a message. */
const MAX_NAMED = 5;
/** Of the hash that tells a repository's workspaces apart. */
const WORKSPACE_DIGITS = 12;

/** Where the repository was before an iteration. */
export interface RestorePoint {
  readonly iteration: number;
  /** Full hash. */
  readonly commit: string;
}

export type RollBack =
  /** `commit` is the new one; `files` is how many it changed. */
  | { readonly kind: 'rolledBack'; readonly commit: string; readonly files: number }
  /** HEAD has these files already. */
  | { readonly kind: 'nothingToDo' };

/**
 * Keeps a commit as the restore point of an iteration; one that was there is replaced.
 *
 * @param dir absolute path of the workspace; others of the same repository have their own restore points
 * @throws {HumanError} when there is no such commit, or git cannot write
 */
export async function setRestorePoint(
  dir: string,
  runId: string,
  iteration: number,
  commit: string,
): Promise<void> {
  const ref = `${refsOf(dir, runId)}${iteration}`;
  if (!Number.isSafeInteger(iteration) || iteration < 0) {
    throw new HumanError(`${iteration} is not the number of an iteration.`);
  }
  const repository = new GitRepository(dir);
  const hash = FULL_HASH.test(commit) ? commit : await repository.resolveCommit(commit);
  try {
    await runGit(dir, 'update-ref', ref, hash);
  } catch (error) {
    await repository.resolveCommit(commit);
    throw asHumanError(error, 'git cannot keep a restore point');
  }
}

/**
 * @returns the restore points of a run, by iteration
 * @throws {HumanError} when the repository cannot be read
 */
export async function restorePoints(dir: string, runId: string): Promise<RestorePoint[]> {
  const prefix = refsOf(dir, runId);
  const refs = await readRefs(dir, prefix);
  return refs
    .map(({ name, commit }) => ({ iteration: Number(name.slice(prefix.length)), commit }))
    .filter(({ iteration }) => Number.isSafeInteger(iteration))
    .sort((a, b) => a.iteration - b.iteration);
}

/**
 * Removes the restore points of all runs of a workspace but some.
 * @returns how many were removed
 * @throws {HumanError} when git cannot write
 */
export async function removeRestorePoints(
  dir: string,
  keepRunIds: Iterable<string>,
): Promise<number> {
  const kept = new Set(keepRunIds);
  const prefix = refsOf(dir);
  const refs = (await readRefs(dir, prefix)).filter(
    ({ name }) => !kept.has(name.slice(prefix.length).split('/', 1)[0] ?? ''),
  );
  if (refs.length === 0) {
    return 0;
  }
  try {
    const commands = refs.map(({ name, commit }) => `delete ${name} ${commit}\n`).join('');
    await writeGit(dir, ['update-ref', '--stdin'], commands);
  } catch (error) {
    throw asHumanError(error, 'git cannot remove old restore points');
  }
  return refs.length;
}

/**
 * Goes back to the files of an earlier commit by one new commit on top of HEAD; the history stays, and so
 * can be gone forward again. All tracked files of the repository go back, the story file among them when it is
 * tracked.
 *
 * The new commit is made first, with no effect on anything; then it is merged as a fast-forward. Of the
 * commands that bring files and branch to a commit this is the only one that spares untracked *and* ignored
 * files (`reset --keep` and `read-tree -u` write over ignored ones), and git moves the branch after the files:
 * whoever is killed in the middle finds HEAD where it was. No hook that judges commits runs, since the files
 * have been committed before; the one after merges does.
 *
 * @param options.to hash of the commit to go back to
 * @param options.message of the new commit
 * @throws {HumanError} when HEAD does not come from that commit, tracked files have uncommitted changes, an
 *   untracked file is in the way, or git is locked; nothing changed then
 */
export async function rollBack(
  dir: string,
  options: { readonly to: string; readonly message: string },
): Promise<RollBack> {
  const repository = new GitRepository(dir);
  const to = await repository.resolveCommit(options.to);
  const head = await repository.head();
  const git = openGit(dir);
  try {
    if (head === undefined || (await git.raw('merge-base', to, head)).trim() !== to) {
      throw new HumanError(
        `The current branch does not come from ${to.slice(0, 10)}, so there is no way back to it. Check out the branch that the run worked on.`,
      );
    }
    const changed = await changedFiles(git, head, to);
    if (changed.length === 0) {
      return { kind: 'nothingToDo' };
    }
    await requireUnlocked(dir, git);
    requireNoState(changed);
    await requireClean(git);
    const commit = await commitTree(dir, to, head, options.message);
    await fastForward(dir, commit);
    return { kind: 'rolledBack', commit, files: changed.length };
  } catch (error) {
    throw asHumanError(error, `git cannot go back to ${to.slice(0, 10)}`);
  }
}

/** With a slash at the end. */
function refsOf(dir: string, runId?: string): string {
  const workspace = createHash('sha256').update(realpathSync.native(dir)).digest('hex');
  const own = `${REFS}${workspace.slice(0, WORKSPACE_DIGITS)}/`;
  if (runId === undefined) {
    return own;
  }
  if (!isRunId(runId)) {
    throw new HumanError(`"${shorten(runId, 80)}" is not a run's id.`);
  }
  return `${own}${runId}/`;
}

async function readRefs(
  dir: string,
  prefix: string,
): Promise<{ readonly name: string; readonly commit: string }[]> {
  try {
    const output = await runGit(dir, 'for-each-ref', '--format=%(refname) %(objectname)', prefix);
    return output.split(/\r?\n/).flatMap(line => {
      const [name, commit] = line.split(' ');
      return name === undefined || commit === undefined ? [] : [{ name, commit }];
    });
  } catch (error) {
    throw asHumanError(error);
  }
}

/** Who commits, where the environment says it and not the configuration. */
function identity(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)$/.test(name)
        ? [[name, value]]
        : [],
    ),
  );
}

async function changedFiles(git: SimpleGit, from: string, to: string): Promise<string[]> {
  const output = await git.raw('diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to);
  return output.split('\0').filter(file => file !== '');
}

async function requireUnlocked(dir: string, git: SimpleGit): Promise<void> {
  const lock = path.resolve(
    dir,
    (await git.raw('rev-parse', '--git-path', 'index.lock')).replace(/\r?\n$/, ''),
  );
  if (existsSync(lock)) {
    throw new HumanError(
      `${lock} exists: another git process works in this repository, or one died and left it. When none is running, remove that file and try again.`,
    );
  }
}

/** A journal that goes back is a lie, and the loop may be writing it. */
function requireNoState(changed: readonly string[]): void {
  const state = changed.find(file => /(?:^|\/)\.omc\/state\//.test(file));
  if (state !== undefined) {
    throw new HumanError(
      `${shorten(state, 200)} has been committed, and going back would change the state of the run itself. Take the state out of git first: git rm -r --cached .omc/state, then commit.`,
    );
  }
}

async function requireClean(git: SimpleGit): Promise<void> {
  const files = await changedTrackedFiles(git);
  if (files.length > 0) {
    const named = files.slice(0, MAX_NAMED).map(file => shorten(file, 200));
    const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : '';
    throw new HumanError(
      `There are uncommitted changes in ${named.join(', ')}${more}. Commit or stash them, then try again.`,
    );
  }
}

async function commitTree(
  dir: string,
  to: string,
  parent: string,
  message: string,
): Promise<string> {
  // As an argument it could be taken for an option.
  const folder = await mkdtemp(path.join(tmpdir(), 'ralph-fresh-'));
  try {
    const file = path.join(folder, 'message.txt');
    await writeFile(file, `${withoutControls(message).trim()}\n`);
    return (await writeGit(dir, ['commit-tree', `${to}^{tree}`, '-p', parent, '-F', file])).trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fastForward(dir: string, commit: string): Promise<void> {
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
 * A git process that knows who commits, also where the environment says it. Not by simple-git, which refuses
 * such variables.
 * @returns what git printed
 */
async function writeGit(dir: string, args: readonly string[], input = ''): Promise<string> {
  const { failed, originalMessage, shortMessage, stderr, stdout } = await execa('git', [...args], {
    cwd: dir,
    env: { ...gitEnv(), ...identity() },
    extendEnv: false,
    input,
    reject: false,
    windowsHide: true,
  });
  if (failed) {
    throw new Error(stderr.trim() || (originalMessage ?? shortMessage));
  }
  return stdout;
}
