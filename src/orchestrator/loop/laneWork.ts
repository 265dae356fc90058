import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Words } from '../../base/say.ts';
import { changedEntries } from '../git/changes.ts';
import { unfinishedOperation } from '../git/operations.ts';
import { gitResult } from '../git/runGit.ts';
import { hasFileAt } from '../git/trackedFile.ts';
import type { Briefer } from '../iteration/briefing.ts';
import { runIteration } from '../iteration/iteration.ts';
import { storiesLeft, type Work } from '../iteration/work.ts';
import { handledIn, storyNotes } from '../journal/runState.ts';
import type { EarlierWork } from '../landing/earlierWork.ts';
import { leaveOpen } from '../landing/land.ts';
import type { Landable } from '../landing/landing.ts';
import type { Target } from '../landing/target.ts';
import { appendProgress } from '../landing/userFolder.ts';
import type { ClonePlace, ClonePlaces, PlaceStart } from '../places/clonePlaces.ts';
import { keepWork } from '../places/keptWork.ts';
import type { Place } from '../places/place.ts';
import { readSnapshot, readStories, type Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { progressFileOf, relativePath } from '../run/runWork.ts';
import type { Scope } from '../run/scope.ts';
import { isStillToDo, leftAlone } from '../run/storiesLeft.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import { isDoneIn } from '../stories/storyChanges.ts';
import { keepProgress, progressSince } from './laneProgress.ts';
import type { Start } from './policy.ts';
import { tellPendingHints } from './tellHints.ts';

/** Folders that a warning names. */
const MAX_NAMED = 10;

/** What a run needs to let its agents work in places of their own. */
export interface Isolation {
  /** The branch that their work lands on. */
  readonly target: Target;
  readonly places: ClonePlaces;
}

export interface LaneHands extends Isolation {
  readonly userPlace: Place;
  /** Briefs the agents of one lane. */
  readonly newBriefer: () => Briefer;
  /** The user's files as last read. */
  readonly snapshot: () => Snapshot;
  readonly skipSignal: (iteration: number) => AbortSignal;
  readonly endSkips: (iteration: number) => void;
}

/** An iteration with a story; there are no others with lanes. */
export type LaneStart = Required<Start> & { readonly lane: number };
type StoryScope = Scope & LaneStart;

/** Where the work of an agent goes. */
interface LaneEnds {
  readonly lands: (work: Landable) => void;
  readonly staysOpen: (iteration: number, verdict: Verdict | undefined) => void;
}

/** One agent in a place of its own, from the preparation of the place to what the agent leaves there. */
export class LaneWork {
  private readonly run: Run;
  private readonly hands: LaneHands;
  private readonly earlier: EarlierWork;
  private readonly ends: LaneEnds;
  private readonly briefers = new Map<number, Briefer>();

  constructor(run: Run, hands: LaneHands, earlier: EarlierWork, ends: LaneEnds) {
    this.run = run;
    this.hands = hands;
    this.earlier = earlier;
    this.ends = ends;
  }

  /** Prepares a place, and lets a fresh agent work there. */
  async workOn(at: LaneStart, snapshot: Snapshot): Promise<void> {
    const { story } = at;
    const forgetHints = await tellPendingHints(this.run, snapshot, story);
    const begin = await this.earlier.startOf(story, at.iteration);
    const place = await this.prepare(at, begin);
    if (place === undefined) {
      return;
    }
    try {
      // A preparation can take minutes, in which people do not wait.
      if (await this.isWanted(at, snapshot)) {
        await this.workIn(place, at, snapshot);
        await forgetHints();
      }
    } finally {
      await place.dispose();
    }
  }

  /** @returns nothing if a person has stopped the run meanwhile, or wants no agent there any more */
  private async prepare(
    at: LaneStart,
    begin: Pick<PlaceStart, 'commit' | 'changes'>,
  ): Promise<ClonePlace | undefined> {
    const { places, target } = this.hands;
    const { iteration, lane, story } = at;
    const unwanted = new AbortController();
    const signal = AbortSignal.any([this.run.stop.requestedSignal, unwanted.signal]);
    const listener = this.run.journal.onDidAppend(event => {
      const isTicked = event.type === 'story.ticked' && event.storyId === story.id && event.done;
      if (isTicked || !this.isAllowed(at)) {
        unwanted.abort();
      }
    });
    try {
      return await places.take(`lane-${lane}`, {
        ...{ ...begin, branch: target.branch, story: story.id, iteration, signal },
      });
    } catch (error) {
      if (error === signal.reason) {
        return undefined;
      }
      throw error;
    } finally {
      listener.dispose();
    }
  }

  /** Whether an agent may start on the story now, as far as the journal says. */
  private isAllowed({ lane, story }: LaneStart): boolean {
    const { config, state, stop } = this.run;
    const { limits, pauseRequested, pausedLanes = [] } = state();
    return (
      !(stop.requested || pauseRequested || pausedLanes.includes(lane) || limits.size > 0) &&
      !leftAlone({ config, state: state(), stories: [story] }).has(story.id)
    );
  }

  private async isWanted(at: LaneStart, snapshot: Snapshot): Promise<boolean> {
    const { config, state, storyFile } = this.run;
    const { stories = snapshot.stories } = await readStories(storyFile, snapshot);
    // As the run sees the list now: without what a person has removed.
    const { stories: listed } = this.hands.snapshot();
    return (
      this.isAllowed(at) &&
      listed?.stories.some(({ id }) => id === at.story.id) !== false &&
      isStillToDo(at.story.id, { config, state: state(), stories: stories?.stories })
    );
  }

  private async workIn(place: ClonePlace, at: LaneStart, snapshot: Snapshot): Promise<void> {
    const { run } = this;
    const { lane } = at;
    const before = await readSnapshot(place.storyFile, place.git, snapshot);
    const scope = {
      ...this.scopeOf(at, place, before),
      conflict: await this.earlier.conflictOf(at.story),
    };
    for (const warning of place.warnings) {
      warn(scope, 'placePrepared', warning);
    }
    await mkdir(scope.dir, { recursive: true });
    await keepProgress(scope.dir, this.progressIn(place));
    const briefer = this.briefers.get(lane) ?? this.hands.newBriefer();
    this.briefers.set(lane, briefer);
    await this.collect(scope, place, () => runIteration(run, scope, briefer));
  }

  /** Makes safe what an agent has left, before anything is judged. */
  async collect(scope: StoryScope, place: ClonePlace, doWork: () => Promise<Work>): Promise<void> {
    const { run } = this;
    const { iteration, story } = scope;
    const ref = this.earlier.refOf(iteration, story.id);
    const keep = () => keepWork(place, this.hands.target.root, ref);
    const work = await doWork().catch(async (error: unknown) => {
      // Whatever is wrong, its commits are safe; they are judged when the run continues.
      await keep();
      throw error;
    });
    const kept = await keep();
    const unfinished = place.gitDir === undefined ? undefined : unfinishedOperation(place.gitDir);
    const last =
      unfinished !== undefined && kept.problem === undefined
        ? await this.branchIn(place)
        : kept.head;
    const commits = await this.countCommits(scope.before.head, last);
    const base = await this.earlier.baseOf(story, scope.before.head);
    // What is not committed belongs to the claim of an agent that never commits, or could not commit any more.
    const isAll = commits === 0 || isCutOff(work);
    // In the middle of an operation, the files are only a part of the work, perhaps with marks of conflicts.
    const uncommitted = unfinished === undefined ? kept.uncommitted : undefined;
    const head = isAll ? (uncommitted ?? last) : last;
    const isDone = isDoneIn(storiesLeft(work), story, scope.before.stories?.stories ?? []);
    const isClaimed = isDone && handledIn(run.state(), iteration).get(story.id) !== false;
    // During a stop, what the place still has is collected from there when the run continues.
    const isLeftThere = kept.problem !== undefined && run.stop.endSignal.aborted;
    // A person who settles a conflict of the story was told that nobody else works on it.
    const isTaken = () => storyNotes(run.state(), story.id).settling !== undefined;
    const lands =
      isClaimed &&
      !isLeftThere &&
      !isTaken() &&
      // Some of it is elsewhere: in the rest of the operation, or on a branch of its own.
      unfinished === undefined &&
      work.astray === undefined &&
      base !== undefined &&
      head !== undefined &&
      (await this.isWhole(scope, { base, head, problem: isAll ? kept.problem : undefined }));
    scope.append({
      ...{ type: 'work.kept', iteration, storyId: story.id, base },
      ...{ head: last, ref, uncommitted },
      lands: lands && head === uncommitted ? true : undefined,
      ...{ commits, unfinished, problem: kept.problem },
    });
    if (isLeftThere) {
      return;
    }
    const progressText = await progressSince(scope, this.progressIn(place));
    if (!(await this.isProgressTracked())) {
      // The next agents need it; otherwise it lands with the commits.
      await appendProgress(run, scope, progressText);
    }
    run.journal.sync();
    if (lands && !isTaken()) {
      scope.append({
        ...{ type: 'story.changed', storyId: story.id, done: true, by: 'agent', iteration },
      });
      scope.append({ type: 'landing.queued', iteration, storyId: story.id, base, head });
      run.journal.sync();
      this.ends.lands({ scope, base, head, progressText, result: work.result });
      return;
    }
    const verdict = await leaveOpen(
      run,
      { ...work, scope },
      { commits, isClaimed: isClaimed && !isTaken() },
    );
    this.ends.staysOpen(iteration, verdict);
  }

  /** The last commit of the branch in a place: what is left when an operation is aborted. */
  private async branchIn({ dir }: ClonePlace): Promise<string | undefined> {
    const name = `refs/heads/${this.hands.target.branch}^{commit}`;
    const { stdout } = await gitResult(dir, ['rev-parse', '--verify', '--quiet', name]);
    return stdout.toString('utf8').trim() || undefined;
  }

  /** What is missing would be missing on the branch, too; and not everything may get there. */
  private async isWhole(
    scope: StoryScope,
    {
      base,
      head,
      problem,
    }: { readonly base: string; readonly head: string; readonly problem: Words | undefined },
  ): Promise<boolean> {
    const entries = await changedEntries(this.hands.target.root, base, head);
    const nested = entries.filter(({ isRepository }) => isRepository);
    // It would change what the loop itself knows.
    const state = entries.filter(entry => /(?:^|\/)\.omc\/state\//.test(entry.path));
    for (const [code, found] of [
      ['repositoryInside', nested],
      ['stateInside', state],
    ] as const) {
      if (found.length > 0) {
        const names = found.slice(0, MAX_NAMED).map(entry => entry.path);
        warn(scope, code, names.join(', '));
      }
    }
    return nested.length === 0 && state.length === 0 && problem === undefined;
  }

  scopeOf<T extends { readonly iteration: number; readonly lane: number }>(
    at: T,
    place: Place,
    before: Snapshot,
  ): T & Omit<Scope, 'iteration' | 'lane' | 'story'> {
    const { files, id, journal } = this.run;
    const { iteration } = at;
    return {
      ...at,
      place,
      dir: files.iterationDir(id, iteration),
      before,
      skip: this.hands.skipSignal(iteration),
      append: event => journal.append(event, iteration),
    };
  }

  private async countCommits(from: string | undefined, to: string | undefined): Promise<number> {
    return from === undefined || to === undefined || from === to
      ? 0
      : (await this.hands.userPlace.git.commits({ since: from, at: to })).length;
  }

  private async isProgressTracked(): Promise<boolean> {
    const { root, sharedFiles } = this.hands.target;
    const { progressFile } = sharedFiles;
    const { tip } = await this.hands.target.look();
    return progressFile !== undefined && (await hasFileAt(root, tip, progressFile));
  }

  private progressIn(place: Place): string {
    const { run } = this;
    return path.join(place.dir, relativePath(run.files.workspace, progressFileOf(run)));
  }
}

/** The agent was ended before it had ended by itself. */
function isCutOff({ result }: Work): boolean {
  return result === undefined || result.error !== undefined || result.end.reason === 'cancelled';
}
