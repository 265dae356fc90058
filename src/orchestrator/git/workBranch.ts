import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Words } from '../../base/say.ts';
import type { BranchFacts } from './branchRule.ts';
import { isLost } from './commitsElsewhere.ts';
import { type Commit, currentBranch, GitRepository } from './git.ts';
import { commonDirOf, gitDirOf } from './gitDir.ts';
import { headMoves } from './headMoves.ts';
import { runGit, writeGit } from './runGit.ts';

/** The state of the repository at the start of an iteration. */
export interface WorkPlace {
  /** '' for a detached HEAD. */
  readonly branch: string;
  /** Full hash; absent before the first commit. */
  readonly head?: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Real path of git's folder for this work tree; absent if unknown. */
  readonly gitDir?: string;
  /** Hashes of commits that it is known to have left on another branch. */
  readonly leftElsewhere?: readonly string[];
  /** Files that say nothing about work, relative to the repository's root: the story file, notes. */
  readonly isOwn: (file: string) => boolean;
}

export interface Found {
  readonly facts: Omit<BranchFacts, 'isOwnPlace' | 'isRebasing'>;
  /** Commits that HEAD has and the run's branch lacks, newest first. */
  readonly commits: readonly Commit[];
  /** A commit that was left elsewhere and that HEAD lacks. */
  readonly missing?: string;
}

/** Maximum number of listed commits. */
const MAX_COMMITS = 50;

/** Where HEAD is now. */
export interface HeadNow {
  /** Full hash; absent before the first commit. */
  readonly head?: string;
  /** '' for a detached HEAD; absent if git cannot be read. */
  readonly branch?: string;
  /** Why git cannot be read, if so. */
  readonly problem?: Words;
}

/**
 * Finds an iteration's work: without git in the normal case, if it is known where HEAD is.
 * @param dir absolute path of a folder in the work tree
 */
export async function lookAtWork(
  dir: string,
  place: WorkPlace,
  git: GitRepository,
  now: HeadNow,
): Promise<Found> {
  return (await quickLook(dir, place, git, now)) ?? fullLook(dir, place);
}

const FOUND_NOTHING = {
  found: '',
  hasHead: false,
  tip: 'gone',
  comesFromStart: false,
  isOnlyNew: false,
  isMissingWork: false,
} as const;

/** @returns `undefined` if it is not the normal case */
async function quickLook(
  dir: string,
  place: WorkPlace,
  git: GitRepository,
  now: HeadNow,
): Promise<Found | undefined> {
  const { branch, head, gitDir } = place;
  const isElsewhere =
    place.leftElsewhere !== undefined || (gitDir !== undefined && gitDirOf(dir) !== gitDir);
  if (isElsewhere || now.head === undefined || now.branch !== branch) {
    return undefined;
  }
  // In another repository, the commit of the start does not exist.
  const isKnown =
    head === undefined ||
    head === now.head ||
    (await git.difference(head, now.head).then(
      () => true,
      () => false,
    ));
  return isKnown
    ? {
        commits: [],
        facts: {
          repository: 'same',
          wanted: branch,
          found: branch,
          hasHead: true,
          hadHead: head !== undefined,
          tip: 'same',
          comesFromStart: true,
          isOnlyNew: true,
          isMissingWork: false,
        },
      }
    : undefined;
}

async function fullLook(dir: string, place: WorkPlace): Promise<Found> {
  const wanted = place.branch;
  const nothing = { ...FOUND_NOTHING, wanted, hadHead: place.head !== undefined };
  const ask = (...args: string[]) => runGit(dir, '--no-optional-locks', ...args);
  try {
    const gitDir = gitDirOf(dir);
    if (gitDir === undefined || !existsSync(path.join(commonDirOf(gitDir), 'objects'))) {
      return { facts: { ...nothing, repository: 'gone' }, commits: [] };
    }
    if (place.gitDir !== undefined && gitDir !== place.gitDir) {
      const repository = existsSync(place.gitDir) ? 'other' : 'gone';
      return { facts: { ...nothing, repository }, commits: [] };
    }
    // Git may not accept the folder as a repository (HEAD is damaged), or as one with files (`core.bare`).
    await ask('rev-parse', '--show-toplevel');
    const commitOf = async (name: string) =>
      (await ask('rev-parse', '--verify', '--quiet', `${name}^{commit}`)).trim() || undefined;
    if (
      place.head !== undefined &&
      (await commitOf(place.head).catch(() => undefined)) === undefined
    ) {
      return { facts: { ...nothing, repository: 'other' }, commits: [] };
    }
    const found = await currentBranch(dir);
    const head = await commitOf('HEAD');
    const tip = wanted === '' ? head : await commitOf(`refs/heads/${wanted}`);
    const base = tip ?? place.head;
    const commits =
      head === undefined || base === head
        ? []
        : await new GitRepository(dir).commits({
            at: head,
            limit: MAX_COMMITS + 1,
            since: base,
          });
    const missing = await missingOf(dir, head, place);
    return {
      missing,
      commits: commits.slice(0, MAX_COMMITS),
      facts: {
        repository: 'same',
        wanted,
        found,
        hasHead: head !== undefined,
        hadHead: place.head !== undefined,
        tip: await relation(ask, tip, head),
        comesFromStart:
          head !== undefined &&
          (place.head === undefined || (await isAncestor(ask, place.head, head))),
        isOnlyNew: head === undefined || (await isNewSince(ask, place.startedAt, head, base)),
        isMissingWork: missing !== undefined,
      },
    };
  } catch {
    return { facts: { ...nothing, repository: 'unreadable' }, commits: [] };
  }
}

type Ask = (...args: string[]) => Promise<string>;

async function relation(
  ask: Ask,
  tip: string | undefined,
  head: string | undefined,
): Promise<BranchFacts['tip']> {
  if (tip === undefined) {
    return 'gone';
  }
  if (head === undefined) {
    return 'apart';
  }
  return tip === head
    ? 'same'
    : (await isAncestor(ask, tip, head))
      ? 'behind'
      : (await isAncestor(ask, head, tip))
        ? 'ahead'
        : 'apart';
}

async function isAncestor(ask: Ask, ancestor: string, commit: string): Promise<boolean> {
  return (await ask('rev-list', '--max-count=1', ancestor, `^${commit}`)).trim() === '';
}

/** Uses the committer date, in whole seconds, which is updated when a commit is amended or cherry-picked. */
async function isNewSince(
  ask: Ask,
  startedAt: string,
  head: string,
  base: string | undefined,
): Promise<boolean> {
  const since = Math.floor(Date.parse(startedAt) / 1_000);
  const times = await ask('log', '--format=%ct', head, ...(base === undefined ? [] : [`^${base}`]));
  return times.split('\n').every(line => line === '' || Number(line) >= since);
}

/** The first of the commits that were left elsewhere that HEAD lacks. */
async function missingOf(
  dir: string,
  head: string | undefined,
  { isOwn, leftElsewhere = [] }: WorkPlace,
): Promise<string | undefined> {
  for (const hash of leftElsewhere) {
    if (head === undefined || (await isLost(dir, hash, { head, isOwn }))) {
      return hash;
    }
  }
  return undefined;
}

/**
 * Whether HEAD has a commit in its history.
 * @returns also false if there is no such commit
 */
export async function hasInHistory(dir: string, hash: string): Promise<boolean> {
  const ask = (...args: string[]) => runGit(dir, '--no-optional-locks', ...args);
  try {
    return await isAncestor(ask, hash, 'HEAD');
  } catch {
    return false;
  }
}

/**
 * Where a branch that was deleted was when HEAD left it last: its ref and reflog are gone, only HEAD's reflog tells.
 * @returns its commits that neither HEAD nor another ref has, newest first
 */
export async function commitsOfDeleted(
  dir: string,
  { branch, startedAt }: Pick<WorkPlace, 'branch' | 'startedAt'>,
): Promise<readonly Commit[]> {
  const ask = (...args: string[]) => runGit(dir, '--no-optional-locks', ...args);
  const gitDir = gitDirOf(dir);
  const moves = gitDir === undefined ? [] : await headMoves(dir, gitDir, startedAt);
  const index = moves.findIndex(({ from, isNew }) => isNew && from === branch);
  const tip = moves[index + 1]?.hash;
  if (index === -1 || tip === undefined) {
    return [];
  }
  const holders = await ask('for-each-ref', '--count=1', `--contains=${tip}`);
  return holders.trim() === ''
    ? new GitRepository(dir).commits({ at: tip, limit: MAX_COMMITS, since: 'HEAD' })
    : [];
}

/**
 * Brings HEAD, with its new commits, back to a branch. Only uses commands with which git refuses to lose a commit
 * or an uncommitted change.
 *
 * @throws git's own message if it refuses
 */
export async function bringBack(
  dir: string,
  branch: string,
  how: 'switch' | 'fastForward' | 'create',
): Promise<void> {
  if (how === 'fastForward') {
    // Without a plus, so that only a fast-forward is possible; and never a branch that is checked out in another
    // work tree.
    await runGit(
      dir,
      ...['-c', 'gc.auto=0', '-c', 'maintenance.auto=false', 'fetch', '--quiet', '--no-tags'],
      ...['--no-recurse-submodules', '.', `HEAD:refs/heads/${branch}`],
    );
  }
  await writeGit(dir, [
    // Without --no-overwrite-ignore, git silently overwrites ignored files.
    ...['switch', '--quiet', '--no-overwrite-ignore', '--no-guess', '--no-progress'],
    ...(how === 'create' ? ['--no-track', '--create', branch] : [branch]),
  ]).catch(async (error: unknown) => {
    // A hook that fails after the switch makes git fail as well, although the branch is checked out.
    if ((await new GitRepository(dir).branch()) !== branch) {
      throw error;
    }
  });
}
