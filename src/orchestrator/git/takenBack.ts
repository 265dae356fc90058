import { runGit } from './runGit.ts';

/** Of a longer history, only the newest commits are looked at. */
const MAX_COMMITS = 20_000;

/** As `git revert` writes it. */
const REVERTS = 'This reverts commit ';

interface TreeOf {
  readonly hash: string;
  /** The tree of its files. */
  readonly tree: string;
  /** It says that it reverts another commit. */
  readonly isRevert: boolean;
}

/** A state of the branch: the commits that still count for it, as a chain. */
interface State {
  readonly commit: TreeOf;
  readonly before: State | undefined;
}

/**
 * The commits of HEAD's own line that a later commit has taken back: it has exactly the files from before them, as
 * after `rollback`. What is reverted itself brings its commits back.
 * @param dir absolute path of a folder in the work tree
 * @returns full hashes
 */
export async function takenBackCommits(dir: string, head: string): Promise<ReadonlySet<string>> {
  const log = (...args: readonly string[]) =>
    runGit(
      dir,
      ...['--no-optional-locks', 'log', '--first-parent', '--no-show-signature', '--no-color'],
      ...[`--max-count=${MAX_COMMITS}`, ...args, head, '--'],
    );
  const lines = (text: string) => text.split(/\r?\n/).filter(line => line !== '');
  const all = lines(await log('--reverse', '--format=%H %T'));
  const reverts = new Set(lines(await log('--format=%H', '--fixed-strings', `--grep=${REVERTS}`)));
  return takenBack(
    all.map(line => {
      const [hash = '', tree = ''] = line.split(' ');
      return { hash, tree, isRevert: reverts.has(hash) };
    }),
  );
}

/** Pure. @param line the oldest first */
export function takenBack(line: readonly TreeOf[]): ReadonlySet<string> {
  /** The newest state with these files. */
  const states = new Map<string, State>();
  let state: State | undefined;
  for (const commit of line) {
    const known = states.get(commit.tree);
    const next: State = { commit, before: state };
    if (known === undefined || commit.tree === state?.commit.tree) {
      // New files, or a commit without changes.
      state = next;
    } else {
      // Work that is done again may give the same files; only a revert brings the old commits back.
      state = inChain(state, commit.tree) ?? (commit.isRevert ? known : next);
    }
    states.set(commit.tree, state);
  }
  const counting = new Set<string>();
  for (let at = state; at !== undefined; at = at.before) {
    counting.add(at.commit.hash);
  }
  return new Set(line.map(({ hash }) => hash).filter(hash => !counting.has(hash)));
}

function inChain(state: State | undefined, tree: string): State | undefined {
  for (let at = state; at !== undefined; at = at.before) {
    if (at.commit.tree === tree) {
      return at;
    }
  }
  return undefined;
}
