import { asHumanError, GitRepository } from './git.ts';
import { runGit } from './runGit.ts';

/** As git itself writes it, by SHA-1 or SHA-256. */
const FULL_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** So many hashes go into one command line, which Windows keeps short. */
const HASHES_AT_ONCE = 400;
/** So many commits are read at the same time. */
const READ_AT_ONCE = 8;

/** A file as of a commit. */
export interface FileVersion {
  /** Full hash. */
  readonly commit: string;
  /** Relative to the repository's root, with forward slashes. */
  readonly path: string;
}

/** What became of one file; one of the two sides at least is there. */
export interface FileChange {
  /** Absent for an added file. */
  readonly before?: FileVersion;
  /** Absent for a deleted file. */
  readonly after?: FileVersion;
}

/** What some commits changed together. */
export interface Changes {
  /** Full hashes, in the order they were given. */
  readonly commits: readonly string[];
  /** Hashes that the repository does not know (any more). */
  readonly missing: readonly string[];
  /** By path. */
  readonly files: readonly FileChange[];
}

/** A commit, and what it comes from. */
export interface LinkedHash {
  readonly hash: string;
  /** Full hashes; none for a root commit, several for a merge. */
  readonly parents: readonly string[];
}

interface Entry {
  readonly mode: string;
  readonly object: string;
  readonly version: FileVersion;
}

interface EntryChange {
  readonly before?: Entry;
  readonly after?: Entry;
}

/**
 * The net change of some commits: of each file the state before the first of them that touched it, and the state
 * after the last. What other commits between them did to other files is left out. Merges count against their first
 * parent, root commits against nothing.
 *
 * @param dir absolute path of a folder in the work tree
 * @param hashes full hashes, the oldest commit first
 * @throws {HumanError} when the repository cannot be read
 */
export async function changesOf(dir: string, hashes: readonly string[]): Promise<Changes> {
  try {
    const { found, missing } = await findCommits(dir, hashes);
    const [first] = found;
    const last = found.at(-1);
    const changes =
      first && last && isLine(found)
        ? await diff(dir, first.parents[0], last.hash)
        : chained(await diffEach(dir, found));
    return {
      commits: found.map(({ hash }) => hash),
      missing,
      files: changes.filter(isChange).map(fileChange).sort(byPath),
    };
  } catch (error) {
    throw asHumanError(error);
  }
}

/**
 * Looks commits up.
 * @param hashes a text that is no full hash counts as missing: journals are data
 * @returns the commits that exist, each once, in the order they were given
 */
export async function findCommits(
  dir: string,
  hashes: readonly string[],
): Promise<{ readonly found: readonly LinkedHash[]; readonly missing: readonly string[] }> {
  const asked = [...new Set(hashes)];
  const valid = asked.filter(hash => FULL_HASH.test(hash));
  const parents = new Map<string, readonly string[]>();
  for (let i = 0; i < valid.length; i += HASHES_AT_ONCE) {
    const output = await runGit(
      dir,
      ...['--no-optional-locks', 'rev-list', '--no-walk=unsorted', '--ignore-missing'],
      ...['--parents', '--end-of-options', ...valid.slice(i, i + HASHES_AT_ONCE)],
    );
    for (const line of output.split(/\r?\n/)) {
      const [hash = '', ...of] = line.split(' ');
      parents.set(hash, of);
    }
  }
  return {
    found: asked.flatMap(hash => {
      const of = parents.get(hash);
      return of === undefined ? [] : [{ hash, parents: of }];
    }),
    missing: asked.filter(hash => !parents.has(hash)),
  };
}

/**
 * A file's bytes as of a commit; of a submodule the line that git itself shows for it.
 * @throws git's error when the commit has no such file
 */
export async function fileVersion(dir: string, { commit, path }: FileVersion): Promise<Buffer> {
  try {
    return await new GitRepository(dir).fileAt(commit, path);
  } catch (error) {
    const listed = await runGit(
      dir,
      ...['--no-optional-locks', '--literal-pathspecs'],
      ...['ls-tree', '-z', '--full-tree', commit, '--', path],
    );
    const [, submodule] = /^160000 commit ([0-9a-f]+)\t/.exec(listed) ?? [];
    if (submodule === undefined) {
      throw error;
    }
    return Buffer.from(`Subproject commit ${submodule}\n`);
  }
}

function isLine(commits: readonly LinkedHash[]): boolean {
  return commits.every(({ parents }, i) => i === 0 || parents[0] === commits[i - 1]?.hash);
}

async function diffEach(dir: string, commits: readonly LinkedHash[]): Promise<EntryChange[][]> {
  const found: EntryChange[][] = [];
  for (let i = 0; i < commits.length; i += READ_AT_ONCE) {
    found.push(
      ...(await Promise.all(
        commits.slice(i, i + READ_AT_ONCE).map(({ hash, parents }) => diff(dir, parents[0], hash)),
      )),
    );
  }
  return found;
}

/** @param from `undefined` for nothing */
async function diff(dir: string, from: string | undefined, to: string): Promise<EntryChange[]> {
  const output = await runGit(
    dir,
    ...['--no-optional-locks', 'diff-tree', '-r', '-z', '--raw', '--no-commit-id', '--no-abbrev'],
    ...['--find-renames', '--no-ext-diff', '--ignore-submodules=none'],
    ...(from === undefined ? ['--root', to] : [from, to]),
  );
  const fields = output.split('\0');
  const changes: EntryChange[] = [];
  for (let i = 0; i + 1 < fields.length; ) {
    const [oldMode = '', mode = '', oldObject = '', object = '', status = ''] = (fields[i++] ?? '')
      .slice(1)
      .split(' ');
    const oldPath = fields[i++] ?? '';
    const path = /^[RC]/.test(status) ? (fields[i++] ?? '') : oldPath;
    const isNew = status.startsWith('A') || status.startsWith('C');
    changes.push({
      ...(isNew || from === undefined
        ? {}
        : { before: { mode: oldMode, object: oldObject, version: version(from, oldPath) } }),
      ...(status.startsWith('D') ? {} : { after: { mode, object, version: version(to, path) } }),
    });
  }
  return changes;
}

const version = (commit: string, path: string): FileVersion => ({ commit, path });

/** Follows each file through the commits, by the path it has at that moment. */
function chained(commits: readonly (readonly EntryChange[])[]): EntryChange[] {
  const byPathNow = new Map<string, EntryChange>();
  for (const changes of commits) {
    // First all that leave a path, then all that come to one: two files may change places.
    const earlier = new Map<EntryChange, EntryChange | undefined>();
    for (const change of changes) {
      const path = change.before?.version.path;
      if (path !== undefined) {
        earlier.set(change, byPathNow.get(path));
        byPathNow.delete(path);
      }
    }
    for (const change of changes) {
      const known = earlier.get(change);
      const path = change.after?.version.path ?? change.before?.version.path ?? '';
      // A file that was deleted before comes back as the one that it was.
      const replaced = change.before === undefined ? byPathNow.get(path) : undefined;
      const origin = known ?? replaced ?? change;
      byPathNow.set(path, {
        ...(origin.before && { before: origin.before }),
        ...(change.after && { after: change.after }),
      });
    }
  }
  return [...byPathNow.values()];
}

/** Whether anything is left of it. */
function isChange({ before, after }: EntryChange): boolean {
  return (
    before?.object !== after?.object ||
    before?.mode !== after?.mode ||
    before?.version.path !== after?.version.path
  );
}

function fileChange({ before, after }: EntryChange): FileChange {
  return {
    ...(before && { before: before.version }),
    ...(after && { after: after.version }),
  };
}

function byPath(a: FileChange, b: FileChange): number {
  const path = ({ before, after }: FileChange) => (after ?? before)?.path ?? '';
  return path(a) < path(b) ? -1 : 1;
}
