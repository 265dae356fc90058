import { headMoves } from './headMoves.ts';
import { lostCommits } from './lostCommits.ts';
import { gitResult, runGit, writeGit } from './runGit.ts';

/** Maximum number of commits to compare with the branch, and of tips to name. */
const MAX_COMMITS = 50;

/** A commit that is not on the branch, with all that it builds on. */
export interface Tip {
  readonly hash: string;
  readonly subject: string;
  /** Where it was made; '' for a detached HEAD. */
  readonly branch: string;
}

/** Where the work tree is, and what belongs to nobody's work. */
interface Here {
  readonly gitDir: string;
  /** The branch of the run, which is checked out. */
  readonly branch: string;
  /** Full hash. */
  readonly head: string;
  /** Whether changes to a file say nothing about work, relative to the repository's root. */
  readonly isOwn: (file: string) => boolean;
}

/**
 * Finds commits that HEAD has made since a time, on whatever branch, and that are not in its history in any form now. Of
 * each branch, only the newest one: it replaces what was made there before. What was taken back from the run's branch
 * counts only if nothing was made elsewhere, because another attempt replaces it, too.
 *
 * No process if HEAD only went forward.
 *
 * @param since ISO 8601
 * @param earlier tips of an earlier iteration
 * @returns newest first
 */
export async function commitsElsewhere(
  dir: string,
  since: string,
  here: Here,
  earlier: readonly { readonly hash: string; readonly branch: string }[],
): Promise<readonly Tip[]> {
  const made: Made[] = [];
  let { branch } = here;
  let isStraight = true;
  for (const { from, hash, isCommit, isNew } of await headMoves(dir, here.gitDir, since)) {
    if (!isNew) {
      break;
    }
    isStraight &&= isCommit;
    if (isCommit) {
      made.push({ branch, hash });
    }
    branch = from === undefined ? branch : /^[0-9a-f]{40,}$/.test(from) ? '' : from;
  }
  if (isStraight && earlier.length === 0) {
    return [];
  }
  const newest = new Map([...earlier, ...made.toReversed()].map(one => [one.branch, one]));
  newest.delete(here.branch);
  const isAway = newest.size > 0;
  const candidates = isAway ? [...newest.values()] : made;
  const tips: Made[] = [];
  for (const one of candidates.slice(0, MAX_COMMITS)) {
    // Of the run's own branch, the newest one that was taken back.
    if ((isAway || tips.length === 0) && (await isLost(dir, one.hash, here))) {
      tips.push(one);
    }
  }
  return withSubjects(dir, tips.toReversed());
}

type Made = { readonly hash: string; readonly branch: string };

/**
 * Whether HEAD lacks a commit in any form: itself, rebased, amended, picked or squashed. One that is gone cannot be
 * brought back by anybody. If git cannot tell, a person must look.
 */
export async function isLost(
  dir: string,
  hash: string,
  { head, isOwn }: Pick<Here, 'head' | 'isOwn'>,
): Promise<boolean> {
  const { code } = await gitResult(dir, [
    '--no-optional-locks',
    'cat-file',
    '-e',
    `${hash}^{commit}`,
  ]);
  return (
    code === 0 &&
    (await lostCommits(dir, { before: hash, now: head, hashes: [hash], isOwn }).then(
      lost => lost.length > 0,
      () => true,
    ))
  );
}

async function withSubjects(dir: string, tips: readonly Made[]): Promise<readonly Tip[]> {
  if (tips.length === 0) {
    return [];
  }
  const args = ['--no-optional-locks', 'log', '--no-walk=unsorted', '--no-show-signature'];
  const output = await runGit(dir, ...args, '--format=%s', ...tips.map(({ hash }) => hash));
  const subjects = output.split('\n');
  return tips.map((tip, at) => ({ ...tip, subject: subjects[at] ?? '' }));
}

/**
 * Merges commits into the branch that is checked out, all or none. What cannot be merged gets a branch, which keeps it.
 * @param head full hash of the commit that is checked out
 * @returns whether they are merged
 */
export async function mergeAll(dir: string, head: string, tips: readonly Tip[]): Promise<boolean> {
  try {
    for (const { hash } of tips.toReversed()) {
      await writeGit(dir, [
        ...['merge', '--quiet', '--ff', '--no-edit', '--no-verify', '--no-gpg-sign'],
        ...['--no-verify-signatures', '--no-overwrite-ignore', hash],
      ]);
    }
    return true;
  } catch {
    // A conflict, or something uncommitted is in the way. There is nothing to abort if git did not begin.
    await writeGit(dir, ['merge', '--abort']).catch(() => undefined);
    await writeGit(dir, ['reset', '--quiet', '--keep', head]);
    for (const { hash } of tips) {
      await writeGit(dir, ['update-ref', `refs/heads/left-${hash.slice(0, 10)}`, hash]);
    }
    return false;
  }
}
