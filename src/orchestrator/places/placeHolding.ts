import { randomUUID } from 'node:crypto';
import { copyFile, readFile, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { isFolder } from '../../base/fileKind.ts';
import { messageOf } from '../../base/messageOf.ts';
import { writeDerivedFile } from '../../base/plainFile.ts';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { readRefFiles } from '../git/refFiles.ts';
import { type GitOptions, gitResult } from '../git/runGit.ts';
import { ALONE, alternates, objectsOf } from '../git/sharedClone.ts';
import { changedPaths, namedFiles } from '../git/treeCommit.ts';
import { unchangedCopies } from './copiedFiles.ts';
import type { PlaceFiles, PlaceRecord } from './placeFiles.ts';

/**
 * What an agent left in its place. Nothing that it wrote there is believed or run: git works with our own copy of the
 * git folder (the *reader*), which finds the agent's objects, but not its configuration, hooks and index. HEAD and
 * refs are read as files.
 */

const MAX_STORY = 80;
const MAX_REASON = 300;
/** The author of our commits of uncommitted work. */
export const KEEPER = { name: 'Ralph Fresh', email: 'ralph-fresh@localhost' };

/** A commit that the place holds in addition to HEAD. */
export interface Tip {
  /** Full name of the ref, as in the place. */
  readonly name: string;
  readonly hash: string;
}

/** What a place holds, as far as it can be read. */
export interface Holding {
  readonly head?: string;
  /** Commits that neither HEAD nor the start contains. */
  readonly tips: readonly Tip[];
  /** A commit of the work tree, if that differs from HEAD. It is only in the reader yet. */
  readonly uncommitted?: { readonly commit: string; readonly tree: string };
  /** Files that differ in that commit, from the top folder. */
  readonly files: readonly string[];
  /** The index of the work tree as it is now, as `git ls-files -s -z` prints it. */
  readonly listing: string;
  /** What cannot be read or kept. */
  readonly problems: readonly Message[];
}

/** Why a place is not touched: it has no record of ours. */
export function noRecord({ tree }: PlaceFiles): Message {
  return say('{0} has no record of ours, so nobody knows what is in it.', tree);
}

/**
 * Looks at what a place holds. Writes objects, but only into the reader.
 * @throws git's message, or the system's, if not even that works
 */
export async function inspectPlace(
  files: PlaceFiles,
  userRoot: string,
  record: PlaceRecord,
): Promise<Holding> {
  const nothing = { tips: [], files: [], listing: '' };
  if (!(await isFolder(files.tree))) {
    return { ...nothing, problems: [say('{0} is gone, with everything in it.', files.tree)] };
  }
  if (!(await isFolder(files.reader))) {
    return { ...nothing, problems: [noRecord(files)] };
  }
  const objects = path.join(files.gitDir, 'objects');
  const hasGit = (await isFolder(files.gitDir)) && (await isFolder(objects));
  await writeDerivedFile(
    path.join(files.reader, 'objects', 'info', 'alternates'),
    alternates(await objectsOf(userRoot), ...(hasGit ? [objects] : [])),
  );
  const problems: Message[] = [];
  if (!hasGit) {
    problems.push(
      say(
        'The git folder of {0} is gone or was replaced; commits that had not been kept went with it.',
        files.tree,
      ),
    );
  }
  const { head, tips } = hasGit
    ? await commitsIn(files, record, problems)
    : { head: undefined, tips: [] };
  const index = path.join(files.reader, `index-${randomUUID()}`);
  try {
    const commitOn = (parent: string) => commitWork(files, record, index, parent, problems);
    const work = await commitOn(head ?? record.start).catch((error: unknown) => {
      const why = reason(messageOf(error));
      problems.push(say('Not all files in {0} can be read: {1}', files.tree, why));
      // The agent's own commit may be broken; that from which it started is the user's.
      return head === undefined ? nothing : commitOn(record.start).catch(() => nothing);
    });
    return { head, tips, ...work, problems };
  } finally {
    await rm(index, { force: true });
  }
}

async function commitsIn(
  files: PlaceFiles,
  { start }: PlaceRecord,
  problems: Message[],
): Promise<{ readonly head?: string; readonly tips: readonly Tip[] }> {
  const found = await readRefFiles(files.gitDir);
  if (!found.hasHead) {
    problems.push(say('The HEAD of {0} cannot be read.', files.tree));
  }
  const given = await givenRefs(files);
  const tips = [...found.tips].flatMap(([name, hash]) =>
    given.has(`${hash} ${name}`) ? [] : [{ name, hash }],
  );
  const all = [...(found.head === undefined ? [] : [{ name: 'HEAD', hash: found.head }]), ...tips];
  const kinds = await kindsOf(
    files,
    all.map(({ hash }) => hash),
  );
  all.forEach(({ name }, index) => {
    if (kinds[index] === 'missing') {
      problems.push(
        say('A commit is missing in {0}: that of {1}.', files.tree, shorten(name, 200)),
      );
    }
  });
  const isCommit = (tip: Tip) => kinds[all.indexOf(tip)] === 'commit';
  const head = found.head !== undefined && kinds[0] === 'commit' ? found.head : undefined;
  return {
    head,
    tips: await apart(files, tips.filter(isCommit), [start, ...(head ? [head] : [])]),
  };
}

/** The refs that the place got from the user's repository, as lines. */
async function givenRefs({ reader }: PlaceFiles): Promise<ReadonlySet<string>> {
  const text = await readFile(path.join(reader, 'packed-refs'), 'utf8').catch(() => '');
  return new Set(text.split('\n'));
}

/** What each hash leads to: `commit`, `missing`, or something else that is no work (a tag of a file). */
async function kindsOf(files: PlaceFiles, hashes: readonly string[]): Promise<string[]> {
  const input = hashes.map(hash => `${hash}^{}\n`).join('');
  const { stdout } = await inReader(files, ['cat-file', '--batch-check=%(objecttype)'], { input });
  const lines = stdout.toString('utf8').split('\n');
  return hashes.map((_, index) => {
    const line = lines[index] ?? 'missing';
    return line.endsWith('missing') ? 'missing' : line;
  });
}

/** The tips that none of some commits contains; those with the same commit once. */
async function apart(
  files: PlaceFiles,
  tips: readonly Tip[],
  commits: readonly string[],
): Promise<readonly Tip[]> {
  const found: Tip[] = [];
  for (const tip of new Map(tips.map(one => [one.hash, one])).values()) {
    const args = ['rev-list', '--max-count=1', tip.hash, '--not', ...commits, '--'];
    const { code, stdout } = await inReader(files, args);
    // What cannot be answered is kept.
    if (code !== 0 || stdout.length > 0) {
      found.push(tip);
    }
  }
  return found;
}

/**
 * Makes a commit of the work tree in the reader, if it differs from `parent`.
 * @param index absolute path of an index for this
 */
async function commitWork(
  files: PlaceFiles,
  record: PlaceRecord,
  index: string,
  parent: string,
  problems: Message[],
): Promise<Pick<Holding, 'uncommitted' | 'files' | 'listing'>> {
  await copyIndex(path.join(files.reader, 'index'), index);
  const git = async (args: readonly string[], options: Partial<GitOptions> = {}) => {
    const moreEnv = { GIT_INDEX_FILE: index, ...options.moreEnv };
    const result = await inReader(files, args, { ...options, moreEnv });
    if (result.code !== 0) {
      throw new Error(result.stderr.trim() || `git ${args[0]} ended with ${result.code}.`);
    }
    return result.stdout.toString('utf8');
  };
  // Without -i, git refuses if a file has changed; here that is the point.
  await git(['read-tree', '-m', '-i', parent]);
  const copies = await unchangedCopies(files.tree, record.copied);
  const ours = await notIgnored(files, index, copies);
  try {
    await git(
      [
        ...['-c', 'advice.addEmbeddedRepo=false', 'add', '--all', '--sparse', '--ignore-errors'],
        ...['--pathspec-from-file=-', '--pathspec-file-nul'],
      ],
      { input: ['.', ...ours.map(file => `:(top,exclude,literal)${file}`)].join('\0') },
    );
  } catch (error) {
    problems.push(
      say('Not all files in {0} can be read: {1}', files.tree, reason(messageOf(error))),
    );
  }
  const tree = (await git(['write-tree'])).trim();
  const listing = await git(['ls-files', '-s', '-z']);
  const hasNested = /(?:^|\0)160000 /.test(listing);
  const nested = hasNested ? await newRepositories(files, record.start, tree) : [];
  if (nested.length > 0) {
    problems.push(
      say(
        '{0} in {1} is a git repository of its own, whose files are not kept.',
        namedFiles(nested),
        files.tree,
      ),
    );
  }
  const changed = await changedPaths(files.reader, parent, tree);
  // What agents tick and note is taken over by meaning, whether they commit it or not.
  if (changed.every(file => isSharedIn(record.shared ?? [], file))) {
    return { files: [], listing };
  }
  const what = shorten(record.story ?? files.name, MAX_STORY);
  const commit = await git(
    ['-c', 'i18n.commitEncoding=utf-8', 'commit-tree', tree, '-p', parent, '-F', '-'],
    {
      input: `Uncommitted work of ${what} (kept by Ralph Fresh)\n`,
      moreEnv: {
        ...{ GIT_AUTHOR_NAME: KEEPER.name, GIT_AUTHOR_EMAIL: KEEPER.email },
        ...{ GIT_COMMITTER_NAME: KEEPER.name, GIT_COMMITTER_EMAIL: KEEPER.email },
      },
    },
  );
  return { uncommitted: { commit: commit.trim(), tree }, files: changed, listing };
}

/** Whether a file is among those that are taken over by meaning, or in a folder of them, which ends with a slash. */
function isSharedIn(shared: readonly string[], file: string): boolean {
  return shared.some(one => one === file || (one.endsWith('/') && file.startsWith(one)));
}

/** Git refuses to add anything if a pattern excludes a file that it ignores. */
async function notIgnored(
  files: PlaceFiles,
  index: string,
  names: readonly string[],
): Promise<readonly string[]> {
  if (names.length === 0) {
    return names;
  }
  const { stdout } = await inReader(files, ['check-ignore', '-z', '--stdin'], {
    input: names.join('\0'),
    moreEnv: { GIT_INDEX_FILE: index },
  });
  const ignored = new Set(stdout.toString('utf8').split('\0'));
  return names.filter(name => !ignored.has(name));
}

/**
 * The index that we made, with its time: git compares it with those of the files, to see which ones may have changed
 * unnoticed.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const { atime, mtime } = await stat(from);
  await utimes(to, atime, mtime);
}

/** Folders that are repositories of their own in a tree, and were not at the start. */
async function newRepositories(files: PlaceFiles, start: string, tree: string): Promise<string[]> {
  const { stdout } = await inReader(files, ['diff-tree', '-r', '--raw', '-z', start, tree]);
  const fields = stdout.toString('utf8').split('\0');
  return fields.flatMap((field, index) =>
    /^:\d+ 160000 /.test(field) ? [fields[index + 1] ?? ''] : [],
  );
}

function inReader(files: PlaceFiles, args: readonly string[], options: GitOptions = {}) {
  const place = [`--git-dir=${files.reader}`, `--work-tree=${files.tree}`];
  return gitResult(files.tree, [...ALONE, ...place, ...args], options);
}

/** The words of git or the system, shortened. */
export function reason(text: string): string {
  return shorten(text, MAX_REASON);
}
