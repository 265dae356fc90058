import { GitRepository } from './git.ts';
import { asHumanError } from './gitErrors.ts';
import { runGit } from './runGit.ts';

/** A full SHA-1 or SHA-256 hash as git writes it. */
const FULL_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** Maximum number of hashes per command line, which is short on Windows. */
const HASHES_AT_ONCE = 400;
/** Maximum number of commits to read in parallel. */
const READ_AT_ONCE = 8;

/** A file in a commit. */
export interface FileVersion {
  /** Full hash. */
  readonly commit: string;
  /** Relative to the repository's root, with forward slashes. */
  readonly path: string;
}

/** The change of one file; at least one of the two sides is present. */
export interface FileChange {
  /** Absent for an added file. */
  readonly before?: FileVersion;
  /** Absent for a deleted file. */
  readonly after?: FileVersion;
}

/** The combined changes of some commits. */
export interface Changes {
  /** Full hashes, in the given order. */
  readonly commits: readonly string[];
  /** Hashes that do not exist in the repository (any more). */
  readonly missing: readonly string[];
  /** Sorted by path. */
  readonly files: readonly FileChange[];
}

/** A commit and its parents. */
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
 * The net change of some commits: for each file, the state before the first of them that changed it, and the state
 * after the last. Changes of other commits in between to other files are not included. Merges are compared with
 * their first parent, root commits with the empty tree.
 *
 * @param dir absolute path of a folder in the work tree
 * @param hashes full hashes, oldest commit first
 * @throws {HumanError} if the repository cannot be read
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
 * What the files of one commit have that those of another do not, whatever lies between them.
 * @param from full hash
 * @param to full hash
 * @throws {HumanError} if the repository cannot be read
 */
export async function changesBetween(
  dir: string,
  from: string,
  to: string,
): Promise<Pick<Changes, 'files' | 'missing'>> {
  try {
    const { missing } = await findCommits(dir, [from, to]);
    const changes = missing.length === 0 ? await diff(dir, from, to) : [];
    return { missing, files: changes.filter(isChange).map(fileChange).sort(byPath) };
  } catch (error) {
    throw asHumanError(error);
  }
}

/**
 * Looks up commits.
 * @param hashes a text that is not a full hash counts as missing: journals are not trusted
 * @returns the commits that exist, without duplicates, in the given order
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
 * A file's content in a commit; for a submodule, the line that git itself shows for it.
 * @throws git's error if the commit has no such file
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

/**
 * What a commit has added or changed since another one.
 * @returns paths relative to the top folder; `isRepository`: a repository of its own, of which git stores only the name
 */
export async function changedEntries(
  dir: string,
  from: string,
  to: string,
): Promise<{ readonly path: string; readonly isRepository: boolean }[]> {
  // Unlike diff-tree, it does not read the index: an agent is judged also while git waits for that.
  const output = await runGit(
    dir,
    ...['--no-optional-locks', 'diff', '--raw', '-z', '--no-renames', '--no-ext-diff'],
    // The settings of a person may name a file with an order that is not there.
    ...['-O/dev/null', '--no-relative', '--no-color', '--ignore-submodules=none', from, to, '--'],
  );
  const fields = output.split('\0');
  return fields.flatMap((field, at) => {
    const [, mode] = /^:\d+ (\d+) /.exec(field) ?? [];
    const isThere = mode !== undefined && mode !== '000000';
    return isThere ? [{ path: fields[at + 1] ?? '', isRepository: mode === '160000' }] : [];
  });
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

/** @param from `undefined` for the empty tree */
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
      before:
        isNew || from === undefined
          ? undefined
          : { mode: oldMode, object: oldObject, version: version(from, oldPath) },
      after: status.startsWith('D') ? undefined : { mode, object, version: version(to, path) },
    });
  }
  return changes;
}

const version = (commit: string, path: string): FileVersion => ({ commit, path });

/** Follows each file through the commits, by its current path. */
function chained(commits: readonly (readonly EntryChange[])[]): EntryChange[] {
  const byPathNow = new Map<string, EntryChange>();
  for (const changes of commits) {
    // First remove all old paths, then add all new ones: two files may swap their paths.
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
      // If a deleted file is created again, it counts as the same file.
      const replaced = change.before === undefined ? byPathNow.get(path) : undefined;
      const origin = known ?? replaced ?? change;
      byPathNow.set(path, {
        before: origin.before,
        after: change.after,
      });
    }
  }
  return [...byPathNow.values()];
}

/** Whether there is a net change. */
function isChange({ before, after }: EntryChange): boolean {
  return (
    before?.object !== after?.object ||
    before?.mode !== after?.mode ||
    before?.version.path !== after?.version.path
  );
}

function fileChange({ before, after }: EntryChange): FileChange {
  return {
    before: before?.version,
    after: after?.version,
  };
}

function byPath(a: FileChange, b: FileChange): number {
  const path = ({ before, after }: FileChange) => (after ?? before)?.path ?? '';
  return path(a) < path(b) ? -1 : 1;
}
