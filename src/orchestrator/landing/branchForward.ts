import { existsSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../base/messageOf.ts';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { waitUntil } from '../../base/waiting.ts';
import { filesInTheWay } from '../git/filesInTheWay.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { isGitLocked } from '../git/gitErrors.ts';
import { isAncestor } from '../git/isAncestor.ts';
import { operationOn } from '../git/operations.ts';
import { NO_HOOKS, runGit, writeGit } from '../git/runGit.ts';
import { changedPaths, mergeForward, namedFiles } from '../git/treeCommit.ts';
import { type BranchState, readBranchState } from './branchState.ts';
import { filesAsIn, fittingFiles, stageAsIn } from './indexEntries.ts';
import type { SharedFiles } from './sharedFiles.ts';

/** Why a branch stays where it is for now. */
export interface Held {
  readonly kind: 'held';
  /**
   * - `localChanges`: local changes or untracked files, see `files`
   * - `locked`: another git process works there, or has died
   * - `operation`: a rebase, a merge or the like is not finished
   * - `otherWorktree`: another work tree has the branch checked out
   * - `diverged`: a person has committed on the branch meanwhile
   * - `refused`: git gave another reason
   */
  readonly code: 'localChanges' | 'locked' | 'operation' | 'otherWorktree' | 'diverged' | 'refused';
  readonly reason: Message;
  /** The files that are in the way, relative to the top folder. */
  readonly files: readonly string[];
  /** For `diverged`: files that git does not track, and that a merge by hand would overwrite. */
  readonly untracked?: readonly string[];
}

export type Forward =
  | { readonly kind: 'followed' }
  /** Somebody else has moved the branch; nothing was changed. */
  | { readonly kind: 'moved' }
  | Held;

/** The branch of the user's repository that landings advance. */
export interface LandingBranch extends SharedFiles {
  /** Absolute path of the user's top folder. */
  readonly root: string;
  readonly branch: string;
  /** The branch with `refs/heads/`. */
  readonly ref: string;
  readonly tipRef: string;
}

/** No hooks, and no `git gc` at a time that the person did not choose. */
export const QUIET = [...NO_HOOKS, ...['-c', 'gc.auto=0', '-c', 'maintenance.auto=false']];
/** Patience with another git process that works in the same work tree, in ms. */
const LOCK_PATIENCE_MS = 1_000;
const LOCK_STEP_MS = 20;
/** How often somebody may switch branches at the same moment. */
const TRIES = 3;

/**
 * Moves a branch forward. If the user's work tree has it checked out, git fast-forwards both, files first, as for
 * the person's own `git merge --ff-only`: it refuses rather than changing a file with local changes, and a person's
 * commit at the same time makes it refuse as well. Otherwise only the ref moves, by compare-and-swap.
 *
 * Git has no lock against `git switch` between our look at HEAD and the move. Both ways this can go wrong are
 * found by looking again, and taken back:
 *
 * - The person leaves the branch just before the fast-forward, which then moves the branch they went to: that one is
 *   reset to where it was, with `--keep`, and the landing is tried again.
 * - The person checks the branch out just before the ref moves, with the old files: the ref is moved back, again
 *   by compare-and-swap, and the landing is tried again, now as a fast-forward of the files. As long as the person's
 *   switch is not finished, this cannot be seen; therefore it is looked for once more at the next opportunity
 *   ({@link isLeftBehind}).
 */
export class BranchForward {
  private readonly place: LandingBranch;
  /** The last move of the ref alone, until the branch was seen checked out. */
  private unseen: { readonly from: string; readonly to: string } | undefined;

  constructor(place: LandingBranch) {
    this.place = place;
  }

  /**
   * @param before a look at the branch a moment ago
   * @param to full hash of a descendant of the branch
   * @throws git's message
   */
  async to(before: BranchState, to: string): Promise<Forward> {
    const { commit: from } = before;
    let state = before;
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (from === undefined || state.commit !== from) {
        return { kind: state.commit === to ? 'followed' : 'moved' };
      }
      const held = await this.held(state);
      if (held !== undefined) {
        return held;
      }
      const done = state.isHere ? await this.withFiles(from, to) : await this.refAlone(from, to);
      if (done !== 'again') {
        return done;
      }
      state = await this.read();
    }
    const reason = say(
      'The branch {0} was checked out and left again at the same moment.',
      shorten(this.place.branch, 200),
    );
    return { kind: 'held', code: 'refused', reason, files: [] };
  }

  /**
   * Whether a work tree has the branch checked out with the files from before our last move of the ref: then a commit
   * there would undo the landed work.
   * @returns the move to take back
   */
  async isLeftBehind(
    state: BranchState,
  ): Promise<{ readonly from: string; readonly to: string } | undefined> {
    const move = this.unseen;
    if (move === undefined || (state.commit === move.to && !isCheckedOut(state))) {
      return undefined;
    }
    this.unseen = undefined;
    const isBehind = state.commit === move.to && (await this.hasOldFiles(state, move));
    return isBehind ? move : undefined;
  }

  /** Takes a move of the ref back. @returns false if the branch is elsewhere now */
  async takeBack(move: { readonly from: string; readonly to: string }): Promise<boolean> {
    await this.updateRef(move.to, move.from);
    return (await this.read()).commit === move.from;
  }

  private read(): Promise<BranchState> {
    const { ref, root, tipRef } = this.place;
    return readBranchState(root, ref, tipRef);
  }

  /** What is known to prevent the move before it is tried. */
  private async held({ elsewhere, isHere }: BranchState): Promise<Held | undefined> {
    const { branch, ref, root } = this.place;
    const name = shorten(branch, 200);
    if (elsewhere !== undefined) {
      const reason = say('The branch {0} is checked out in {1}.', name, elsewhere);
      return { kind: 'held', code: 'otherWorktree', reason, files: [] };
    }
    const gitDir = gitDirOf(root);
    if (gitDir === undefined) {
      return undefined;
    }
    const operation = operationOn(gitDir, ref, isHere);
    if (operation !== undefined) {
      const reason = say('A "git {0}" of the branch {1} is not finished.', operation, name);
      return { kind: 'held', code: 'operation', reason, files: [] };
    }
    if (isHere && !(await this.isUnlocked())) {
      return this.locked();
    }
    return undefined;
  }

  private locked(): Held {
    const reason = say(
      'Another git process is working in this repository, or one crashed and left its lock file behind.',
    );
    return { kind: 'held', code: 'locked', reason, files: [] };
  }

  /** Waits a moment for another git process to finish. */
  private async isUnlocked(): Promise<boolean> {
    const lock = path.join(gitDirOf(this.place.root) ?? '', 'index.lock');
    const end = Date.now() + LOCK_PATIENCE_MS;
    while (existsSync(lock)) {
      if (Date.now() >= end) {
        return false;
      }
      await waitUntil(Date.now() + LOCK_STEP_MS);
    }
    return true;
  }

  /** The user's work tree has the branch checked out. */
  private async withFiles(from: string, to: string): Promise<Forward | 'again'> {
    const { root } = this.place;
    const first = await this.merge(from, to);
    if (!('refusal' in first)) {
      return first.done;
    }
    const inTheWay = await filesInTheWay(root, from, to);
    // Our own ticks and notes, or what a git that was killed in the middle of this move has left.
    const ours = await filesAsIn(root, to, inTheWay);
    const others = inTheWay.filter(file => !ours.includes(file));
    const fitting = await fittingFiles(this.place, { from, to }, others);
    const files = others.filter(file => !fitting.includes(file));
    if (files.length > 0) {
      return localChanges(files);
    }
    const staged = [...ours, ...fitting];
    const undo = staged.length === 0 ? undefined : await stageAsIn(root, to, staged);
    if (undo === undefined) {
      return this.refused(first.refusal);
    }
    const second = await this.merge(from, to);
    if ('refusal' in second || second.done === 'again' || second.done.kind !== 'followed') {
      await undo();
    }
    return 'refusal' in second ? this.refused(second.refusal) : second.done;
  }

  private refused(refusal: Error): Held {
    const reason = say('git gives this reason: {0}', shorten(messageOf(refusal), 600));
    return isGitLocked(refusal)
      ? this.locked()
      : { kind: 'held', code: 'refused', reason, files: [] };
  }

  private async merge(
    from: string,
    to: string,
  ): Promise<{ readonly done: Forward | 'again' } | { readonly refusal: Error }> {
    const { root } = this.place;
    const refusal = await refusalOf(
      writeGit(root, [...QUIET, ...mergeForward(to)], {
        moreEnv: { GIT_REFLOG_ACTION: actionOf(to) },
      }),
    );
    // Git's answer alone says little: it does not know which branch was meant.
    const after = await this.read();
    if (after.commit !== from) {
      return { done: { kind: (await this.hasGot(after, to)) ? 'followed' : 'moved' } };
    }
    if (refusal === undefined) {
      await this.undoElsewhere(to);
      return { done: 'again' };
    }
    return after.isHere ? { refusal } : { done: 'again' };
  }

  /** The fast-forward went to a branch that the person had switched to a moment before. */
  private async undoElsewhere(to: string): Promise<void> {
    const { root } = this.place;
    const [head, action] = (
      await runGit(root, 'log', '--walk-reflogs', '-1', '--format=%H%x00%gs', 'HEAD')
    )
      .trim()
      .split('\0');
    if (head === to && action?.startsWith(actionOf(to)) === true) {
      // If the person has changed these files since, git refuses: then their branch has more commits than it had.
      await writeGit(root, [...QUIET, 'reset', '--keep', '--quiet', 'HEAD@{1}']).catch(
        () => undefined,
      );
    }
  }

  /** No work tree has the branch checked out. */
  private async refAlone(from: string, to: string): Promise<Forward | 'again'> {
    if (!(await isAncestor(this.place.root, from, to))) {
      throw new Error(`${to} does not come after ${from}.`);
    }
    const refusal = await this.updateRef(from, to);
    // A person's switch may be in progress.
    await this.isUnlocked();
    const after = await this.read();
    if (after.commit === from) {
      return this.refused(refusal ?? new Error(''));
    }
    if (!(await this.hasGot(after, to))) {
      return { kind: 'moved' };
    }
    const move = { from, to };
    this.unseen = after.commit === to ? move : undefined;
    if ((await this.isLeftBehind(after)) && (await this.takeBack(move))) {
      return 'again';
    }
    return { kind: 'followed' };
  }

  private async updateRef(from: string, to: string): Promise<Error | undefined> {
    const { ref, root } = this.place;
    const args = [...QUIET, 'update-ref', '-m', actionOf(to), ref, to, from];
    return refusalOf(writeGit(root, args));
  }

  private async hasGot({ commit }: BranchState, to: string): Promise<boolean> {
    return commit !== undefined && (await isAncestor(this.place.root, to, commit));
  }

  /** Whether the index has the old version of every file that the move has changed. */
  private async hasOldFiles(
    { elsewhere, isHere }: BranchState,
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<boolean> {
    const folder = isHere ? this.place.root : elsewhere;
    if (folder === undefined) {
      return false;
    }
    const [changed, staged] = await Promise.all([
      changedPaths(folder, from, to),
      runGit(
        folder,
        ...['--no-optional-locks', 'diff-index', '--cached', '--name-only', '--no-renames'],
        ...['-z', from, '--'],
      ),
    ]);
    const differing = new Set(staged.split('\0'));
    return changed.length > 0 && !changed.some(file => differing.has(file));
  }
}

/** Why git refuses to write; `undefined` if it does not. */
function refusalOf(written: Promise<unknown>): Promise<Error | undefined> {
  return written.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : new Error(messageOf(error))),
  );
}

function localChanges(files: readonly string[]): Held {
  const reason = say('There are local changes or untracked files: {0}', namedFiles(files));
  return { kind: 'held', code: 'localChanges', reason, files };
}

/** The start of an entry in git's reflogs. */
function actionOf(to: string): string {
  return `ralph-fresh: land ${to.slice(0, 10)}`;
}

function isCheckedOut({ elsewhere, isHere }: BranchState): boolean {
  return isHere || elsewhere !== undefined;
}
