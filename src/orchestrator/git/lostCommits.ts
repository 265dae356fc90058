import { scratchCommit } from './mergeTree.ts';
import { gitResult, runGit } from './runGit.ts';
import { changedPaths } from './treeCommit.ts';

/** Maximum number of commits to compare one by one. */
const MAX_COMPARED = 200;

/** A history, and the one that replaced it. */
export interface Rewrite {
  /** Full hash of the branch's previous commit. */
  readonly before: string;
  /** Full hash of the branch's current commit. */
  readonly now: string;
  /** Full hashes of the commits that must not get lost. */
  readonly hashes: readonly string[];
  /** Whether changes to a file, relative to the repository's root, can be ignored. */
  readonly isOwn: (file: string) => boolean;
}

/**
 * Commits that are missing from a rewritten history in any form. A commit is not missing if it is in the history
 * itself, if a new commit makes the same change (`rebase`, `cherry-pick`) or has its author, time and subject
 * (`commit --amend`), or if merging it would change nothing (a squash). Changes no file, no index and no ref.
 *
 * @param dir absolute path of a folder in the work tree
 * @returns full hashes, newest first
 * @throws git's own message if it fails
 */
export async function lostCommits(dir: string, rewrite: Rewrite): Promise<string[]> {
  const { before, hashes, now } = rewrite;
  const ask = async (...args: string[]) =>
    (await runGit(dir, '--no-optional-locks', ...args)).split(/\r?\n/).filter(line => line !== '');
  const wanted = new Set(hashes);
  const gone = (await ask('rev-list', '--topo-order', before, `^${now}`, '--')).filter(hash =>
    wanted.has(hash),
  );
  if (gone.length === 0) {
    return [];
  }
  const range = `${now}...${before}`;
  const changed = new Set(await ask('rev-list', '--cherry-pick', '--right-only', range, '--'));
  const different = await withoutRemade(
    gone.filter(hash => changed.has(hash)),
    args => ask('log', '--no-show-signature', '--format=%H%x00%an%x00%ae%x00%at%x00%s', ...args),
    rewrite,
  );
  if (different.length === 0 || !(await bringsSomething(dir, before, rewrite))) {
    return [];
  }
  const lost: string[] = [];
  for (const hash of different.slice(0, MAX_COMPARED)) {
    if (await bringsSomething(dir, hash, rewrite, 'alone')) {
      lost.push(hash);
    }
  }
  return lost;
}

/** A new commit replaces only one missing commit: a squash keeps the message of only one. */
async function withoutRemade(
  gone: readonly string[],
  log: (args: string[]) => Promise<string[]>,
  { before, now }: Rewrite,
): Promise<string[]> {
  if (gone.length === 0) {
    return [];
  }
  const split = (line: string) => {
    const at = line.indexOf('\0');
    return [line.slice(0, at), line.slice(at)] as const;
  };
  const remade = (await log([`${before}..${now}`, '--'])).map(line => split(line)[1]);
  const old = new Map((await log([`${now}..${before}`, '--'])).map(split));
  return gone.filter(hash => {
    const at = remade.indexOf(old.get(hash) ?? '');
    if (at !== -1) {
      remade.splice(at, 1);
    }
    return at === -1;
  });
}

/**
 * Whether merging a commit, with all its ancestors or alone, would change a relevant file, or needs a person. If
 * git is too old for such a merge, this is unknown, so a person must check.
 */
async function bringsSomething(
  dir: string,
  hash: string,
  { isOwn, now }: Rewrite,
  what: 'withAllBefore' | 'alone' = 'withAllBefore',
): Promise<boolean> {
  const ours = what === 'alone' ? await besides(dir, now, hash) : now;
  const args = [
    ...['merge-tree', '--write-tree', '--allow-unrelated-histories'],
    ...['--name-only', '-z', '--no-messages', ours, hash],
  ];
  const { code, stdout } = await gitResult(dir, args, { writes: true });
  const [tree, ...conflicts] = stdout
    .toString('utf8')
    .split('\0')
    .filter(field => field !== '');
  if (tree === undefined || code > 1) {
    return true;
  }
  const brought = [...conflicts, ...(await changedPaths(dir, now, tree))].filter(
    file => !isOwn(file),
  );
  const complete = brought.length === 0 ? [] : await onlyAddedTo(dir, hash, now);
  return brought.some(file => !complete.includes(file));
}

/**
 * Files that still have all lines of an earlier version in the same order: additional lines next to them would
 * cause merge conflicts.
 */
async function onlyAddedTo(dir: string, earlier: string, later: string): Promise<string[]> {
  const output = await runGit(
    dir,
    ...['--no-optional-locks', 'diff-tree', '-r', '-z', '--numstat', '--diff-filter=M'],
    ...['--no-renames', '--no-ext-diff', earlier, later],
  );
  return output.split('\0').flatMap(entry => {
    const [, removed, ...file] = entry.split('\t');
    return removed === '0' ? [file.join('\t')] : [];
  });
}

/**
 * A commit with the files of `now` and the same parent as another commit, which makes that parent their merge base.
 */
async function besides(dir: string, now: string, hash: string): Promise<string> {
  const [, parent] = (await runGit(dir, 'rev-list', '--parents', '--max-count=1', hash))
    .trim()
    .split(' ');
  return scratchCommit(dir, `${now}^{tree}`, parent);
}
