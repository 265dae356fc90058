import { gitResult, runGit } from './runGit.ts';

/** A commit of the past, with the files that exist today. */
export interface PastCommit {
  readonly hash: string;
  readonly subject: string;
  readonly body: string;
  /** The files it changed, under the paths that they have at the newest commit; each once. */
  readonly files: readonly string[];
  /** How many files it changed, including those that are gone. */
  readonly size: number;
}

/** A commit with the paths that it had itself. */
export interface OwnCommit {
  readonly hash: string;
  readonly subject: string;
  readonly files: readonly string[];
}

const FORMAT = '--format=%x00%m%x00%P%x00%H%x00%ct%x00%s%x00%b%x00';
/** No message contains it, and no path as git writes it. Any other character may be in a message. */
const PART = '\0';
/** What {@link FORMAT} tells of a commit, and the files. */
const PARTS = 7;
/** The mark of a commit that only the first one of `a...b` contains. */
const ONLY_EARLIER = '<';
const FIND_RENAMES = ['--find-renames', '-l2000', '--max-count'];

/** A commit with what it changed, as git tells it. */
export interface ChangedCommit {
  readonly hash: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly subject: string;
  readonly body: string;
  /** Status, path, and for a renamed file its new path. */
  readonly changes: readonly (readonly string[])[];
}

/**
 * Reads what commits changed, newest first, without merges. The history of a file that was moved continues under its
 * new path.
 * @param at the newest commit
 * @param isKnown whether a path exists today and is of interest
 */
export async function fileHistory(
  dir: string,
  { at, isKnown, limit }: { at: string; isKnown: (file: string) => boolean; limit: number },
): Promise<PastCommit[]> {
  return pastCommits(await changedCommits(dir, { newest: at, limit }), isKnown);
}

/** What a commit and those before it changed, newest first, without merges; renames are found. */
export async function changedCommits(
  dir: string,
  { limit, newest }: { readonly newest: string; readonly limit: number },
): Promise<ChangedCommit[]> {
  return listed(dir, [...FIND_RENAMES, String(limit), newest]);
}

/** Commits since an earlier one. */
export interface CommitsSince {
  readonly commits: readonly ChangedCommit[];
  /** There are merges among them, so not all of them are newer than each commit before the earlier one. */
  readonly hasMerges: boolean;
  /** The new contents by path, as hashes, or `undefined` for no file any more; absent if they are not clear. */
  readonly contents: ReadonlyMap<string, string | undefined> | undefined;
}

/**
 * What the commits since an earlier one changed, as {@link changedCommits}.
 * @returns `undefined` if the earlier one is not behind the newest one, or not in the repository
 */
export async function commitsSince(
  dir: string,
  earlier: string,
  { limit, newest }: { readonly newest: string; readonly limit: number },
): Promise<CommitsSince | undefined> {
  // One start of git, where two would be the plain way: each takes as long as all else that a prompt needs.
  const range = `${earlier}...${newest}`;
  const args = [...FIND_RENAMES, String(limit), range];
  const { code, stdout } = await gitResult(dir, logOf('--raw', ['--no-abbrev', ...args]));
  const blocks = code === 0 ? blocksOf(stdout.toString('utf8')) : [];
  if (code !== 0 || blocks.some(([mark]) => mark === ONLY_EARLIER)) {
    return undefined;
  }
  const plain = blocks.filter(block => !isMerge(block));
  const hasMerges = plain.length < blocks.length;
  const isWhole = !hasMerges && blocks.length < limit;
  return {
    commits: plain.map(commitOf),
    hasMerges,
    contents: isWhole ? contentsIn(blocks) : undefined,
  };
}

/** @param blocks newest first, with the output of `--raw` */
function contentsIn(blocks: readonly Block[]): Map<string, string | undefined> | undefined {
  const contents = new Map<string, string | undefined>();
  const add = (path: string, blob: string | undefined): void => {
    if (!contents.has(path)) {
      contents.set(path, blob);
    }
  };
  for (const [facts = '', first = '', second] of blocks.flatMap(linesOf)) {
    const path = second ?? first;
    // Git puts an unusual path into quotes.
    if (first.startsWith('"') || path.startsWith('"')) {
      return undefined;
    }
    const [, mode = '', , blob, status = ''] = facts.split(' ');
    // Otherwise it is gone, or a link or submodule.
    add(path, mode.startsWith('100') ? blob : undefined);
    if (status.startsWith('R')) {
      add(first, undefined);
    }
  }
  return contents;
}

/** Whether files were moved, so that earlier commits changed files that have other paths now. */
export function hasMoves(commits: readonly ChangedCommit[]): boolean {
  return commits.some(({ changes }) => changes.some(([status = '']) => status.startsWith('R')));
}

/** The hashes of {@link changedCommits}, which takes much less time. */
export async function commitHashes(
  dir: string,
  { limit, newest }: { readonly newest: string; readonly limit: number },
): Promise<string[]> {
  const text = await runGit(dir, 'rev-list', '--no-merges', `--max-count=${limit}`, newest, '--');
  return text.split('\n').filter(hash => hash !== '');
}

/** Whether older commits may be missing. */
export async function isShallowClone(dir: string): Promise<boolean> {
  return (await runGit(dir, 'rev-parse', '--is-shallow-repository')).trim() === 'true';
}

/** What {@link changedCommits} gives, with the paths that the files have at the newest of the commits. */
export function pastCommits(
  commits: readonly ChangedCommit[],
  isKnown: (file: string) => boolean,
): PastCommit[] {
  const movedTo = new Map<string, string>();
  return commits.map(({ body, changes, hash, subject }) => {
    const files = new Set<string>();
    for (const [status = '', first = '', second] of changes) {
      const path = second ?? first;
      const now = movedTo.get(path) ?? path;
      if (isKnown(now)) {
        files.add(now);
      }
      if (status.startsWith('R')) {
        movedTo.set(first, now);
      }
    }
    return { hash, subject, body, files: [...files], size: changes.length };
  });
}

/**
 * The newest commits without merges, newest first, with the paths that each changed.
 * @param skip how many even newer ones are left out
 */
export async function newestCommits(dir: string, count: number, skip = 0): Promise<OwnCommit[]> {
  const range = ['--max-count', String(count), '--skip', String(skip), 'HEAD'];
  const commits = await listed(dir, ['--no-renames', ...range]);
  return commits.map(({ changes, hash, subject }) => ({
    hash,
    subject,
    files: changes.flatMap(([, file]) => (file === undefined ? [] : [file])),
  }));
}

async function listed(dir: string, args: readonly string[]): Promise<ChangedCommit[]> {
  const text = await runGit(dir, ...logOf('--name-status', ['--no-merges', ...args]));
  return blocksOf(text).map(commitOf);
}

function logOf(changes: '--name-status' | '--raw', args: readonly string[]): string[] {
  return [
    ...['-c', 'core.quotepath=off', '-c', 'diff.relative=false'],
    ...['log', '--no-show-signature', changes, FORMAT, ...args, '--'],
  ];
}

/** A commit in the parts of {@link FORMAT}, with its files last. */
type Block = readonly string[];

function blocksOf(text: string): Block[] {
  const parts = text.split(PART).slice(1);
  return Array.from({ length: Math.floor(parts.length / PARTS) }, (_, at) =>
    parts.slice(at * PARTS, (at + 1) * PARTS),
  );
}

function isMerge([, parents = '']: Block): boolean {
  return parents.includes(' ');
}

function commitOf(block: Block): ChangedCommit {
  const [, , hash = '', time, subject = '', body = ''] = block;
  // Of `:100644 100644 HASH HASH M`, as `--raw` tells it, only the status.
  const changes = linesOf(block).map(([facts = '', ...paths]) => [
    facts.slice(facts.lastIndexOf(' ') + 1),
    ...paths,
  ]);
  return { hash, time: Number(time), subject, body: body.trim(), changes };
}

/** What a commit changed: what happened, path, and for a renamed file its new path. */
function linesOf(block: Block): string[][] {
  const files = block[PARTS - 1] ?? '';
  return files.split('\n').flatMap(line => (line === '' ? [] : [line.split('\t')]));
}
