import { isAncestor } from '../git/isAncestor.ts';
import { mergeTrees, scratchCommit } from '../git/mergeTree.ts';
import { hashNameOf, newObject, writeObjects } from '../git/objects.ts';
import type { TreeEntry, TreeView } from '../git/treeView.ts';
import type { Conflict } from './conflict.ts';
import { isShared, type SharedFiles } from './sharedFiles.ts';
import { changedFiles, type SharedView, viewShared } from './sharedViews.ts';

/** Two commits to merge, and how the shared files are merged. */
export interface SharedMerge {
  /** Full hash of the commit that the result comes after. */
  readonly target: string;
  /** Full hash of the other one. */
  readonly work: string;
  readonly shared: SharedFiles;
  /** Where the work began, if that is known. If `target` does not have it any more, it must not come back. */
  readonly start?: string;
  /** The commit that both come from, if its files and those of `work` are needed for that. */
  readonly base?: string;
  /**
   * New contents of the shared files, by path; the others are as in `target`. Files that `target` does not have
   * are left out of the result.
   */
  readonly contents: (views: SharedViews) => ReadonlyMap<string, Buffer>;
}

/** The shared files of the commits. */
export interface SharedViews {
  readonly target: SharedView;
  /** Both only if a `base` was given. */
  readonly work?: SharedView | undefined;
  readonly base?: SharedView | undefined;
  /** Whether nothing but the shared files differs from `target`. */
  readonly isSameElsewhere: boolean;
}

export interface MergedTree {
  readonly kind: 'merged';
  readonly tree: string;
  /** The tree of `target`. */
  readonly targetTree: string;
  /** `target` does not have the commit at which the work began: a person has rewritten the history. */
  readonly isRewritten: boolean;
}

/**
 * Merges two commits as git does, except for the shared files, which never conflict. Only creates git objects.
 * @throws {HumanError} if git is too old
 * @throws git's message
 */
export async function mergeSharing(
  root: string,
  merge: SharedMerge,
): Promise<MergedTree | Conflict> {
  const { start } = merge;
  const isRewritten = start !== undefined && !(await isAncestor(root, start, merge.target));
  const merged = await mergeRest(root, merge, isRewritten ? start : undefined);
  if (merged.kind === 'conflict') {
    return merged;
  }
  const more = merge.base === undefined ? [] : [merge.work, merge.base];
  const roots = [merge.target, merged.tree, ...more];
  const { folder, paths, shared, views } = await viewShared(root, roots, merge.shared);
  const [target, both] = views;
  const [ours, , work, base] = shared;
  if (target === undefined || both === undefined || ours === undefined) {
    throw new Error('git cat-file gave too few answers.');
  }
  const asInTarget = both.with(entriesOf(target, paths, both));
  if ('blocked' in asInTarget) {
    return { kind: 'conflict', reason: 'files', files: [asInTarget.blocked] };
  }
  const contents = merge.contents({
    target: ours,
    work,
    base,
    isSameElsewhere: asInTarget.tree === target.id,
  });
  const files = [...contents].flatMap(([path, content]) =>
    path === folder
      ? [...changedFiles(folder, ours.file(folder), content)]
      : [[path, content] as const],
  );
  const blobs = files.map(([path, content]) => ({
    path,
    blob: newObject('blob', content, hashNameOf(target.id)),
  }));
  const entries = entriesOf(target, paths, both);
  for (const { blob, path } of blobs) {
    entries.set(path, { mode: target.entry(path)?.mode ?? '100644', id: blob.id });
  }
  const edited = both.with(entries);
  if ('blocked' in edited) {
    return { kind: 'conflict', reason: 'files', files: [edited.blocked] };
  }
  if (edited.objects.length > 0) {
    await writeObjects(root, [...blobs.map(({ blob }) => blob), ...edited.objects]);
  }
  return { kind: 'merged', tree: edited.tree, targetTree: target.id, isRewritten };
}

/**
 * Merges everything but the shared files; what the tree has at their paths is undecided.
 * @param base counts as the commit that both come from
 */
async function mergeRest(
  root: string,
  { shared, target, work }: SharedMerge,
  base: string | undefined,
): Promise<{ readonly kind: 'merged'; readonly tree: string } | Conflict> {
  const isOurs = (path: string) => isShared(shared, path);
  const first = await mergeTrees(root, target, work, base);
  if (first.kind === 'unrelated') {
    return { kind: 'conflict', reason: 'unrelated', files: [] };
  }
  if (first.kind === 'merged' || first.paths.every(isOurs)) {
    return { kind: 'merged', tree: first.tree };
  }
  const conflict = (files: readonly string[]): Conflict => ({
    kind: 'conflict',
    reason: 'files',
    files: files.filter(file => !isOurs(file)).sort(),
  });
  // The agent may have moved a shared file, for example. Once more, as if it had not touched them.
  const { paths, views } = await viewShared(root, [target, work], shared);
  const [ours, theirs] = views;
  const edited = ours && theirs?.with(entriesOf(ours, paths, theirs));
  if (edited !== undefined && 'blocked' in edited) {
    return { kind: 'conflict', reason: 'files', files: [edited.blocked] };
  }
  if (edited === undefined || edited.tree === theirs?.id) {
    return conflict(first.paths);
  }
  await writeObjects(root, edited.objects);
  const untouched = await scratchCommit(root, edited.tree, work);
  const second = await mergeTrees(root, target, untouched, base);
  if (second.kind === 'merged') {
    return second;
  }
  return conflict(second.kind === 'conflict' ? second.paths : first.paths);
}

/** The entries of the shared files that differ, `undefined` for those that the tree does not have. */
function entriesOf(
  view: TreeView,
  paths: readonly string[],
  other: TreeView,
): Map<string, TreeEntry | undefined> {
  const isSame = (a: TreeEntry | undefined, b: TreeEntry | undefined) =>
    a?.id === b?.id && a?.mode === b?.mode;
  return new Map(
    paths.flatMap(path => {
      const entry = view.entry(path);
      return isSame(entry, other.entry(path)) ? [] : [[path, entry] as const];
    }),
  );
}
