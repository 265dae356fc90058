import { HumanError } from '../../base/humanError.ts';
import { say, sentences } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { branchInTheWay, conflictingBranchProblem, requireBranchName } from '../git/branch.ts';
import { untrackedInTheWay } from '../git/filesInTheWay.ts';
import { GitRepository } from '../git/git.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { isAncestor } from '../git/isAncestor.ts';
import { gitResult, runGit, writeGit } from '../git/runGit.ts';
import {
  BranchForward,
  type Forward,
  type Held,
  type LandingBranch,
  QUIET,
} from './branchForward.ts';
import { type BranchState, readBranchState } from './branchState.ts';
import type { Conflict } from './conflict.ts';
import { type SharedFiles, withEntriesOf, withTicksOf } from './sharedFiles.ts';
import { mergeSharing } from './sharedMerge.ts';

export interface TargetOptions extends SharedFiles {
  /** Absolute path of the user's top folder. */
  readonly root: string;
  readonly branch: string;
  /** The ref of the tip while the branch cannot follow, below `refs/ralph-fresh/`. */
  readonly tipRef: string;
}

export interface TargetLook {
  /** Full hash of the commit that the next candidate lands on. */
  readonly tip: string;
  /** Full hash of the branch. */
  readonly branch: string;
  /**
   * - `same`: the branch is at the tip
   * - `ahead`: the tip is ahead of the branch, which could not follow
   * - `diverged`: a person has committed on the branch meanwhile, see {@link Target.joinBase}
   */
  readonly kind: 'same' | 'ahead' | 'diverged';
}

export type Follow =
  /** The branch is at the tip, at this commit. */
  { readonly kind: 'followed'; readonly commit: string } | Held;

/** A merge of branch and tip. It lands like a candidate: `advance(tip, commit)`. */
export interface Join {
  readonly kind: 'join';
  /** Full hashes. */
  readonly commit: string;
  readonly tree: string;
  readonly branch: string;
  readonly tip: string;
}

interface State extends TargetLook {
  readonly refs: BranchState;
}

/**
 * The branch that landings advance, in a repository in which a person works as well. What has landed is reachable from
 * the branch or from the tip's ref at any moment, also if this process is killed: the tip's ref exists before a
 * landing counts that the branch does not have, and is removed only after the branch has it.
 */
export class Target {
  private readonly place: LandingBranch;
  private readonly forward: BranchForward;
  /** The last operation, of those that wait for each other. */
  private last: Promise<unknown> = Promise.resolve();

  /** Where the branch was when it was last read. */
  private lastSeen: string | undefined;

  private constructor(place: LandingBranch) {
    this.place = place;
    this.forward = new BranchForward(place);
  }

  /**
   * Creates the branch from HEAD if it does not exist, without checking it out.
   * @throws {HumanError} if git allows no such branch, or there is no commit yet
   */
  static async open(options: TargetOptions): Promise<Target> {
    const { branch, root, tipRef } = options;
    await requireBranchName(root, branch);
    const ref = `refs/heads/${branch}`;
    try {
      const { commit } = await readBranchState(root, ref, tipRef);
      if (commit === undefined) {
        await createBranch(root, branch, ref);
      }
    } catch (error) {
      throw asHumanError(error, say('git cannot create the branch {0}', shorten(branch, 200)));
    }
    return new Target({ ...options, ref });
  }

  /** Absolute path of the user's top folder. */
  get root(): string {
    return this.place.root;
  }

  get branch(): string {
    return this.place.branch;
  }

  /** The ref of the tip while the branch cannot follow. */
  get tipRef(): string {
    return this.place.tipRef;
  }

  get sharedFiles(): SharedFiles {
    const { progressFile, storyFile } = this.place;
    return { progressFile, storyFile };
  }

  /** @throws {HumanError} if the branch does not exist any more, or the repository cannot be read */
  async look(): Promise<TargetLook> {
    return this.readable(async () => {
      const { branch, kind, tip } = await this.state();
      return { branch, kind, tip };
    });
  }

  /**
   * Lands a commit, if the tip is still the one that it was made on.
   * @param from full hash of that tip
   * @param to full hash of the candidate
   * @throws {HumanError} if the branch does not exist any more, or git cannot write
   */
  async advance(from: string, to: string): Promise<Forward> {
    return this.writable(async () => {
      let state = await this.state();
      if (state.tip === from && state.kind === 'ahead') {
        // What keeps the branch from the last landing keeps it from this one.
        const caughtUp = await this.catchUp(state);
        if (caughtUp.kind === 'held') {
          await this.setTip(from, to);
          return caughtUp;
        }
        state = await this.state();
      }
      if (state.tip !== from) {
        return { kind: 'moved' };
      }
      const isApart =
        state.kind === 'diverged' && !(await isAncestor(this.place.root, state.branch, to));
      const result = isApart ? this.diverged() : await this.forward.to(state.refs, to);
      if (result.kind === 'held') {
        await this.setTip(state.refs.tip, to);
      } else if (result.kind === 'followed') {
        await this.removeTip(state.refs.tip);
      }
      return result;
    });
  }

  /**
   * Lets the branch catch up with the tip, if git allows that now.
   * @throws {HumanError} if the branch does not exist any more, or git cannot write
   */
  async follow(): Promise<Follow> {
    return this.writable(async () => this.catchUp(await this.state()));
  }

  /**
   * Makes the commit that joins a branch on which a person has committed with the tip. It only creates git objects.
   * @returns `undefined` if they have not diverged
   * @throws {HumanError} if the branch does not exist any more, or git cannot write
   */
  async joinBase(): Promise<Join | Conflict | undefined> {
    return this.writable(async () => {
      const { branch, kind, tip } = await this.state();
      const { progressFile, root, storyFile } = this.place;
      if (kind !== 'diverged') {
        return undefined;
      }
      const [base] = (await runGit(root, 'merge-base', branch, tip)).split(/\r?\n/);
      const merged = await mergeSharing(root, {
        target: branch,
        work: tip,
        base: base || undefined,
        shared: this.place,
        contents: ({ base: before, target, work }) => {
          const contents = new Map<string, Buffer>();
          for (const path of [storyFile, progressFile]) {
            const [ours, theirs] = [target, work].map(view => path && view?.file(path));
            if (path !== undefined && ours && theirs) {
              const sides = { base: before?.file(path), theirs };
              const joined =
                path === storyFile ? withTicksOf(ours, path, sides) : withEntriesOf(ours, sides);
              contents.set(path, joined);
            }
          }
          return contents;
        },
      });
      if (merged.kind === 'conflict') {
        return merged;
      }
      const commit = await writeGit(
        root,
        ['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', merged.tree, '-p', branch, '-p', tip],
        { input: `Merge what has landed into ${this.place.branch}\n` },
      );
      return { kind: 'join', commit: commit.trim(), tree: merged.tree, branch, tip };
    });
  }

  /** Files in the work tree that git does not track, and that a merge of branch and tip by hand would overwrite. */
  async untrackedInTheWay(): Promise<readonly string[]> {
    const { branch, refs, tip } = await this.state();
    return refs.isHere ? untrackedInTheWay(this.place.root, branch, tip) : [];
  }

  /**
   * Whether the branch or the tip contains a commit.
   * @returns also false if the repository has no such commit
   */
  async isLanded(commit: string): Promise<boolean> {
    return this.readable(async () => {
      const { root } = this.place;
      const { branch, tip } = await this.state();
      const { code, stdout } = await gitResult(root, [
        ...['--no-optional-locks', 'rev-list', '--max-count=1', '--end-of-options'],
        ...[commit, `^${branch}`, `^${tip}`],
      ]);
      return code === 0 && stdout.toString('utf8').trim() === '';
    });
  }

  private async state(): Promise<State> {
    const refs = await this.refs();
    const { commit: branch, tip } = refs;
    const { root } = this.place;
    if (branch === undefined) {
      const name = shorten(this.place.branch, 200);
      const landed = tip ?? this.lastSeen;
      throw new HumanError(
        landed === undefined
          ? say('The branch {0} no longer exists. Create it again: git branch {0}', name)
          : say(
              'The branch {0} no longer exists. What has landed on it is kept; create the branch again: git branch {0} {1}',
              name,
              landed,
            ),
      );
    }
    this.lastSeen = branch;
    if (tip === undefined || tip === branch) {
      return { branch, kind: 'same', tip: branch, refs };
    }
    const [isReached, isAhead] = await Promise.all([
      isAncestor(root, tip, branch),
      isAncestor(root, branch, tip),
    ]);
    return isReached
      ? { branch, kind: 'same', tip: branch, refs }
      : { branch, kind: isAhead ? 'ahead' : 'diverged', tip, refs };
  }

  /** The branch and the tip; repairs what a person's switch at the moment of our last move has left. */
  private async refs(): Promise<BranchState> {
    const { ref, root, tipRef } = this.place;
    const refs = await readBranchState(root, ref, tipRef);
    const move = await this.forward.isLeftBehind(refs);
    if (move === undefined) {
      return refs;
    }
    if (refs.tip === undefined) {
      await this.setTip(undefined, move.to);
    }
    await this.forward.takeBack(move);
    return readBranchState(root, ref, tipRef);
  }

  private async catchUp(before: State): Promise<Follow> {
    let state = before;
    // A person may commit at the same moment.
    for (let tries = 0; state.kind === 'ahead' && tries < 2; tries += 1) {
      const result = await this.forward.to(state.refs, state.tip);
      if (result.kind === 'held') {
        return result;
      }
      state = await this.state();
    }
    if (state.kind !== 'same') {
      return this.diverged();
    }
    await this.removeTip(state.refs.tip);
    return { kind: 'followed', commit: state.branch };
  }

  private diverged(): Held {
    const reason = say(
      'The branch {0} has commits that the landed work does not have.',
      shorten(this.place.branch, 200),
    );
    return { kind: 'held', code: 'diverged', reason, files: [] };
  }

  /** @param before the commit that the ref has; `undefined` if it must not exist */
  private async setTip(before: string | undefined, to: string): Promise<void> {
    const { root, tipRef } = this.place;
    const old = before ?? '0'.repeat(to.length);
    await writeGit(root, [...QUIET, 'update-ref', '-m', 'ralph-fresh: tip', tipRef, to, old]);
  }

  private async removeTip(before: string | undefined): Promise<void> {
    if (before !== undefined) {
      const { root, tipRef } = this.place;
      await writeGit(root, [...QUIET, 'update-ref', '-d', tipRef, before]);
    }
  }

  private readable<T>(read: () => Promise<T>): Promise<T> {
    return this.alone(read).catch((error: unknown) => {
      throw asHumanError(error);
    });
  }

  /** One after the other: a look in the middle of a move would take it for a person's. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }

  private writable<T>(write: () => Promise<T>): Promise<T> {
    return this.alone(write).catch((error: unknown) => {
      const branch = shorten(this.place.branch, 200);
      throw asHumanError(error, say('git cannot bring landed work into the branch {0}', branch));
    });
  }
}

async function createBranch(root: string, branch: string, ref: string): Promise<void> {
  const conflicting = await branchInTheWay(root, branch);
  if (conflicting !== undefined) {
    const { message, next } = conflictingBranchProblem(branch, conflicting);
    throw new HumanError(sentences([message, next]));
  }
  const head = await new GitRepository(root).head();
  if (head === undefined) {
    throw new HumanError(say('This repository has no commit yet: make one, and start again.'));
  }
  const args = ['-m', 'ralph-fresh: created from HEAD', ref, head, '0'.repeat(head.length)];
  await writeGit(root, [...QUIET, 'update-ref', ...args]);
}
