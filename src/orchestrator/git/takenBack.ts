import { runGit } from './runGit.ts';

/** Of a longer history, only the newest commits are looked at. */
const MAX_COMMITS = 20_000;

/** What messages say: that of `git revert`, and those of our own `revert` and `rollback`. */
const REVERTS = /^This reverts commit ([0-9a-f]{40,64})/gm;
const TAKES_BACK = /^Revert [^\0]*^This takes back:\r?\n((?:[0-9a-f]{40,64} .*(?:\r?\n|$))+)/m;
const GOES_BACK = /^Go back to before iteration [^\0]*^Of run \S+, at ([0-9a-f]{40,64})\.$/m;
/** Of our `revert`, when the commits had been taken back before, and only their story was still marked as done. */
export const ONLY_REOPENS = 'The work was taken back before.';
/** How the lines begin that say so. */
const WORDS = ['This reverts commit ', 'This takes back:', 'Of run ', ONLY_REOPENS];

interface TreeOf {
  readonly hash: string;
  /** The tree of its files. */
  readonly tree: string;
  /** Full hashes of the commits that it says to revert. */
  readonly reverts: readonly string[];
  /** Full hashes of single commits that it says to have taken back. */
  readonly takesBack?: readonly string[];
  /** Full hash of the commit whose files it says to have restored; what is not in git then may stay. */
  readonly goesBackTo?: string | undefined;
}

/** A state of the branch: the commits that still count for it, as a chain. */
interface State {
  readonly commit: TreeOf;
  readonly before: State | undefined;
}

/** Full hashes of the commits of a line, from its first to its last one. */
export interface CommitLine {
  /** A later commit has taken them back. */
  readonly gone: ReadonlySet<string>;
  /** Their work is there. */
  readonly standing: ReadonlySet<string>;
  /** Those of our own `revert` and `rollback`. */
  readonly undoing: ReadonlySet<string>;
}

/**
 * The commits of HEAD's own line, and which of them a later commit has taken back: it has exactly the files from before
 * them, or says so, as those of `rollback` and `revert` do. What is reverted itself brings its commits back, and so does
 * a rollback that goes to where they were.
 * @param dir absolute path of a folder in the work tree
 * @param head a commit
 */
export async function commitLine(dir: string, head: string): Promise<CommitLine> {
  const log = (...args: readonly string[]) =>
    runGit(
      dir,
      ...['--no-optional-locks', 'log', '--first-parent', '--no-show-signature', '--no-color'],
      ...[`--max-count=${MAX_COMMITS}`, ...args, head, '--'],
    );
  const lines = (text: string) => text.split(/\r?\n/).filter(line => line !== '');
  const all = lines(await log('--reverse', '--format=%H %T'));
  const greps = WORDS.map(words => `--grep=^${words}`);
  const told = (await log('--basic-regexp', '--format=%H%x00%B%x01', ...greps)).split('\x01');
  const messages = new Map(
    told.map(entry => {
      const [hash = '', message = ''] = entry.trimStart().split('\0');
      return [hash, message] as const;
    }),
  );
  const line = all.map(entry => {
    const [hash = '', tree = ''] = entry.split(' ');
    const message = messages.get(hash) ?? '';
    return {
      hash,
      tree,
      reverts: [...message.matchAll(REVERTS)].flatMap(([, hash]) => hash ?? []),
      takesBack: lines(TAKES_BACK.exec(message)?.[1] ?? '').flatMap(one => one.split(' ', 1)),
      goesBackTo: GOES_BACK.exec(message)?.[1],
    };
  });
  const gone = takenBack(line);
  const isUndoing = ({ goesBackTo, hash, takesBack = [] }: TreeOf) =>
    goesBackTo !== undefined ||
    takesBack.length > 0 ||
    (messages.get(hash) ?? '').trimEnd().endsWith(`\n\n${ONLY_REOPENS}`);
  const hashesOf = (isAsked: (commit: TreeOf) => boolean) =>
    new Set(line.filter(isAsked).map(({ hash }) => hash));
  return {
    gone,
    standing: hashesOf(({ hash }) => !gone.has(hash)),
    undoing: hashesOf(isUndoing),
  };
}

/** Pure. @param line the oldest first */
export function takenBack(line: readonly TreeOf[]): ReadonlySet<string> {
  /** The newest state with these files. */
  const states = new Map<string, State>();
  /** By the hash of the commit that led to it. */
  const after = new Map<string, State>();
  let state: State | undefined;
  for (const commit of line) {
    const known = states.get(commit.tree);
    const next: State = { commit, before: state };
    const earlier = after.get(commit.goesBackTo ?? '');
    if (earlier !== undefined) {
      // Its files need not be those of the earlier commit, and it may be reverted later.
      state =
        find(state, one => one === earlier.commit) === undefined
          ? { commit, before: earlier }
          : { commit: { ...commit, takesBack: hashesSince(state, earlier) }, before: state };
    } else if (known === undefined || commit.tree === state?.commit.tree) {
      // New files, or a commit without changes.
      state = next;
    } else {
      // Work that is done again may give the same files; only a revert brings the old commits back.
      const isRevert = commit.reverts.length > 0;
      const gone = isRevert ? new Set<string>() : rolledBackIn(state);
      state =
        find(state, ({ hash, tree }) => tree === commit.tree && !gone.has(hash)) ??
        (isRevert ? known : next);
    }
    states.set(commit.tree, state);
    after.set(commit.hash, state);
  }
  const counting = new Set<string>();
  for (let now = state; now !== undefined; now = now.before) {
    counting.add(now.commit.hash);
  }
  const gone = goneIn(state, () => true);
  return new Set(
    line.map(({ hash }) => hash).filter(hash => !counting.has(hash) || gone.has(hash)),
  );
}

/** The newest state of a chain whose commit is wanted. */
function find(state: State | undefined, isWanted: (commit: TreeOf) => boolean): State | undefined {
  let found = state;
  while (found !== undefined && !isWanted(found.commit)) {
    found = found.before;
  }
  return found;
}

/** What the rollbacks of a chain have taken back. */
function rolledBackIn(state: State | undefined): ReadonlySet<string> {
  return goneIn(state, ({ goesBackTo }) => goesBackTo !== undefined);
}

/** What those commits of a chain have taken back that no newer one has undone. */
function goneIn(
  state: State | undefined,
  isAsked: (commit: TreeOf) => boolean,
): ReadonlySet<string> {
  const gone = new Set<string>();
  /** What the newer commits have undone has no effect any more. */
  const undone = new Set<string>();
  for (let now = state; now !== undefined; now = now.before) {
    const { hash, reverts, takesBack = [] } = now.commit;
    if (!undone.has(hash)) {
      for (const other of [...reverts, ...takesBack]) {
        undone.add(other);
      }
      for (const other of isAsked(now.commit) ? takesBack : []) {
        gone.add(other);
      }
    }
  }
  return gone;
}

function hashesSince(state: State | undefined, earlier: State): string[] {
  const hashes: string[] = [];
  for (let now = state; now !== undefined && now !== earlier; now = now.before) {
    hashes.push(now.commit.hash);
  }
  return hashes;
}
