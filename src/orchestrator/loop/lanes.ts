import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { saidOf } from '../../base/messageOf.ts';
import type { Words } from '../../base/say.ts';
import { AccountGate } from '../agents/call/accountGate.ts';
import { changedEntries } from '../git/changes.ts';
import { hasFileAt } from '../git/trackedFile.ts';
import type { Briefer } from '../iteration/briefing.ts';
import { runIteration } from '../iteration/iteration.ts';
import { collectWork, storiesLeft, type Work } from '../iteration/work.ts';
import { appendAs } from '../journal/appendAs.ts';
import type { CurrentIteration } from '../journal/currentIteration.ts';
import type { RunEvent } from '../journal/events.ts';
import { handledIn, runningIteration } from '../journal/runState.ts';
import { EarlierWork } from '../landing/earlierWork.ts';
import { leaveOpen } from '../landing/land.ts';
import type { Landable } from '../landing/landing.ts';
import { LandingQueue } from '../landing/queue.ts';
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
import type { Story } from '../stories/story.ts';
import { storyNow } from '../stories/storyNow.ts';
import { LandedTicks } from './landedTicks.ts';
import { keepProgress, keptProgress, progressSince } from './laneProgress.ts';
import type { Start } from './policy.ts';
import { tellPendingHints } from './tellHints.ts';

/** After these events, the next step may be another one. */
const WAKING: ReadonlySet<RunEvent['type']> = new Set([
  'discovery.accepted',
  'hint.given',
  'lane.paused',
  'lanes.changed',
  'limit.ended',
  'pause.requested',
  'question.answered',
  'stop.requested',
  'story.paused',
  'story.reset',
  'story.settling',
  'story.skipped',
  'story.ticked',
]);
/** Folders that a warning names. */
const MAX_NAMED = 10;
/** Longest wait in ms until the story file and the branch are looked at again. */
const LOOK_MS = 5_000;

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
type LaneStart = Required<Start> & { readonly lane: number };
type StoryScope = Scope & LaneStart;

/**
 * Agents at work, each in a place of its own, and the queue in which their work lands. Everything that is decided is in
 * the journal, so that a killed loop continues from there.
 */
export class Lanes {
  readonly landedTicks = new LandedTicks();
  private readonly run: Run;
  private readonly hands: LaneHands;
  private readonly queue: LandingQueue;
  private readonly earlier: EarlierWork;
  private readonly briefers = new Map<number, Briefer>();
  /** Iterations whose agents work or are about to start, by number. */
  private readonly atWork = new Map<number, { readonly start: Start; readonly lane: number }>();
  /** Iterations whose work waits to land, or is landing. */
  private readonly landing = new Map<number, Start>();
  private readonly tasks = new Set<Promise<void>>();
  private readonly account = new AccountGate();
  private wake: (() => void) | undefined;
  private hasChanged = false;
  private queuePlace: ClonePlace | undefined;
  private ending: Verdict | undefined;

  constructor(run: Run, hands: LaneHands) {
    this.run = run;
    this.hands = hands;
    this.earlier = new EarlierWork(run, hands.target);
    this.queue = new LandingQueue(run, {
      target: hands.target,
      placeAt: commit => this.queuePlaceAt(commit),
      git: hands.userPlace.git,
    });
    this.queue.onDidSettle(({ iteration, verdict }) => {
      this.landing.delete(iteration);
      this.end(verdict);
      hands.endSkips(iteration);
      this.change();
    });
    run.journal.onDidAppend(event => {
      this.noteAccount(event);
      if (event.type === 'landing.queued' && event.by === 'person') {
        this.takeSettled(event.iteration);
      }
      if (WAKING.has(event.type)) {
        this.change();
      }
    });
  }

  /** Name of the branch that work lands on. */
  get branch(): string {
    return this.hands.target.branch;
  }

  /** What counts as HEAD of the run: the branch, with everything that has landed. */
  async target(): Promise<Pick<Snapshot, 'branch' | 'head'>> {
    return { branch: this.branch, head: await this.queue.follow() };
  }

  /** Landed stories that a person has set to not done. @param now the user's folder */
  unticked(now: Snapshot): Promise<string[]> {
    const { target } = this.hands;
    return this.landedTicks.unticked(this.run.state(), now, {
      target,
      storyFile: target.sharedFiles.storyFile,
    });
  }

  /** What is being worked on, or waits to land. */
  get working(): readonly Start[] {
    return [...[...this.atWork.values()].map(({ start }) => start), ...this.landing.values()];
  }

  /** Number of agents that may be started now. */
  get free(): number {
    return this.freeLanes().length;
  }

  /** What ends the run, if anything does. */
  get verdict(): Verdict | undefined {
    return this.ending;
  }

  /** Starts an agent; returns at once. */
  start(start: Start, snapshot: Snapshot): void {
    const { iteration, story } = start;
    if (story === undefined) {
      throw new Error('Lanes work on stories only.');
    }
    const [lane] = this.freeLanes();
    if (lane === undefined) {
      throw new Error('No lane is free.');
    }
    this.atWork.set(iteration, { start, lane });
    this.task(iteration, () => this.work({ iteration, story, lane }, snapshot));
  }

  /** Waits until something has happened since the last call that may lead to another step. */
  async wait(): Promise<void> {
    if (!this.hasChanged) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, LOOK_MS);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.wake = undefined;
    this.hasChanged = false;
  }

  /** Meanwhile, the branch catches up with what has landed as soon as it can. */
  async followUntil(done: Promise<unknown>): Promise<void> {
    let isDone = false;
    const end = done.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await this.queue.follow();
      const next = new AbortController();
      const timer = sleep(LOOK_MS, undefined, { signal: next.signal }).catch(() => undefined);
      await Promise.race([end, timer]);
      next.abort();
    }
    await end;
  }

  /** Resolves when no agent works and nothing is landing any more. */
  async idle(): Promise<void> {
    while (this.tasks.size > 0) {
      await this.followUntil(Promise.all(this.tasks));
    }
    await this.queue.idle();
    await this.queuePlace?.dispose();
    this.queuePlace = undefined;
    await this.queue.follow();
  }

  /**
   * Takes up an iteration that the end of the loop interrupted: its work lands, or is collected from its place, where
   * nobody else has worked since.
   */
  async recover(current: CurrentIteration, snapshot: Snapshot): Promise<void> {
    const { kept, lane = 1, number: iteration, storyId } = current;
    const now =
      storyId === undefined
        ? undefined
        : storyNow(snapshot.stories?.stories ?? [], { id: storyId, title: current.storyTitle });
    // It is known by the id that it had.
    const story = now && { ...now, id: storyId ?? now.id };
    if (story === undefined) {
      // Nobody wants it any more, but its commits are not for us to lose.
      const place = await this.hands.places.reopen(`lane-${lane}`, iteration);
      if (place !== undefined) {
        await keepWork(place, this.hands.target.root, this.earlier.refOf(iteration, storyId));
        await place.dispose();
      }
      await this.close(current, snapshot);
      return;
    }
    if (current.queued && kept !== undefined) {
      this.enqueue({
        scope: this.scopeOf({ iteration, story, lane }, this.hands.userPlace, snapshot),
        base: kept.base,
        head: kept.head,
        progressText: await keptProgress(this.run.files.iterationDir(this.run.id, iteration)),
        [current.settled ? 'isGone' : 'isDiscarded']: !(await this.earlier.isStillKept(
          story.id,
          kept,
          current.settled,
        )),
      });
      return;
    }
    const place = await this.hands.places.reopen(`lane-${lane}`, iteration);
    if (place === undefined) {
      // Somebody has used or removed it since; what it had is kept.
      warn({ append: appendAs(iteration, this.run.journal) }, 'placeGone', `lane-${lane}`);
      await this.close(current, snapshot, story);
      return;
    }
    const bytes = await this.run.keptStories.read(iteration);
    const stories = this.run.keptStories.parse(bytes) ?? snapshot.stories;
    const scope = this.scopeOf({ iteration, story, lane }, place, {
      stories,
      head: current.startCommit,
    });
    const before = bytes && stories && { bytes, stories };
    try {
      await this.collect(scope, place, () => collectWork(this.run, { scope, kept: before }));
    } finally {
      await place.dispose();
    }
  }

  /** A person has settled a conflict: the result lands like the work of an agent. */
  private takeSettled(iteration: number): void {
    const current = runningIteration(this.run.state(), iteration);
    const snapshot = this.hands.snapshot();
    const story = snapshot.stories?.stories.find(({ id }) => id === current?.storyId);
    if (current !== undefined) {
      // At once: what runs and is not known here counts as interrupted.
      this.landing.set(iteration, { iteration, story });
      this.task(iteration, () => this.recover(current, snapshot));
    }
  }

  /** Ends an interrupted iteration of which nothing more is known. */
  private async close(
    { lane, number: iteration }: CurrentIteration,
    snapshot: Snapshot,
    story?: Story,
  ): Promise<void> {
    const at = { iteration, lane: lane ?? 1 };
    const scope = { ...this.scopeOf(at, this.hands.userPlace, snapshot), story };
    await mkdir(scope.dir, { recursive: true });
    await leaveOpen(this.run, { scope, after: snapshot }, { commits: 0, isClaimed: false });
    this.landing.delete(iteration);
    this.hands.endSkips(iteration);
  }

  private noteAccount(event: RunEvent): void {
    const { account, run } = this;
    if (event.type === 'call.retried') {
      const fewer = account.reject(event.error.kind, event.iteration, this.atWork.keys());
      if (fewer !== undefined) {
        warn(run.journal, 'fewerLanes', `${fewer}`);
      }
    } else if (event.type === 'agent.ended' && event.error === undefined) {
      account.pass(run.state().lanes);
    }
  }

  /** The numbers of lanes in which an agent may be started now. */
  private freeLanes(): number[] {
    const { lanes: wanted, pausedLanes = [] } = this.run.state();
    const lanes = this.account.lanes(wanted);
    if (this.atWork.size > 0 && !this.run.caller.isMoneyLeft) {
      // What the others leave of the budget is known when they have ended.
      return [];
    }
    const busy = [...this.atWork.values()].map(({ lane }) => lane);
    const usable = Array.from({ length: wanted }, (_, index) => index + 1).filter(
      lane => !busy.includes(lane) && !pausedLanes.includes(lane),
    );
    // Lanes that are fewer now finish what they have.
    return usable.slice(0, Math.max(0, lanes - busy.length));
  }

  private task(iteration: number, work: () => Promise<void>): void {
    const task = work()
      .catch((error: unknown) => {
        // A stop ends the preparation of a place, too.
        const isStop = this.run.stop.endSignal.aborted && error === this.run.stop.endSignal.reason;
        this.end(isStop ? undefined : { kind: 'fatal', message: saidOf(error) });
      })
      .finally(() => {
        this.atWork.delete(iteration);
        this.tasks.delete(task);
        this.change();
      });
    this.tasks.add(task);
  }

  /** One agent, from its place to what it leaves there. */
  private async work(at: LaneStart, snapshot: Snapshot): Promise<void> {
    const { story } = at;
    const forgetHints = await tellPendingHints(this.run, story.id);
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
    return (
      this.isAllowed(at) &&
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
  private async collect(
    scope: StoryScope,
    place: ClonePlace,
    doWork: () => Promise<Work>,
  ): Promise<void> {
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
    const commits = await this.countCommits(scope.before.head, kept.head);
    const base = await this.earlier.baseOf(story, scope.before.head);
    // What is not committed belongs to the claim of an agent that never commits, or could not commit any more.
    const isAll = commits === 0 || isCutOff(work);
    const head = isAll ? (kept.uncommitted ?? kept.head) : kept.head;
    const isDone = storiesLeft(work).some(({ done, id }) => done && id === story.id);
    const isClaimed = isDone && handledIn(run.state(), iteration).get(story.id) !== false;
    // During a stop, what the place still has is collected from there when the run continues.
    const isLeftThere = kept.problem !== undefined && run.stop.endSignal.aborted;
    const lands =
      isClaimed &&
      !isLeftThere &&
      base !== undefined &&
      head !== undefined &&
      (await this.isWhole(scope, { base, head, problem: isAll ? kept.problem : undefined }));
    scope.append({
      ...{ type: 'work.kept', iteration, storyId: story.id, base },
      ...{ head: kept.head, ref, uncommitted: kept.uncommitted },
      lands: lands && head === kept.uncommitted ? true : undefined,
      ...{ commits, problem: kept.problem },
    });
    if (isLeftThere) {
      return;
    }
    const progressText = await progressSince(scope, this.progressIn(place));
    if (!(await this.isProgressTracked())) {
      // What the next agents are told; otherwise it lands with the commits.
      await appendProgress(run, scope, progressText);
    }
    run.journal.sync();
    if (lands) {
      scope.append({
        ...{ type: 'story.changed', storyId: story.id, done: true, by: 'agent', iteration },
      });
      scope.append({ type: 'landing.queued', iteration, storyId: story.id, base, head });
      run.journal.sync();
      this.enqueue({ scope, base, head, progressText, result: work.result });
      return;
    }
    const verdict = await leaveOpen(run, { ...work, scope }, { commits, isClaimed });
    this.hands.endSkips(iteration);
    this.end(verdict);
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

  private enqueue(work: Landable): void {
    const { iteration, story } = work.scope;
    if (this.run.stop.endSignal.aborted) {
      // It lands when the run continues.
      this.landing.delete(iteration);
      return;
    }
    this.landing.set(iteration, { iteration, story });
    this.queue.add(work);
  }

  private scopeOf<T extends { readonly iteration: number; readonly lane: number }>(
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
      append: appendAs(iteration, journal),
    };
  }

  private async countCommits(from: string | undefined, to: string | undefined): Promise<number> {
    return from === undefined || to === undefined || from === to
      ? 0
      : (await this.hands.userPlace.git.commits({ since: from, at: to })).length;
  }

  /** One after the other: the queue lands one story at a time. */
  private async queuePlaceAt(commit: string): Promise<Place> {
    const { places, target } = this.hands;
    await this.queuePlace?.dispose();
    this.queuePlace = undefined;
    this.queuePlace = await places.take('queue', {
      ...{ commit, branch: target.branch, isScratch: true },
      signal: this.run.stop.endSignal,
    });
    return this.queuePlace;
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

  private end(verdict: Verdict | undefined): void {
    this.ending ??= verdict;
  }

  private change(): void {
    this.hasChanged = true;
    this.wake?.();
  }
}

/** The agent was ended before it had ended by itself. */
function isCutOff({ result }: Work): boolean {
  return result === undefined || result.error !== undefined || result.end.reason === 'cancelled';
}
