import { existsSync } from 'node:fs';
import path from 'node:path';
import { changedEntries } from '../git/changes.ts';
import { filesInTheWay, untrackedInTheWay } from '../git/filesInTheWay.ts';
import { GitRepository, HEADS } from '../git/git.ts';
import { isContained } from '../git/isAncestor.ts';
import { littleSpaceFor, runGit } from '../git/runGit.ts';
import type { RunState } from '../journal/runState.ts';
import { isFolderPath } from '../stories/formats/folderText.ts';
import { heldTip } from './heldTip.ts';
import { readRefs } from './refs.ts';

/** Where the work of an ended run is. */
export interface WorkNow {
  /** What its branch still lacks, and the files that are in the way now. */
  readonly held: RunState['held'];
  /** What is still not committed. */
  readonly uncommitted: RunState['uncommitted'];
}

/** What is known of work that has landed; only that of places of agents lands on a branch that is not checked out. */
export type LandedWork = Pick<RunState, 'commits' | 'isolated'> & {
  readonly branch?: string | undefined;
};

/**
 * Looks again at what a journal says of the work: since then, a person may have committed it, brought in what the
 * branch lacked, or cleared files out of the way.
 *
 * @param dir absolute path of the workspace
 * @throws {HumanError} if git cannot read the repository
 */
export async function workNow(dir: string, state: RunState): Promise<WorkNow> {
  const git = new GitRepository(dir);
  // What git cannot tell now is as the journal says.
  const uncommitted = await stillUncommitted(dir, git, state).catch(() => state.uncommitted);
  return { held: await stillHeld(git, dir, state), uncommitted };
}

/** @returns `undefined` if all of it has been committed since, or is gone */
async function stillUncommitted(
  dir: string,
  git: GitRepository,
  { uncommitted, uncommittedBefore = [] }: RunState,
): Promise<RunState['uncommitted']> {
  if (uncommitted === undefined) {
    return undefined;
  }
  const { changed, head } = await git.status();
  const { bytesFree, files, head: before, lock, more } = uncommitted;
  const since =
    before === undefined || head === undefined || before === head
      ? []
      : await changedEntries(dir, before, head);
  // What was committed, and then changed again, is other work. Of a new folder, it is not known what was in it.
  const isCommitted = (file: string) => since.some(({ path: entry }) => isSameOrIn(entry, file));
  const listed = files.filter(
    file =>
      !isCommitted(file) &&
      changed.some(entry => isSameOrIn(file, entry) || isSameOrIn(entry, file)),
  );
  // The rest is not listed, so it can be anything that somebody else had not changed before.
  const others =
    more === undefined
      ? []
      : changed.filter(file => !isCommitted(file) && !uncommittedBefore.includes(file));
  return listed.length + others.length === 0
    ? undefined
    : {
        ...uncommitted,
        files: listed.length > 0 ? listed : others.slice(0, files.length),
        more: listed.length > 0 ? more : undefined,
        lock: lock !== undefined && existsSync(lock) ? lock : undefined,
        bytesFree: bytesFree === undefined ? undefined : littleSpaceFor(dir),
      };
}

/** Git names a completely new folder, with a slash at its end, until something in it is staged. */
function isSameOrIn(file: string, entry: string): boolean {
  return file === entry || (entry.endsWith('/') && file.startsWith(entry));
}

/** @returns `undefined` if the branch has it all */
async function stillHeld(
  git: GitRepository,
  dir: string,
  { branch, held, isolated, storyFile }: RunState,
): Promise<RunState['held']> {
  if (!isolated || branch === undefined || held === undefined) {
    return held;
  }
  const [root, current, tip] = await Promise.all([git.root(), git.branch(), heldTip(dir, branch)]);
  if (tip === undefined || root === undefined) {
    return undefined;
  }
  if (current !== branch) {
    return held;
  }
  if (held.reason === 'diverged') {
    return { ...held, untracked: await untrackedInTheWay(root, `refs/heads/${branch}`, tip) };
  }
  if (held.reason !== 'localChanges') {
    return held;
  }
  // The story file and the progress log are brought in whatever ticks and notes they have.
  const shared = [storyFile, storyFile && path.join(path.dirname(storyFile), 'progress.txt')].map(
    file => file && path.relative(root, path.resolve(dir, file)).split(path.sep).join('/'),
  );
  const files = await filesInTheWay(root, `refs/heads/${branch}`, tip);
  // A folder of stories is one of them, with its tasks.
  const isShared = (file: string) =>
    shared.some(one => one === file || (one && isFolderFile(one, file)));
  return { ...held, files: files.filter(file => !isShared(file)) };
}

/**
 * The branch on which work from places of agents has landed, if what is checked out does not have it. The run's branch
 * may have been renamed, deleted or merged since.
 * @param dir absolute path of the workspace
 * @returns `undefined` also if no single branch can be named
 */
export async function branchOfWork(
  dir: string,
  { branch, commits, isolated }: LandedWork,
): Promise<string | undefined> {
  const last = commits.at(-1)?.hash;
  if (!isolated || branch === undefined || last === undefined) {
    return undefined;
  }
  const current = await new GitRepository(dir).branch();
  if (current === branch || (await isContained(dir, last, 'HEAD'))) {
    return undefined;
  }
  const own = HEADS + branch;
  if ((await readRefs(dir, own)).some(({ name }) => name === own)) {
    return branch;
  }
  const args = ['--format=%(refname)%00%(objectname)', `--contains=${last}`, HEADS];
  // Git refuses a commit that it no longer has.
  const found = await runGit(dir, '--no-optional-locks', 'for-each-ref', ...args).catch(() => '');
  const refs = found.split(/\r?\n/).flatMap(line => {
    const [name = '', tip = ''] = line.split('\0');
    return name === '' ? [] : [{ name: name.slice(HEADS.length), tip }];
  });
  // Others may only build on it.
  const ends = refs.filter(({ tip }) => tip === last);
  const [only, ...others] = ends.length > 0 ? ends : refs;
  return others.length === 0 ? only?.name : undefined;
}

function isFolderFile(folder: string, file: string): boolean {
  return file.startsWith(`${folder}/`) && isFolderPath(file.slice(folder.length + 1));
}
