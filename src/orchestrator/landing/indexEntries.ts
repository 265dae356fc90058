import { lstatSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { hashNameOf, newObject } from '../git/objects.ts';
import { runGit, writeGit } from '../git/runGit.ts';
import { type TreeEntry, viewTrees } from '../git/treeView.ts';
import { CONFIGS, unpackFolder } from '../stories/formats/folderText.ts';
import { fitsLanding, isShared, type SharedFiles, sharedPaths } from './sharedFiles.ts';
import { viewShared } from './sharedViews.ts';

/** What the index has at a path; `undefined` if it has nothing. */
type IndexEntries = ReadonlyMap<string, TreeEntry | undefined>;

/** Maximum length of all file names on a command line, which is short on Windows. */
const MAX_NAMES = 20_000;

/**
 * The files that are in the work tree as a commit has them, or are missing there as in the commit.
 *
 * @param root absolute path of the top folder
 * @param commit full hash
 * @param files relative to the top folder
 * @throws git's message
 */
export async function filesAsIn(
  root: string,
  commit: string,
  files: readonly string[],
): Promise<string[]> {
  const present = files.filter(file => isPlainFile(root, file));
  const others = files.filter(file => !present.includes(file));
  if (files.length === 0) {
    return [];
  }
  const [[view], ids] = await Promise.all([
    viewTrees(root, [commit], files),
    hashesOf(root, present),
  ]);
  return [
    ...present.filter((file, i) => {
      const entry = view?.entry(file);
      return entry?.mode.startsWith('100') === true && entry.id === ids[i];
    }),
    ...others.filter(file => {
      const entry = view?.entry(file);
      const place = path.join(root, file);
      const found = lstatSync(place, { throwIfNoEntry: false });
      return found?.isSymbolicLink()
        ? entry?.mode === '120000' && entry.id === linkId(place, commit)
        : found === undefined && entry === undefined;
    }),
  ];
}

/** The hash of a link as git stores it. */
function linkId(place: string, commit: string): string {
  return newObject('blob', readlinkSync(place, 'buffer'), hashNameOf(commit)).id;
}

/**
 * Shared files in which a person has made changes that fit a landing as they are, such as ticks of other stories. They
 * may stay as they are; what the landing brings to them is written when it is finished (`bringToFolder`).
 *
 * @param place with the absolute path of the top folder
 * @param commits full hashes: the branch before and after the landing
 * @param files relative to the top folder
 * @throws git's message
 */
export async function fittingFiles(
  place: SharedFiles & { readonly root: string },
  { from, to }: { readonly from: string; readonly to: string },
  files: readonly string[],
): Promise<string[]> {
  const { root } = place;
  const present = files.filter(file => isShared(place, file) && isPlainFile(root, file));
  if (present.length === 0) {
    return [];
  }
  const [[old, now], ids, staged, contents] = await Promise.all([
    viewTrees(root, [from, to], present),
    hashesOf(root, present),
    indexEntries(root, present),
    Promise.all(present.map(file => readFile(path.join(root, file)))),
  ]);
  const isFile = (file: string) => sharedPaths(place).includes(file);
  const settings = present.every(isFile) ? new Map() : await settingsOf(place, from);
  return present.filter((file, i) => {
    const id = staged?.get(file)?.id;
    // Otherwise the index has something that neither a commit nor the work tree has.
    const isElsewhere = id !== undefined && (id === old?.entry(file)?.id || id === ids[i]);
    const [before, after, mine] = [old?.file(file), now?.file(file), contents[i]];
    return (
      isElsewhere &&
      before &&
      after &&
      mine &&
      fitsLanding(place, file, { before, after, mine }, settings)
    );
  });
}

/** What says which states the tasks of a folder have; none if the story file is a file. */
async function settingsOf(
  place: SharedFiles & { readonly root: string },
  commit: string,
): Promise<ReadonlyMap<string, Buffer>> {
  const { folder, shared } = await viewShared(place.root, [commit], place);
  const content = folder === undefined ? undefined : shared[0]?.file(folder);
  const files = content === undefined ? [] : [...unpackFolder(content).files];
  return new Map(files.filter(([name]) => CONFIGS.some(config => config === name)));
}

/**
 * Makes the index say of some files what a commit says. If {@link filesAsIn} or {@link fittingFiles} names them, git does not take them for
 * local changes of a person any more, and can fast-forward to that commit. The files stay as they are.
 *
 * @returns takes it back; `undefined` if one of the files has a conflict, and nothing has changed
 * @throws git's message
 */
export async function stageAsIn(
  root: string,
  commit: string,
  files: readonly string[],
): Promise<(() => Promise<void>) | undefined> {
  const [[view], before] = await Promise.all([
    viewTrees(root, [commit], files),
    indexEntries(root, files),
  ]);
  if (before === undefined) {
    return undefined;
  }
  const none = '0'.repeat(commit.length);
  const wanted = new Map(files.map(file => [file, view?.entry(file)]));
  await writeEntries(root, wanted, none);
  return async () => {
    const now = await indexEntries(root, files);
    // What somebody else has staged meanwhile stays.
    const ours = [...before].filter(([file]) => now?.get(file)?.id === wanted.get(file)?.id);
    await writeEntries(root, new Map(ours), none);
  };
}

function isPlainFile(root: string, file: string): boolean {
  return lstatSync(path.join(root, file), { throwIfNoEntry: false })?.isFile() === true;
}

/** The hashes of files as `git add` would store them. */
async function hashesOf(root: string, files: readonly string[]): Promise<string[]> {
  const hashes: string[] = [];
  for (const some of atOnce(files)) {
    hashes.push(...(await runGit(root, 'hash-object', '--', ...some)).trim().split(/\r?\n/));
  }
  return hashes;
}

/** As many names at once as fit on a command line. */
function atOnce(files: readonly string[]): string[][] {
  const parts: string[][] = [];
  let length = 0;
  for (const file of files) {
    length += file.length;
    if (parts.length === 0 || length > MAX_NAMES) {
      parts.push([]);
      length = file.length;
    }
    parts.at(-1)?.push(file);
  }
  return parts;
}

/** @returns `undefined` if one of them has a conflict */
async function indexEntries(
  root: string,
  files: readonly string[],
): Promise<IndexEntries | undefined> {
  const question = [
    '--no-optional-locks',
    '--literal-pathspecs',
    'ls-files',
    '--stage',
    '-z',
    '--',
  ];
  let output = '';
  for (const some of atOnce(files)) {
    output += await runGit(root, ...question, ...some);
  }
  const found = new Map<string, TreeEntry | undefined>(files.map(file => [file, undefined]));
  for (const line of output.split('\0')) {
    const [, mode = '', id = '', stage, file = ''] =
      /^(\d+) ([0-9a-f]+) (\d)\t([\s\S]+)$/.exec(line) ?? [];
    if (stage !== undefined && stage !== '0') {
      return undefined;
    }
    if (found.has(file)) {
      found.set(file, { mode, id });
    }
  }
  return found;
}

async function writeEntries(root: string, entries: IndexEntries, none: string): Promise<void> {
  const lines = [...entries].map(([file, entry]) =>
    entry === undefined ? `0 ${none}\t${file}\0` : `${entry.mode} ${entry.id}\t${file}\0`,
  );
  await writeGit(root, ['update-index', '-z', '--index-info'], { input: lines.join('') });
}
