import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { saidOf } from '../../base/messageOf.ts';
import { AccountGate } from '../agents/call/accountGate.ts';
import { collectWork } from '../iteration/work.ts';
import type { CurrentIteration } from '../journal/currentIteration.ts';
import type { RunEvent } from '../journal/events.ts';
import { runningIteration } from '../journal/runState.ts';
import { EarlierWork } from '../landing/earlierWork.ts';
import { leaveOpen } from '../landing/land.ts';
import type { Landable } from '../landing/landing.ts';
import { LandingQueue } from '../landing/queue.ts';
import type { ClonePlace } from '../places/clonePlaces.ts';
import { keepWork } from '../places/keptWork.ts';
import type { Place } from '../places/place.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { storyNow } from '../stories/storyNow.ts';
import { LandedTicks } from './landedTicks.ts';
import { keptProgress } from './laneProgress.ts';
import { type LaneHands, LaneWork } from './laneWork.ts';
import type { Start } from './policy.ts';
import { WakeUp } from './wakeUp.ts';

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
/** Longest wait in ms until the story file and the branch are read again. */
const LOOK_MS = 5_000;

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
  private readonly laneWork: LaneWork;
  /** Iterations whose agents work or are about to start, by number. */
  private readonly atWork = new Map<number, { readonly start: Start; readonly lane: number }>();
  /** Iterations whose work waits to land, or is landing. */
  private readonly landing = new Map<number, Start>();
  private readonly tasks = new Set<Promise<void>>();
  private readonly account = new AccountGate();
  private readonly wakeUp = new WakeUp(LOOK_MS);
  private queuePlace: ClonePlace | undefined;
  private ending: Verdict | undefined;

  constructor(run: Run, hands: LaneHands) {
    this.run = run;
    this.hands = hands;
    this.earlier = new EarlierWork(run, hands.target);
    this.laneWork = new LaneWork(run, hands, this.earlier, {
      lands: work => this.enqueue(work),
      staysOpen: (iteration, verdict) => {
        hands.endSkips(iteration);
        this.end(verdict);
      },
    });
    this.queue = new LandingQueue(run, {
      target: hands.target,
      placeAt: commit => this.queuePlaceAt(commit),
      git: hands.userPlace.git,
    });
    this.queue.onDidSettle(({ iteration, verdict }) => {
      this.landing.delete(iteration);
      this.end(verdict);
      hands.endSkips(iteration);
      this.wakeUp.call();
    });
    run.journal.onDidAppend(event => {
      this.noteAccount(event);
      if (event.type === 'landing.queued' && event.by === 'person') {
        this.takeSettled(event.iteration);
      }
      if (WAKING.has(event.type)) {
        this.wakeUp.call();
      }
    });
  }

  /** Name of the branch that work lands on. */
  get branch(): string {
    return this.hands.target.branch;
  }

  /** What counts as HEAD of the run: the branch, with everything that has landed. */
  async target(): Promise<Pick<Snapshot, 'branch' | 'head'>> {
    return { branch: this.branch, head: await this.queue.catchUp() };
  }

  /** Landed stories that a person has set to not done. @param now the user's folder */
  unticked(now: Snapshot): Promise<string[]> {
    const { target } = this.hands;
    return this.landedTicks.unticked(this.run.state(), now, {
      target,
      storyFile: target.sharedFiles.storyFile,
      landing: [...this.landing.values()].flatMap(({ story }) => story?.id ?? []),
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
    this.task(iteration, () => this.laneWork.workOn({ iteration, story, lane }, snapshot));
  }

  /** Waits until something has happened since the last call that may lead to another step. */
  wait(): Promise<void> {
    return this.wakeUp.wait();
  }

  /** Meanwhile, the branch catches up with what has landed as soon as it can. */
  async followUntil(done: Promise<unknown>): Promise<void> {
    let isDone = false;
    const end = done.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await this.queue.catchUp();
      const next = new AbortController();
      const timer = sleep(LOOK_MS, undefined, { signal: next.signal }).catch(() => undefined);
      await Promise.race([end, timer]);
      next.abort();
    }
    await end;
  }

  /** Resolves when no agent works and nothing is landing any more; rejects then, too. */
  async idle(): Promise<void> {
    try {
      while (this.tasks.size > 0) {
        await this.followUntil(Promise.all(this.tasks));
      }
      await this.queue.catchUp();
    } finally {
      // Also if the branch is gone: what they do after the end of the run would be in no record.
      while (this.tasks.size > 0) {
        await Promise.all(this.tasks);
      }
      await this.queue.idle();
      await this.queuePlace?.dispose();
      this.queuePlace = undefined;
    }
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
        scope: this.laneWork.scopeOf({ iteration, story, lane }, this.hands.userPlace, snapshot),
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
      warn(this.run.journal, 'placeGone', `lane-${lane}`, iteration);
      await this.close(current, snapshot, story);
      return;
    }
    const bytes = await this.run.keptStories.read(iteration);
    const stories = this.run.keptStories.parse(bytes) ?? snapshot.stories;
    const scope = this.laneWork.scopeOf({ iteration, story, lane }, place, {
      stories,
      head: current.startCommit,
    });
    const before = bytes && stories && { bytes, stories };
    try {
      await this.laneWork.collect(scope, place, () =>
        collectWork(this.run, { scope, kept: before }),
      );
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
    const scope = { ...this.laneWork.scopeOf(at, this.hands.userPlace, snapshot), story };
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
    if (wanted === 1 && this.landing.size > 0) {
      // With one agent at a time, each is expected to see what the last one did.
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
        this.wakeUp.call();
      });
    this.tasks.add(task);
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

  private end(verdict: Verdict | undefined): void {
    this.ending ??= verdict;
  }
}
