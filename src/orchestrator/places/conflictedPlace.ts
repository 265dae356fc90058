import { lstat, rm } from 'node:fs/promises';
import path from 'node:path';
import { readPlainFile } from '../../base/plainFile.ts';
import { gitOutput, gitResult, runGit, writeGit } from '../git/runGit.ts';
import { ALONE } from '../git/sharedClone.ts';
import { hashOf, unchangedCopies } from './copiedFiles.ts';
import { PlaceFiles } from './placeFiles.ts';

/**
 * A merge with conflicts in a place, for a person who settles them. What others may have written to the place's own
 * git folder is not run: only its index is read, by our copy of that folder.
 */

/** In the place: what is merged; git names it in the marks of a conflict. */
const WORK = 'ralph-fresh/agent';
/** In bytes; a longer file has no marks that anybody would look for. */
const MAX_BYTES = 64 * 1024 * 1024;
/** So much of a file tells whether it is text, as for git. */
const TEXT_BYTES = 8_000;

/**
 * - `text`: both sides have changed the same lines, which the file shows with marks
 * - `binary`: both sides have changed it, and nothing can be merged
 * - `deletedHere`: the branch does not have it any more, and the agent has changed it; `deletedThere`: the other way
 *   round
 * - `other`: links, folders, and names that both sides have given to something else
 */
export type ConflictKind = 'text' | 'binary' | 'deletedHere' | 'deletedThere' | 'other';

/** A file that both sides have changed. */
export interface ConflictedFile {
  /** From the top folder, with forward slashes. */
  readonly path: string;
  readonly kind: ConflictKind;
  /**
   * Nobody has decided yet: git has not been told that it is settled (`git add`, `git rm`), or it has marks. No marks
   * alone decide nothing: an editor for merges may save the old text where a person has not chosen a side.
   */
  readonly isOpen: boolean;
  /** It has marks: all of them as git has written them, or some are settled in the text already. */
  readonly marks?: 'untouched' | 'edited';
}

/** The side of a conflict: what has landed, or what the agent has done. */
export type Side = 'branch' | 'agent';

/** One side of a file, as git's index has it. */
interface Stage {
  readonly mode: string;
  readonly object: string;
}

/** 1: what both come from; 2: the branch; 3: the agent. */
type Stages = ReadonlyMap<number, Stage>;

/**
 * Merges an agent's work into a place, as far as git can. Conflicts stay in its files and its index.
 * @param shared files that land by their meaning, and stay as they are here
 * @throws git's message
 */
export async function mergeInto(
  { root }: { readonly root: string },
  { shared, start, work }: { start: string; work: string; shared: readonly string[] },
): Promise<void> {
  const git = (...args: readonly string[]) => writeGit(root, [...ALONE, ...args]);
  await git('update-ref', `refs/${WORK}`, work);
  const { code, stderr } = await gitResult(
    root,
    [
      ...[...ALONE, '-c', 'merge.renormalize=false', '-c', 'merge.autoStash=false'],
      ...['-c', 'rerere.enabled=false', 'merge', '--no-ff', '--no-commit', '--quiet', WORK],
    ],
    { writes: true },
  );
  if (!(await hasMerge(root))) {
    throw new Error(stderr.trim() || `git merge ended with ${code}.`);
  }
  for (const file of shared) {
    const found = await runGit(root, 'ls-tree', '-z', '--full-tree', start, '--', file);
    await (found === ''
      ? git('rm', '--quiet', '--force', '--ignore-unmatch', '--', `:(top,literal)${file}`)
      : git('checkout', '--quiet', start, '--', `:(top,literal)${file}`));
  }
  await noteConflicts(root);
}

/** Tells later whether a person has edited a file. */
async function noteConflicts(root: string): Promise<void> {
  const files = PlaceFiles.of(root);
  const record = await files.readRecord();
  if (record === undefined) {
    throw new Error(`The place ${root} has no record.`);
  }
  const hashes = await Promise.all(
    [...(await unmergedIn(root)).keys()].map(
      async name => [name, await hashOf(path.join(root, name))] as const,
    ),
  );
  const conflicts = Object.fromEntries(
    hashes.flatMap(([name, hash]) => (hash === undefined ? [] : [[name, hash]])),
  );
  await files.writeRecord({ ...record, conflicts });
}

/** Whether a merge was begun in a place, and is not committed. */
export async function hasMerge(root: string): Promise<boolean> {
  const file = path.join(root, '.git', 'MERGE_HEAD');
  return (await lstat(file).catch(() => undefined))?.isFile() === true;
}

/** The files that were in conflict, by name; those that a person has settled, too. */
export async function conflictedFiles(
  { root }: { readonly root: string },
  paths: readonly string[],
): Promise<ConflictedFile[]> {
  const unmerged = await unmergedIn(root);
  const names = [...new Set([...paths, ...unmerged.keys()])].sort();
  const written = (await PlaceFiles.of(root).readRecord())?.conflicts ?? {};
  const untouched = new Set(await unchangedCopies(root, written));
  return Promise.all(
    names.map(async name => {
      const stages = unmerged.get(name);
      const kind = stages === undefined ? 'text' : await kindOf(root, name, stages);
      const marks =
        kind === 'text' && (await hasMarks(path.join(root, name)))
          ? { marks: untouched.has(name) ? ('untouched' as const) : ('edited' as const) }
          : {};
      // A file that the person has removed is settled, too.
      const isOpen =
        (stages !== undefined && (await exists(path.join(root, name)))) ||
        marks.marks !== undefined;
      return { path: name, kind, isOpen, ...marks };
    }),
  );
}

/** Takes one side of a file as a whole. @throws git's message */
export async function takeSide(
  { root }: { readonly root: string },
  file: string,
  side: Side,
): Promise<void> {
  const stage = side === 'branch' ? 2 : 3;
  const wanted = (await unmergedIn(root)).get(file)?.get(stage);
  const spec = `:(top,literal)${file}`;
  const git = (...args: readonly string[]) => writeGit(root, [...ALONE, ...args]);
  if (wanted === undefined) {
    await git('rm', '--quiet', '--cached', '--force', '--ignore-unmatch', '--', spec);
    await rm(path.join(root, file), { force: true, recursive: true });
    return;
  }
  await git('checkout', '--quiet', stage === 2 ? '--ours' : '--theirs', '--', spec);
  await git('add', '--force', '--', spec);
}

/** Tells git that a person has settled a file. @throws git's message */
export async function markSettled(
  { root }: { readonly root: string },
  file: string,
): Promise<void> {
  await writeGit(root, [...ALONE, 'add', '--force', '--', `:(top,literal)${file}`]);
}

/** Files whose conflict git does not know to be settled. */
async function unmergedIn(root: string): Promise<Map<string, Map<number, Stage>>> {
  const { gitDir, reader } = PlaceFiles.of(root);
  const output = await gitOutput(
    root,
    [...ALONE, `--git-dir=${reader}`, `--work-tree=${root}`, 'ls-files', '--unmerged', '-z'],
    { moreEnv: { GIT_INDEX_FILE: path.join(gitDir, 'index') } },
  );
  const found = new Map<string, Map<number, Stage>>();
  for (const line of output.toString('utf8').split('\0')) {
    const [, mode, object, stage, name] = /^(\d+) ([0-9a-f]+) (\d)\t(.+)$/s.exec(line) ?? [];
    if (mode !== undefined && object !== undefined && name !== undefined) {
      const stages = found.get(name) ?? new Map<number, Stage>();
      found.set(name, stages.set(Number(stage), { mode, object }));
    }
  }
  return found;
}

async function kindOf(root: string, name: string, stages: Stages): Promise<ConflictKind> {
  const [ours, theirs] = [stages.get(2), stages.get(3)];
  const isPlain = [...stages.values()].every(({ mode }) => mode.startsWith('100'));
  if (!isPlain || (ours === undefined && theirs === undefined)) {
    return 'other';
  }
  if (ours === undefined || theirs === undefined) {
    return stages.has(1) ? (ours === undefined ? 'deletedHere' : 'deletedThere') : 'other';
  }
  const isText =
    (await isMerged(root, name)) &&
    !(await isBinary(root, ours)) &&
    !(await isBinary(root, theirs));
  return isText ? 'text' : 'binary';
}

/** Whether attributes let git merge its lines. */
async function isMerged(root: string, name: string): Promise<boolean> {
  const { reader } = PlaceFiles.of(root);
  const place = [`--git-dir=${reader}`, `--work-tree=${root}`];
  const args = [...ALONE, ...place, 'check-attr', '-z', 'merge', '--', name];
  const { stdout } = await gitResult(root, args);
  return !['unset', 'binary'].includes(stdout.toString('utf8').split('\0')[2] ?? '');
}

async function isBinary(root: string, { object }: Stage): Promise<boolean> {
  const { gitDir, reader } = PlaceFiles.of(root);
  const { stdout } = await gitResult(
    root,
    [...ALONE, `--git-dir=${reader}`, 'cat-file', 'blob', object],
    // What is longer is cut, and its beginning tells enough.
    {
      maxBytes: MAX_BYTES,
      moreEnv: { GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(gitDir, 'objects') },
    },
  );
  return stdout.subarray(0, TEXT_BYTES).includes(0);
}

async function hasMarks(file: string): Promise<boolean> {
  if ((await lstat(file).catch(() => undefined))?.isFile() !== true) {
    return false;
  }
  const text = (await readPlainFile(file, MAX_BYTES))?.toString('latin1') ?? '';
  return /^<{7}(?: |\r?$)/m.test(text) && /^={7}\r?$/m.test(text) && /^>{7}(?: |\r?$)/m.test(text);
}

async function exists(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => undefined)) !== undefined;
}
