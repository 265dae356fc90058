import { posix } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { asHumanError } from '../../git/gitErrors.ts';
import { gitOutput, gitResult } from '../../git/runGit.ts';
import { blobTexts, checkedOutContent, type TreeFile } from '../../git/treeFiles.ts';
import { endingsOf, languageOf } from '../symbols/language.ts';
import { candidatesFor } from './candidates.ts';
import type { DuplicateReport } from './duplicate.ts';
import { fingerprintOf } from './fingerprint.ts';
import { type ChangedSource, type KnownFile, type KnownFunction, newCodeOf } from './newCode.ts';
import { keptFunctions, repeatsOf } from './repeats.ts';

/** In bytes; larger files have no symbols. */
const MAX_BYTES = 200_000;
/** More changed files are an import, a move or a formatter. */
const MAX_CHANGED = 300;
const MAX_DUPLICATES = 20;
/** Of what git finds; more says that the words are everywhere. */
const MAX_FOUND_BYTES = 4_000_000;
/** For reading the files that were found, in ms. */
const MAX_READING = 1_500;

/** Git reads the index even if it is asked only about commits, and would wait for one that does not answer. */
const COMMITS_ONLY = { GIT_INDEX_FILE: '.ralph-fresh-no-index' };

const NOTHING: DuplicateReport = { looked: 0, duplicates: [] };

export interface CommitRange {
  /** Full hash of the commit before. */
  readonly from: string;
  /** Full hash of the commit with the new code. */
  readonly to: string;
}

interface Folder {
  readonly dir: string;
  readonly prefix: string;
}

/**
 * Finds what new functions and files repeat: the name or the body of a function, or a file, that the project had before
 * and still has. Reads only the changed files, and those in which git finds the same words; works in a bare
 * repository as well.
 * @param prefix the folder within its repository, as '' or `packages/app/`, if it is known: where files are checked out
 * @throws {HumanError} if the repository cannot be read
 */
export async function findDuplicates(
  dir: string,
  { from, to }: CommitRange,
  prefix = '',
): Promise<DuplicateReport> {
  try {
    return from === to ? NOTHING : await find({ dir, prefix }, { from, to });
  } catch (error) {
    throw asHumanError(error);
  }
}

async function find(folder: Folder, { from, to }: CommitRange): Promise<DuplicateReport> {
  const { dir } = folder;
  const changes = await changedSources(folder, { from, to });
  const added = newCodeOf(changes);
  const looked = added.functions.length + added.files.length;
  const { files, words } = candidatesFor(added);
  if (looked === 0 || words.length === 0) {
    return { looked, duplicates: [] };
  }
  const languages = new Set([...added.functions, ...added.files].map(({ language }) => language));
  const endings = [...languages].flatMap(endingsOf);
  const paths = files(await filesWith(dir, { at: from, endings, words }));
  const texts = await textsOf(dir, from, paths);
  const changed = new Map(changes.map(change => [change.oldPath ?? change.path, change]));
  const functions: KnownFunction[] = [];
  const wholes: KnownFile[] = [];
  const end = performance.now() + MAX_READING;
  for (const [index, file] of paths.entries()) {
    const before = texts[index];
    const change = changed.get(file);
    const now = change === undefined ? { path: file, after: before } : change;
    const language = languageOf(file);
    if (before === undefined || now.after === undefined || language === undefined) {
      continue;
    }
    functions.push(...keptFunctions({ path: now.path, before, after: now.after }));
    if (added.files.length > 0) {
      const print = fingerprintOf(now.after, language);
      wholes.push({ file: now.path, language, print });
    }
    // Lets questions to the index be answered in between.
    await setImmediate();
    if (performance.now() > end) {
      break;
    }
  }
  const duplicates = repeatsOf(added, { functions, files: wholes });
  return { looked, duplicates: duplicates.slice(0, MAX_DUPLICATES) };
}

/** The source files that differ, with their contents on both sides. */
async function changedSources(folder: Folder, { from, to }: CommitRange): Promise<ChangedSource[]> {
  const { dir } = folder;
  const output = await gitOutput(
    dir,
    [
      ...['--no-optional-locks', 'diff-tree', '-r', '-z', '--raw', '--no-commit-id'],
      ...['--find-renames', '--no-ext-diff', from, to],
    ],
    { moreEnv: COMMITS_ONLY },
  );
  const fields = output.toString('utf8').split('\0');
  const changes: (TreeFile & { readonly oldPath: string; readonly status: string })[] = [];
  for (let i = 0; i + 1 < fields.length; ) {
    const [oldMode = '', mode = '', , blob = '', status = ''] = (fields[i++] ?? '')
      .slice(1)
      .split(' ');
    const oldPath = fields[i++] ?? '';
    const path = /^[RC]/.test(status) ? (fields[i++] ?? '') : oldPath;
    // Git is asked for texts by lines.
    const isOneLine = !/\n/.test(path + oldPath);
    const isFile = [oldMode, mode].every(one => one === '000000' || one.startsWith('100'));
    if (isFile && isOneLine && languageOf(path) !== undefined) {
      changes.push({ path, blob, oldPath, status });
    }
  }
  const looked = changes.slice(0, MAX_CHANGED);
  const isOld = ({ status }: (typeof changes)[number]): boolean => /^[^AC]/.test(status);
  const old = looked.filter(isOld);
  const now = looked.filter(({ status }) => !status.startsWith('D'));
  const [before, after] = await Promise.all([
    textsOf(
      dir,
      from,
      old.map(({ oldPath }) => oldPath),
    ),
    newTextsOf(folder, to, now),
  ]);
  return looked.map(change => {
    const { oldPath, path } = change;
    return {
      path,
      oldPath: oldPath !== path && isOld(change) ? oldPath : undefined,
      before: before[old.indexOf(change)],
      after: after[now.indexOf(change)],
    };
  });
}

/** Like {@link textsOf}. A file that is checked out counts if its hash is the commit's; git is asked for the others. */
async function newTextsOf(
  { dir, prefix }: Folder,
  commit: string,
  files: readonly TreeFile[],
): Promise<(string | undefined)[]> {
  const contents = await Promise.all(
    files.map(({ blob, path: file }) =>
      checkedOutContent(dir, { blob, path: posix.relative(prefix, file) }, MAX_BYTES),
    ),
  );
  const others = files.filter((_, i) => contents[i] === undefined).map(({ path: file }) => file);
  const texts = await textsOf(dir, commit, others);
  return files.map(
    ({ path: file }, i) => contents[i]?.toString('utf8') ?? texts[others.indexOf(file)],
  );
}

/** By file, which of the words it has as whole words. */
async function filesWith(
  dir: string,
  { at, endings, words }: { at: string; endings: readonly string[]; words: readonly string[] },
): Promise<Map<string, Set<string>>> {
  const { stdout } = await gitResult(
    dir,
    [
      ...['--no-optional-locks', 'grep', '-z', '-o', '-I', '-w', '-E', '--full-name'],
      ...['--no-color', '--no-line-number', '--no-column', '-e', words.join('|'), at, '--'],
      ...endings.map(ending => `:(top,glob)**/*.${ending}`),
    ],
    // One expression is ten times as fast as many words, and bytes are faster than letters.
    { moreEnv: { ...COMMITS_ONLY, LC_ALL: 'C' }, maxBytes: MAX_FOUND_BYTES },
  );
  const found = new Map<string, Set<string>>();
  for (const line of stdout.toString('utf8').split('\n')) {
    const [place = '', word] = line.split('\0');
    const file = place.slice(at.length + 1);
    if (word !== undefined && file !== '') {
      const own = found.get(file);
      if (own === undefined) {
        found.set(file, new Set([word]));
      } else {
        own.add(word);
      }
    }
  }
  return found;
}

/** The contents of files of a commit, in their order; undefined for those that are too large. */
async function textsOf(
  dir: string,
  commit: string,
  paths: readonly string[],
): Promise<(string | undefined)[]> {
  const names = paths.map(path => `${commit}:${path.includes('\n') ? '' : path}`);
  if (names.length === 0) {
    return [];
  }
  const { stdout } = await gitResult(
    dir,
    ['cat-file', '--batch-check=%(objecttype) %(objectname) %(objectsize)'],
    { input: names.join('\n') },
  );
  const blobs = stdout
    .toString('utf8')
    .split('\n')
    .map(line => {
      const [type, blob = '', size] = line.split(' ');
      return type === 'blob' && Number(size) <= MAX_BYTES ? blob : '';
    });
  const wanted = blobs.slice(0, names.length);
  const known = [...new Set(wanted.filter(blob => blob !== ''))];
  const texts = known.length === 0 ? [] : await blobTexts(dir, known);
  const byBlob = new Map(known.map((blob, i) => [blob, texts[i]]));
  return wanted.map(blob => byBlob.get(blob));
}
