import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { replaceFile } from '../../base/replaceFile.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { changedTrackedFiles, GitRepository } from '../git/git.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { isAncestor } from '../git/isAncestor.ts';
import { runGit, writeGit } from '../git/runGit.ts';
import {
  addedPaths,
  changedPaths,
  commitOnHead,
  fastForward,
  requireClean,
  requireNoState,
  requireUnlocked,
} from '../git/treeCommit.ts';
import { TreeEditor } from '../git/treeEditor.ts';
import { workspaceKey } from '../git/workspaceKey.ts';
import { replaceInFolder } from '../stories/edit/folderEdit.ts';
import { isTickDifference } from '../stories/edit/tickDifference.ts';
import { isFolderPath } from '../stories/formats/folderText.ts';
import { readStoryBytes } from '../stories/storyFile.ts';
import { isStoryFolder } from '../stories/storyFolder.ts';
import { committedFile, placeInRepository } from './committedStories.ts';
import { readRefs } from './refs.ts';
import { isRunId } from './runFiles.ts';

/**
 * Prefix of the restore points, `<workspace>/<run>/<n>`. The refs protect their commits from git's garbage
 * collection.
 */
const REFS = 'refs/ralph-fresh/';
/** A full SHA-1 or SHA-256 hash as git writes it; it needs no lookup. All zeros would remove the ref. */
const FULL_HASH = /^(?!0+$)(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The commit of the repository before an iteration. */
export interface RestorePoint {
  readonly iteration: number;
  /** Full hash. */
  readonly commit: string;
}

export type RollBack =
  /** `commit` is the new commit; `files` are the changed ones, and `kept` those that stay, relative to the top folder. */
  | {
      readonly kind: 'rolledBack';
      readonly commit: string;
      readonly files: readonly string[];
      readonly kept: readonly string[];
    }
  /** Only asked: nothing has changed. */
  | {
      readonly kind: 'possible';
      readonly files: readonly string[];
      readonly kept: readonly string[];
    }
  /** HEAD already has these files. */
  | { readonly kind: 'nothingToDo' };

/**
 * Keeps a commit as the restore point of an iteration; replaces an existing one.
 *
 * @param dir absolute path of the workspace; other workspaces of the repository have their own restore points
 * @throws {HumanError} if there is no such commit, or git cannot write
 */
export async function setRestorePoint(
  dir: string,
  runId: string,
  iteration: number,
  commit: string,
): Promise<void> {
  const ref = `${refsOf(dir, runId)}${iteration}`;
  if (!Number.isSafeInteger(iteration) || iteration < 0) {
    throw new HumanError(say('{0} is not an iteration number.', iteration));
  }
  const repository = new GitRepository(dir);
  const hash = FULL_HASH.test(commit) ? commit : await repository.resolveCommit(commit);
  try {
    await runGit(dir, 'update-ref', ref, hash);
  } catch (error) {
    await repository.resolveCommit(commit);
    throw asHumanError(error, say('git cannot keep a restore point'));
  }
}

/**
 * Keeps commits that are no longer on the branch, so that git does not remove them before a person has seen them.
 * They are removed together with the restore points of the run.
 *
 * @param dir absolute path of the workspace
 * @param hashes full hashes
 * @throws {HumanError} if git cannot write
 */
export async function keepLostCommits(
  dir: string,
  runId: string,
  hashes: readonly string[],
): Promise<void> {
  const prefix = `${refsOf(dir, runId)}lost/`;
  try {
    const commands = hashes.map(hash => `update ${prefix}${hash} ${hash}\n`).join('');
    await writeGit(dir, ['update-ref', '--stdin'], { input: commands });
  } catch (error) {
    throw asHumanError(error, say('git cannot keep commits that are no longer on the branch'));
  }
}

/**
 * @returns the restore points of a run, by iteration
 * @throws {HumanError} if the repository cannot be read
 */
export async function restorePoints(dir: string, runId: string): Promise<RestorePoint[]> {
  const prefix = refsOf(dir, runId);
  const refs = await readRefs(dir, prefix);
  return refs
    .map(({ name, commit }) => ({ iteration: Number(name.slice(prefix.length)), commit }))
    .filter(({ iteration }) => Number.isSafeInteger(iteration))
    .sort((a, b) => a.iteration - b.iteration);
}

/**
 * Removes the restore points of all runs of a workspace except some.
 * @returns the number of removed restore points
 * @throws {HumanError} if git cannot write
 */
export async function removeRestorePoints(
  dir: string,
  keepRunIds: Iterable<string>,
): Promise<number> {
  const kept = new Set(keepRunIds);
  const prefix = refsOf(dir);
  const refs = (await readRefs(dir, prefix)).filter(
    ({ name }) => !kept.has(name.slice(prefix.length).split('/', 1)[0] ?? ''),
  );
  if (refs.length === 0) {
    return 0;
  }
  try {
    const commands = refs.map(({ name, commit }) => `delete ${name} ${commit}\n`).join('');
    await writeGit(dir, ['update-ref', '--stdin'], { input: commands });
  } catch (error) {
    throw asHumanError(error, say('git cannot remove old restore points'));
  }
  return refs.length;
}

/**
 * Restores the files of an earlier commit by one new commit on top of HEAD. The history stays, so this can be
 * undone. All tracked files of the repository are restored, including the story file if it is tracked.
 *
 * The new commit is created first, which changes nothing yet; then it is merged as a fast-forward. Of the commands
 * that move files and branch to a commit, this is the only one that overwrites neither untracked *nor* ignored
 * files (`reset --keep` and `read-tree -u` overwrite ignored ones). Git moves the branch after the files: if the
 * process is killed in between, HEAD is where it was. Hooks that check commits do not run, because these files have
 * been committed before; the post-merge hook does.
 *
 * A story that was set back to not done, by the loop or a person, is an uncommitted change of the story file. If
 * that is the whole change of this file, it is not in the way: the file gets its earlier content anyway.
 *
 * @param options.to hash of the commit to restore
 * @param options.message of the new commit
 * @param options.storyFile absolute path, if there is a story file
 * @param options.keepAdded recognizes files that stay although that commit does not have them, by their path relative to
 * the top folder; by default none
 * @param options.edits new contents of files that stay, by path; only asked if some stay
 * @param options.restored contents that files of that commit get instead of their own, by path
 * @param options.isDryRun only says what would be restored, or why it cannot be
 * @throws {HumanError} if HEAD is not a descendant of that commit, tracked files have uncommitted changes, an
 * untracked file is in the way, or git is locked; nothing has changed then
 */
export async function rollBack(
  dir: string,
  options: {
    readonly to: string;
    readonly message: string;
    readonly storyFile?: string | undefined;
    readonly keepAdded?: (file: string) => boolean;
    readonly edits?: () => Promise<ReadonlyMap<string, Buffer> | undefined>;
    readonly restored?: ReadonlyMap<string, Buffer>;
    readonly isDryRun?: boolean;
  },
): Promise<RollBack> {
  const { edits, isDryRun, keepAdded, message, restored = new Map(), storyFile } = options;
  const repository = new GitRepository(dir);
  const to = await repository.resolveCommit(options.to);
  const head = await repository.head();
  try {
    if (head === undefined || !(await isAncestor(dir, to, head))) {
      throw new HumanError(
        say(
          'The current branch does not descend from {0}, so there is no way back to it. Check out the branch that the run worked on.',
          to.slice(0, 10),
        ),
      );
    }
    const added = keepAdded === undefined ? [] : await addedPaths(dir, to, head);
    const staying = added.filter(file => keepAdded?.(file));
    const tree = await treeWith(dir, { to, head, staying, edits, restored });
    const changed = await changedPaths(dir, head, tree);
    const edited = new Set(changed);
    const kept = staying.filter(file => !edited.has(file));
    const uncommitted = await changedTrackedFiles(dir);
    const ticks = await uncommittedTicks(repository, { head, storyFile, uncommitted });
    const dirty = uncommitted.filter(file => ticks?.names.includes(file) !== true);
    if (changed.length === 0) {
      // A stopped agent may have left uncommitted work.
      await requireClean(dir, dirty);
      return { kind: 'nothingToDo' };
    }
    await requireUnlocked(dir);
    requireNoState(changed);
    await requireClean(dir, dirty);
    if (isDryRun) {
      return { kind: 'possible', files: changed, kept };
    }
    const commit = await commitOnHead(dir, { tree, head, message });
    const isInTheWay = ticks?.names.some(name => changed.includes(name)) === true;
    if (isInTheWay) {
      await ticks.replace(ticks.file, ticks.now, ticks.committed);
    }
    try {
      await fastForward(dir, commit);
    } catch (error) {
      if (isInTheWay) {
        await ticks.replace(ticks.file, ticks.committed, ticks.now);
      }
      throw error;
    }
    return { kind: 'rolledBack', commit, files: changed, kept };
  } catch (error) {
    throw asHumanError(error, say('git cannot go back to {0}', to.slice(0, 10)));
  }
}

/** @returns the tree of a commit, with some files from HEAD */
async function treeWith(
  dir: string,
  {
    edits,
    head,
    restored,
    staying,
    to,
  }: {
    readonly to: string;
    readonly head: string;
    readonly staying: readonly string[];
    readonly edits?: (() => Promise<ReadonlyMap<string, Buffer> | undefined>) | undefined;
    readonly restored: ReadonlyMap<string, Buffer>;
  },
): Promise<string> {
  if (staying.length === 0 && restored.size === 0) {
    return `${to}^{tree}`;
  }
  const scratch = await mkdtemp(path.join(tmpdir(), 'ralph-fresh-'));
  try {
    const editor = new TreeEditor(dir, path.join(scratch, 'index'));
    const tree = await editor.copy(to, head, staying);
    const edited = staying.length === 0 ? undefined : await edits?.();
    const contents = [
      ...[...(edited ?? [])].filter(([file]) => staying.includes(file)),
      ...restored,
    ].map(([file, content]) => ({ file, content }));
    return contents.length === 0 ? tree : await editor.write(tree, head, contents);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The story file, if ticks are its only uncommitted change. */
async function uncommittedTicks(
  repository: GitRepository,
  {
    head,
    storyFile,
    uncommitted,
  }: {
    readonly head: string;
    readonly storyFile: string | undefined;
    readonly uncommitted: readonly string[];
  },
) {
  const root = storyFile === undefined ? undefined : await repository.root();
  if (storyFile === undefined || root === undefined) {
    return undefined;
  }
  const name = placeInRepository(root, storyFile);
  const isFolder = isStoryFolder(storyFile);
  const names = uncommitted.filter(
    file =>
      file === name ||
      (isFolder && file.startsWith(`${name}/`) && isFolderPath(file.slice(name.length + 1))),
  );
  if (names.length === 0) {
    return undefined;
  }
  const committed = await committedFile(root, head, storyFile);
  const now = await readStoryBytes(storyFile);
  return committed !== undefined &&
    now !== undefined &&
    isTickDifference(storyFile, committed.toString(), now.toString())
    ? { file: storyFile, names, committed, now, replace: isFolder ? replaceInFolder : replaceFile }
    : undefined;
}

/** With a slash at the end. */
function refsOf(dir: string, runId?: string): string {
  const own = `${REFS}${workspaceKey(dir)}/`;
  if (runId === undefined) {
    return own;
  }
  if (!isRunId(runId)) {
    throw new HumanError(say('"{0}" is not a run id.', shorten(runId, 80)));
  }
  return `${own}${runId}/`;
}
