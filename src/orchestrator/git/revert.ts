import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say, type Words } from '../../base/say.ts';
import { findCommits, type LinkedHash } from './changes.ts';
import { GitRepository } from './git.ts';
import { asHumanError } from './gitErrors.ts';
import { isTooOld, MERGE_TREE_GIT, scratchCommit } from './mergeTree.ts';
import { gitResult, runGit, writeGit } from './runGit.ts';
import { commitLine } from './takenBack.ts';
import {
  addedPaths,
  changedPaths,
  commitOnHead,
  fastForward,
  namedFiles,
  requireClean,
  requireNoState,
  requireUnlocked,
} from './treeCommit.ts';
import { TreeEditor } from './treeEditor.ts';

export interface RevertOptions {
  /** Full hashes, oldest commit first. */
  readonly hashes: readonly string[];
  /** Merges among them that are reverted as a whole: their first parent is what they were merged into. */
  readonly merges?: ReadonlySet<string>;
  /** Files that stay unchanged, relative to the top folder, whatever the commits did to them. */
  readonly keep?: readonly string[];
  /** Recognizes files that stay although a commit (its full hash) has added them; by default none. */
  readonly keepAdded?: (file: string, hash: string) => boolean;
  /** New contents for files in the new commit, by path. The files must be in HEAD. */
  readonly edits?: ReadonlyMap<string, Buffer>;
}

/** The effects of a revert. */
export interface RevertPlan {
  /** Full hash of the HEAD for which it was planned. */
  readonly head: string;
  /** The tree of the new commit. */
  readonly tree: string;
  /** Full hashes of the reverted commits, newest first. */
  readonly commits: readonly string[];
  /** Hashes that are not in the history of HEAD (any more). */
  readonly elsewhere: readonly string[];
  /** Full hashes of commits that a later one has taken back already, such as a rollback; newest first. */
  readonly takenBack: readonly string[];
  /** The files that it changes; empty if HEAD no longer contains any of the changes. */
  readonly files: readonly string[];
  /** Files that stay although a commit has added them, except for those to keep anyway. */
  readonly kept: readonly string[];
  /** Number of files; a renamed file counts once. */
  readonly fileCount: number;
}

/**
 * Computes the files without some commits, as `git revert` would, newest commit first. The work tree, the index and
 * the branches are not changed: all merges only create git objects.
 *
 * @param dir absolute path of a folder in the work tree
 * @throws {HumanError} with the next step: none of the commits is in the history, one is a merge, later work
 * conflicts, affected files have uncommitted changes
 */
export async function planRevert(dir: string, options: RevertOptions): Promise<RevertPlan> {
  const { edits = new Map(), hashes, keep = [], keepAdded, merges = new Set() } = options;
  const scratch = await mkdtemp(path.join(tmpdir(), 'ralph-fresh-'));
  try {
    const repository = new GitRepository(dir);
    const head = await repository.head();
    if (head === undefined) {
      throw new HumanError(
        say('This repository has no commit yet, so there is nothing to revert.'),
      );
    }
    const { commits: known, elsewhere } = await commitsOfHead(dir, head, hashes);
    const { gone } = await commitLine(dir, head);
    // Reverting one once more could take back later work with the same lines.
    const commits = known.filter(({ hash }) => !gone.has(hash));
    const takenBack = known.flatMap(({ hash }) => (gone.has(hash) ? [hash] : []));
    requireNoMerge(commits.filter(({ hash }) => !merges.has(hash)));
    await requireKnownParents(dir, commits);
    const index = new TreeEditor(dir, path.join(scratch, 'index'));
    let tree = await treeOf(dir, head);
    const kept = new Set<string>();
    for (const commit of commits) {
      const step = await without(dir, { commit, keep, keepAdded, index }, tree);
      ({ tree } = step);
      step.kept.forEach(file => {
        kept.add(file);
      });
    }
    const contents = [...edits].map(([file, content]) => ({ file, content }));
    tree = contents.length === 0 ? tree : await index.write(tree, head, contents);
    const files = await changedPaths(dir, head, tree);
    requireNoState(files);
    await requireClean(dir, files);
    const fileCount = (await changedPaths(dir, head, tree, 'joined')).length;
    return {
      ...{ head, tree, commits: commits.map(({ hash }) => hash) },
      ...{ elsewhere, takenBack, files, fileCount, kept: [...kept] },
    };
  } catch (error) {
    throw asHumanError(error, say('git cannot revert these commits'));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * Makes the planned revert: one new commit on top of HEAD, merged as a fast-forward, which preserves untracked and
 * ignored files. As with `rollback`, hooks that check commits do not run.
 *
 * @returns the new commit's full hash
 * @throws {HumanError} if HEAD has changed meanwhile, an affected file has changed, an untracked one is in the way,
 * no author is configured, or git is locked; nothing has changed then
 */
export async function applyRevert(
  dir: string,
  { files, head, tree }: RevertPlan,
  message: string,
): Promise<string> {
  try {
    if ((await new GitRepository(dir).head()) !== head) {
      throw new HumanError(
        say(
          'A commit was made in the meantime, so nothing was reverted. Look at the changes again, then try again.',
        ),
      );
    }
    await requireUnlocked(dir);
    await requireClean(dir, files);
    const commit = await commitOnHead(dir, { tree, head, message });
    await fastForward(dir, commit);
    return commit;
  } catch (error) {
    throw asHumanError(error, say('git cannot revert these commits'));
  }
}

async function commitsOfHead(
  dir: string,
  head: string,
  hashes: readonly string[],
): Promise<{ readonly commits: readonly LinkedHash[]; readonly elsewhere: readonly string[] }> {
  const { found, missing } = await findCommits(dir, hashes);
  const foreign = new Set(
    found.length === 0
      ? []
      : (
          await runGit(dir, 'rev-list', ...found.map(({ hash }) => hash), '--not', head, '--')
        ).split(/\r?\n/),
  );
  const commits = found.filter(({ hash }) => !foreign.has(hash)).reverse();
  const elsewhere = [
    ...missing,
    ...found.map(({ hash }) => hash).filter(hash => foreign.has(hash)),
  ];
  if (commits.length === 0) {
    throw new HumanError(
      elsewhere.length === 0
        ? say('There is no commit to revert.')
        : say(
            'None of the commits ({0}) is in the history of the current branch. Check out the branch that the run worked on; after a rebase look for them there with "git log".',
            namedHashes(elsewhere),
          ),
    );
  }
  return { commits, elsewhere };
}

function requireNoMerge(commits: readonly LinkedHash[]): void {
  const merges = commits.filter(({ parents }) => parents.length > 1).map(({ hash }) => hash);
  if (merges.length > 0) {
    throw new HumanError(
      say(
        '{0} merges two branches, and only you can decide which side to keep. Revert it by hand: git revert -m 1 {1}',
        namedHashes(merges),
        merges[0]?.slice(0, 10) ?? '',
      ),
    );
  }
}

/**
 * Checks for the first commit of a shallow clone, which seems to have no parent: reverting it would delete every
 * file.
 */
async function requireKnownParents(dir: string, commits: readonly LinkedHash[]): Promise<void> {
  for (const { hash, parents } of commits) {
    if (parents.length > 0) {
      continue;
    }
    const [headers = ''] = (await runGit(dir, 'cat-file', 'commit', hash)).split('\n\n');
    if (/^parent /m.test(headers)) {
      throw new HumanError(
        say(
          'This is a shallow clone that begins with commit {0}, so what that commit changed is not known here. Fetch the rest of the history, then try again: git fetch --unshallow',
          hash.slice(0, 7),
        ),
      );
    }
  }
}

interface Undone {
  readonly commit: LinkedHash;
  readonly keep: readonly string[];
  readonly keepAdded: RevertOptions['keepAdded'];
  readonly index: TreeEditor;
}

/** @returns the tree without the commit's changes, and the files of it that stay although the commit has added them */
async function without(
  dir: string,
  { commit, index, keep, keepAdded }: Undone,
  tree: string,
): Promise<{ readonly tree: string; readonly kept: readonly string[] }> {
  const { hash, parents } = commit;
  const [parent] = parents;
  const byHand = `${parents.length > 1 ? '-m 1 ' : ''}${hash.slice(0, 10)}`;
  const before =
    parent === undefined ? (await writeGit(dir, ['mktree'])).trim() : await treeOf(dir, parent);
  const touched = new Set(await changedPaths(dir, before, hash));
  const added = keepAdded === undefined ? [] : await addedPaths(dir, before, hash);
  const kept = added.filter(file => keepAdded?.(file, hash) && !keep.includes(file));
  const staying = [...keep.filter(file => touched.has(file)), ...kept];
  // As if the commit had not changed the files to keep: then the merge does not change them.
  const theirs = staying.length === 0 ? before : await index.copy(before, hash, staying);
  // Two commits whose parent is the reverted one make it their merge base; such a merge is a revert.
  const args = [
    ...['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages'],
    await scratchCommit(dir, tree, hash),
    await scratchCommit(dir, theirs, hash),
  ];
  const merged = await gitResult(dir, args, { writes: true });
  const output = merged.stdout.toString('utf8');
  const [result = '', ...conflicts] = output.split('\0').filter(field => field !== '');
  if (merged.code === 0 && result !== '') {
    return { tree: result, kept };
  }
  if (merged.code === 1 && conflicts.length > 0) {
    throw new HumanError(
      say(
        'Commit {0} cannot be reverted on its own: later changes in {1} build on it. Nothing was changed. Revert the later work first, or resolve it by hand: git revert {2}',
        hash.slice(0, 7),
        namedFiles([...new Set(conflicts)]),
        byHand,
      ),
    );
  }
  throw isTooOld(merged.stderr)
    ? new HumanError(
        say(
          'Reverting needs git {0} or newer. Update git, or revert by hand: git revert {1}',
          MERGE_TREE_GIT,
          byHand,
        ),
      )
    : new Error(merged.stderr.trim() || `git merge-tree ended with ${merged.code}.`);
}

async function treeOf(dir: string, commit: string): Promise<string> {
  return (await runGit(dir, 'rev-parse', '--verify', `${commit}^{tree}`)).trim();
}

function namedHashes(hashes: readonly string[]): Words {
  return namedFiles(hashes.map(hash => hash.slice(0, 7)));
}
