import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { saidOf } from '../../base/messageOf.ts';
import { once } from '../../base/once.ts';
import { withTexts } from '../../base/say.ts';
import type { CodeSearch } from '../context/codeSearch.ts';
import { Briefer } from '../iteration/briefing.ts';
import { runIteration } from '../iteration/iteration.ts';
import { lookForLostCommits, missingWork } from '../iteration/lostWork.ts';
import { appendError } from '../iteration/planLog.ts';
import type { PromptTemplate } from '../iteration/prompt/promptTemplate.ts';
import {
  doneWithoutCommit,
  type UncommittedWork,
  uncommittedWork,
} from '../iteration/uncommittedWork.ts';
import { collectWork, type Work } from '../iteration/work.ts';
import type { CurrentIteration } from '../journal/currentIteration.ts';
import { exitCodeOf } from '../journal/eventCodes.ts';
import type { Journal } from '../journal/journal.ts';
import { type RunState, storyRecord } from '../journal/runState.ts';
import { land } from '../landing/land.ts';
import type { Place } from '../places/place.ts';
import {
  readSnapshot,
  readStories,
  type Snapshot,
  storyCountOf,
  withoutRemoved,
} from '../places/snapshot.ts';
import { type Preparation, prepareStories } from '../planner/preparation.ts';
import { activeOtherMode } from '../preconditions/modes.ts';
import { endLeftovers } from '../process/processTree.ts';
import { recordOwedCommits } from '../run/commitRecord.ts';
import type { Run } from '../run/run.ts';
import { modeOf, relativePath, taskOf } from '../run/runWork.ts';
import type { Scope } from '../run/scope.ts';
import type { RunEnd, Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { storyChanges } from '../stories/storyChanges.ts';
import { keepRunState } from '../workspace/runCheckpoint.ts';
import { AcceptedWork } from './acceptedWork.ts';
import { keepBoundary, readBoundary } from './boundary.ts';
import { clearBehind } from './clearBehind.ts';
import { keepProgressShort } from './compactProgress.ts';
import { FolderList } from './folderList.ts';
import { followBranch } from './followBranch.ts';
import { Lanes } from './lanes.ts';
import type { Isolation } from './laneWork.ts';
import { openRun } from './openRun.ts';
import { type Decision, decide, type Start } from './policy.ts';
import { RequestDesk } from './requestDesk.ts';
import type { RunOptions } from './runOptions.ts';
import { goToBranch } from './start.ts';
import { startFacts, warnAtStart } from './startFacts.ts';
import { StoryIds } from './storyIds.ts';
import { tellPendingHints } from './tellHints.ts';
import { lastSyncSignal, syncTracker } from './trackerSync.ts';

/** The parts needed to start a run. */
export interface RunParts {
  readonly place: Place;
  readonly journal: Journal;
  /** The files at the start. */
  readonly snapshot: Snapshot;
  /** The person's own prompt. */
  readonly template: PromptTemplate | undefined;
  /** Opens the places of agents; absent: one agent works in the user's tree. */
  readonly isolate?: (snapshot: Snapshot) => Promise<Isolation>;
  readonly code: CodeSearch;
  /** Size of the inbox before this loop had the lock, in bytes. */
  readonly inboxFrom: number;
}

/** After this time, a file is read again: git removes a file before it writes it anew, also when something lands. */
const SECOND_READ_MS = 1_000;

/** The steps of one run. */
export class FreshRun {
  readonly run: Run;
  private readonly options: RunOptions;
  private readonly place: Place;
  private readonly briefer: Briefer;
  private readonly desk: RequestDesk;
  private readonly template: PromptTemplate | undefined;
  private readonly openPlaces: RunParts['isolate'];
  /** Absent: one agent works in the user's tree. */
  private lanes: Lanes | undefined;
  private readonly accepted: AcceptedWork;
  /** The latest state of the files. */
  private snapshot: Snapshot;
  /** Removes what old runs have left, once. */
  private tidy: (() => Promise<void>) | undefined;
  private verdict: Verdict | undefined;
  /** What would end the run by its files as they are now; a person may still put them right while agents work. */
  private problemNow: Verdict | undefined;
  /** With lanes and stories. */
  private folderList: FolderList | undefined;
  private otherMode: string | undefined;
  private readonly ids: StoryIds;
  /** Whether the progress log is kept short; not after a problem, which is reported once. */
  private keepsShort: boolean;

  constructor(options: RunOptions, parts: RunParts) {
    const { code, inboxFrom, isolate, journal, place, snapshot, template } = parts;
    this.options = options;
    this.keepsShort = options.config.compactAt > 0;
    this.openPlaces = isolate;
    this.template = template;
    this.place = place;
    this.snapshot = snapshot;
    const run = openRun(options, journal, {
      code,
      look: () => this.desk.look(),
      resume: () => this.desk.resumeSignal,
    });
    this.run = run;
    this.accepted = new AcceptedWork(run);
    this.ids = new StoryIds(run);
    this.desk = new RequestDesk(run, { ...options, inboxFrom });
    this.briefer = new Briefer(run, template, snapshot);
  }

  /** Opens the places of agents, as soon as the stories and their branch are known. */
  private async isolate(): Promise<void> {
    const { desk, openPlaces, place, run, snapshot, template } = this;
    if (openPlaces === undefined || this.lanes !== undefined) {
      return;
    }
    const isolation = await openPlaces(snapshot);
    run.branch = isolation.target.branch;
    this.lanes = new Lanes(run, {
      ...isolation,
      userPlace: place,
      snapshot: () => this.snapshot,
      newBriefer: () => new Briefer(run, template, snapshot),
      skipSignal: iteration => desk.skipSignal(iteration),
      endSkips: iteration => desk.endSkips(iteration),
    });
    this.folderList =
      place.storyFile === undefined
        ? undefined
        : new FolderList(run, place.storyFile, snapshot.branch);
  }

  async start(): Promise<void> {
    const { options, place, run, snapshot } = this;
    const { config, onlyStories, planDir, prepare, runId, storyFile } = options;
    const { head } = snapshot;
    const relative = (file: string) => relativePath(options.files.workspace, file);
    if (prepare === undefined) {
      await this.isolate();
      // For the first handoff; runs in parallel with the steps before it.
      place.workTree.ask();
    }
    run.journal.append({
      type: 'run.started',
      runId,
      ...(await this.facts()),
      mode: modeOf(run),
      task: taskOf(run, snapshot).slice(0, 4_000),
      maxIterations: config.maxIterations,
      stuckThreshold: config.stuckThreshold,
      prepare: prepare === undefined ? undefined : asRecorded(prepare),
      storyFile: storyFile === undefined ? undefined : relative(storyFile),
      planDir: planDir === undefined ? undefined : relative(planDir),
      onlyStories: onlyStories === undefined ? undefined : [...onlyStories],
      startCommit: head,
    });
    await this.open();
    const tidy = once(async () => clearBehind(run));
    this.tidy = tidy;
    // While an agent works, nobody waits for it.
    const listener = run.journal.onDidAppend(({ type }) => {
      if (type === 'agent.started') {
        listener.dispose();
        // Awaited at the end; until then a failure must not count as unhandled.
        tidy().catch(() => undefined);
      }
    });
  }

  /** Continues a run that had ended; an iteration that was interrupted is judged first. */
  async resume(): Promise<void> {
    const { run } = this;
    if (this.options.prepare === undefined) {
      await this.isolate();
    }
    run.journal.append({
      type: 'run.resumed',
      ...(await this.facts()),
      maxIterations: run.config.maxIterations,
      stuckThreshold: run.config.stuckThreshold,
    });
    await this.open();
    for (const cutOff of run.state().running) {
      await (this.lanes && (cutOff.lane !== undefined || cutOff.settled)
        ? this.lanes.recover(cutOff, this.snapshot)
        : this.landCutOff(cutOff));
    }
    const { iteration: last } = run.state();
    const open = new Set(run.state().running.map(({ number }) => number));
    // A loop that is killed directly after an iteration has no time to remove the kept stories. If a stop
    // interrupts the iteration again, it must still be judged.
    for (let iteration = last; iteration > 0; iteration--) {
      if (!open.has(iteration)) {
        run.keptStories.noteJudged(iteration);
      }
    }
    await this.finishIterations();
  }

  /**
   * Creates the stories of the run, if necessary. @returns the end of the run if there are none to continue with
   */
  async prepare(): Promise<RunEnd | undefined> {
    const { options, place, run, snapshot } = this;
    const prepared = await prepareStories(run, place.git, options.prepare, snapshot);
    if ('kind' in prepared) {
      return prepared;
    }
    this.snapshot = prepared.snapshot;
    if (this.openPlaces !== undefined) {
      await this.isolate();
    } else if (options.prepare !== undefined) {
      await goToBranch(options, prepared.snapshot);
    }
    return undefined;
  }

  async decide(): Promise<Decision> {
    const decision = this.nextStep();
    if (decision.kind !== 'start' && decision.kind !== 'wait') {
      await this.finishIterations();
    }
    return decision;
  }

  private nextStep(): Decision {
    const { otherMode, run, snapshot, verdict } = this;
    const decision = decide({
      state: run.state(),
      stories: snapshot.stories ? snapshot.stories.stories : undefined,
      config: run.config,
      stopRequested: run.stop.requested,
      verdict: this.problemNow ?? verdict ?? this.lanes?.verdict,
      otherMode,
      working: this.lanes?.working,
      // Until the agents have ended, their stories have two numbers.
      freeLanes: this.ids.haveMoved ? 0 : this.lanes?.free,
    });
    if (isComplete(decision) && this.lanes?.landedTicks.isInDoubt) {
      return { kind: 'wait' };
    }
    const isAnyWorking = (this.lanes?.working.length ?? 0) > 0;
    return this.folderList?.settle(decision, isAnyWorking) ?? decision;
  }

  /** With lanes, only starts the iteration. */
  async iterate(start: Start): Promise<void> {
    const { run } = this;
    const { iteration, story } = start;
    if (this.lanes) {
      this.lanes.start(start, this.snapshot);
      return;
    }
    if (this.keepsShort && story !== undefined) {
      this.keepsShort = await keepProgressShort(run);
    }
    const forgetHints = await tellPendingHints(run, story?.id);
    const scope = this.scopeOf(iteration, story, this.snapshot);
    const work = await runIteration(run, scope, this.briefer);
    await this.land(work);
    await forgetHints();
    await appendError(run, scope);
  }

  /** Waits until an agent has ended, something has landed, or a person has asked for something. */
  async wait(): Promise<void> {
    await this.lanes?.wait();
    await this.finishIterations();
  }

  /** Skips a story that makes no progress although its agent was warned. */
  skip({ iterations, story }: Extract<Decision, { kind: 'skip' }>): void {
    const { journal } = this.run;
    const storyId = story.id;
    journal.append({ type: 'story.stuck', storyId, iterations, action: 'skip' });
    journal.append({ type: 'story.skipped', storyId, by: 'stuck' });
  }

  /** Postpones a story that makes no progress after the others. */
  later({ iterations, story }: Extract<Decision, { kind: 'later' }>): void {
    const { journal } = this.run;
    journal.append({ type: 'story.stuck', storyId: story.id, iterations, action: 'later' });
  }

  /** Waits for a person, or for a stop, if that is still the next step. */
  async pause(decision: Extract<Decision, { kind: 'pause' }>): Promise<void> {
    const { detail, lanes: pausedLanes, reason, settling, stories, storyId } = decision;
    const { desk, lanes, place, run } = this;
    const { journal } = run;
    const { stories: listed } = await readStories(place.storyFile);
    if (!isDeepStrictEqual(this.nextStep(), decision)) {
      // A request that was taken meanwhile could not end a pause that had not begun.
      return;
    }
    const continued = desk.continued(run.state().pauseRequested);
    journal.append({
      type: 'pause.started',
      reason,
      storyId,
      stories: stories && [...stories],
      settling: settling && [...settling],
      lanes: pausedLanes && [...pausedLanes],
      detail: detail === undefined ? undefined : detail.slice(0, 2_000),
    });
    journal.sync();
    place.workTree.take();
    await lanes?.followUntil(continued);
    journal.append({ type: 'pause.ended', by: await continued });
    // Nobody but a person has changed the file.
    const { stories: left } = await readStories(place.storyFile);
    this.snapshot = withoutRemoved(this.snapshot, listed, left);
  }

  /** Reads the files between two iterations; changes by others do not count as the agent's. */
  async refresh(): Promise<void> {
    const { desk, place, run } = this;
    await desk.look();
    await this.accepted.add();
    await this.syncTracker();
    const { snapshot: before } = this;
    const [read, otherMode] = await Promise.all([
      this.readFiles(before),
      activeOtherMode(run.files),
    ]);
    const problemOfIds = this.lanes && this.ids.problem(read.stories?.stories);
    // Like a list that cannot be read: the last one that could still counts.
    const here = problemOfIds === undefined ? read : { ...read, stories: before.stories };
    const found = this.folderList?.look(here) ?? here;
    const handled = new Map([
      ...(this.lanes?.landedTicks.known(run.state(), found) ?? []),
      ...(problemOfIds === undefined ? desk.takeHandled() : []),
    ]);
    for (const storyId of (await this.lanes?.unticked(found)) ?? []) {
      run.journal.append({ type: 'story.changed', storyId, done: false, by: 'outside' });
    }
    const snapshot = this.lanes ? { ...found, ...(await this.lanes.target()) } : found;
    this.snapshot = snapshot;
    this.otherMode = otherMode?.mode;
    await recordOwedCommits(run, place.git, snapshot);
    const changes = storyChanges({
      storiesBefore: before.stories?.stories ?? [],
      storiesAfter: snapshot.stories?.stories ?? [],
      handled,
    });
    if (this.lanes) {
      this.ids.follow(snapshot.stories?.stories, this.lanes.working);
    }
    for (const change of changes) {
      if (this.ids.isCertain(change.storyId)) {
        run.journal.append({ type: 'story.changed', ...change, by: 'outside' });
      }
    }
    if (this.lanes?.working.length === 0) {
      this.ids.settle();
    }
    this.problemNow = problemOfIds ?? (await this.lookAtHistory(before));
  }

  private async readFiles(before: Snapshot): Promise<Snapshot> {
    const { git, storyFile } = this.place;
    const read = await readSnapshot(storyFile, git, before);
    if (this.folderList === undefined || read.storyFileProblem === undefined) {
      return read;
    }
    await sleep(SECOND_READ_MS);
    return readSnapshot(storyFile, git, before);
  }

  /** What leaves the list on the tracker is no story of the run any more. */
  private async syncTracker(): Promise<void> {
    const { place, run, snapshot } = this;
    const { tracker } = this.options;
    if (tracker !== undefined) {
      const { stories: listed = snapshot.stories } = await readStories(place.storyFile);
      await syncTracker(run, tracker, snapshot, run.stop.endSignal);
      const { stories: left } = await readStories(place.storyFile);
      this.snapshot = withoutRemoved(snapshot, listed, left);
    }
  }

  /** @returns what ends the run, if its work is not on its branch */
  private async lookAtHistory(before: Snapshot): Promise<Verdict | undefined> {
    const { lanes, place, run, snapshot } = this;
    const elsewhere = lanes ? undefined : await followBranch(run, place, snapshot);
    const history = { place, now: snapshot };
    if (elsewhere === undefined) {
      // Between two iterations, a person has done it: who takes a story back takes its commits back with it.
      const open = new Set(snapshot.stories?.stories.flatMap(({ done, id }) => (done ? [] : id)));
      const done = before.stories?.stories.filter(({ id }) => !open.has(id)) ?? [];
      await lookForLostCommits(run, history, done);
    }
    return elsewhere ?? missingWork(run, history);
  }

  async end({ aside, circle, detail, gone, open, outcome }: RunEnd): Promise<RunState> {
    const { desk, place, run } = this;
    const { files, id, journal, marker } = run;
    try {
      await this.lanes?.idle();
      if (this.lanes) {
        // Something may have landed and been ticked since the files were last read.
        const { snapshot } = this;
        this.snapshot = { ...snapshot, ...(await readStories(place.storyFile, snapshot)) };
      }
      await syncTracker(run, this.options.tracker, this.snapshot, lastSyncSignal(run.stop));
    } catch (error) {
      // The branch or its repository may be gone; the end must be recorded in any case.
      warn(journal, 'gitUnreadable', saidOf(error));
    }
    // Once more, so that a tick in the last moment is not lost.
    try {
      await (marker.isDisplaced ? undefined : desk.look());
    } catch (error) {
      // If state files cannot be restored, this must not hide how the run ended.
      warn(journal, 'stateDamaged', saidOf(error));
    }
    await Promise.all([desk.close(), this.tidy?.()]);
    // Processes that escaped when their agent was ended.
    await endLeftovers(undefined, id);
    try {
      await this.briefer.end(
        { iteration: Math.max(1, run.state().iteration), place, before: this.snapshot },
        { completed: outcome === 'completed', message: detail },
        () => !marker.isDisplaced,
      );
    } catch (error) {
      // The end itself must be recorded, even if the disk has no space for anything else.
      warn(journal, 'handoffNotWritten', saidOf(error));
    }
    const uncommitted = await this.leftUncommitted();
    const head = await this.keepBoundary();
    journal.append({
      type: 'run.ended',
      outcome,
      exitCode: exitCodeOf(outcome, run.state().held !== undefined),
      detail: detail && withTexts(detail, text => text.slice(0, 4_000)),
      open: open === undefined ? undefined : [...open],
      circle: circle === undefined ? undefined : [...circle],
      aside: aside === undefined ? undefined : [...aside],
      gone: gone === undefined ? undefined : [...gone],
      uncommitted,
      head,
      stories: storyCountOf(this.lanes ? withLanded(this.snapshot, run.state()) : this.snapshot),
      iterations: run.state().iteration,
    });
    journal.sync();
    if (journal.isInPlace()) {
      await keepRunState(files, id, run.state());
    }
    try {
      // Also after an error between an iteration's end and the next step.
      await this.finishIterations();
    } catch (error) {
      warn(journal, 'oldRunsNotCleared', saidOf(error));
    }
    try {
      await marker.write(false);
    } catch (error) {
      // The run has already ended; the only effect is that other modes may consider it active.
      warn(journal, 'stateFileNotWritten', saidOf(error));
    }
    return run.state();
  }

  /** Keeps what iterations left that are not judged yet, before others can change it. @returns HEAD, if there is one */
  private async keepBoundary(): Promise<string | undefined> {
    const { files, id, journal, state, storyFile } = this.run;
    return keepBoundary(journal, this.place.git, {
      ...{ state: state(), files, runId: id, storyFile },
    });
  }

  /** An interrupted iteration need not have committed its work. */
  private async leftUncommitted(): Promise<UncommittedWork | undefined> {
    const { place, run, snapshot } = this;
    const state = run.state();
    const stories = snapshot.stories?.stories ?? [];
    return this.lanes === undefined && state.running.length === 0 && !run.marker.isDisplaced
      ? uncommittedWork(run, place, snapshot, doneWithoutCommit(state, stories))
      : undefined;
  }

  private scopeOf(iteration: number, story: Story | undefined, before: Snapshot): Scope {
    const { files, id, journal } = this.run;
    return {
      iteration,
      story,
      place: this.place,
      dir: files.iterationDir(id, iteration),
      before,
      skip: this.desk.skipSignal(iteration),
      append: event => journal.append(event, iteration),
    };
  }

  private async land(work: Work): Promise<void> {
    const { after, verdict } = await land(this.run, work);
    this.desk.endSkips(work.scope.iteration);
    this.snapshot = after;
    this.verdict = verdict;
  }

  /** Judges an iteration that was interrupted by the loop's end, by its commits and files. */
  private async landCutOff(current: CurrentIteration): Promise<void> {
    const { run, snapshot } = this;
    const { kept, left, stories } = await readBoundary(run, current, snapshot.stories);
    const story = stories?.stories.find(({ id }) => id === current.storyId);
    const scope = this.scopeOf(current.number, story, { stories, head: current.startCommit });
    await this.land(await collectWork(run, { scope, kept, left }));
  }

  /**
   * Syncs the end of the last iteration to the disk if no other iteration follows immediately: the start of the
   * next one would sync both.
   */
  private async finishIterations(): Promise<void> {
    const { journal, keptStories } = this.run;
    if (keptStories.hasJudged) {
      await journal.syncInParallel();
      await keptStories.removeJudged();
    }
  }

  private async facts() {
    const { lanes, openPlaces, options, place, snapshot } = this;
    const branch = lanes?.branch ?? snapshot.branch ?? (await place.git.branch());
    return startFacts(options, { branch, isIsolated: openPlaces !== undefined, snapshot });
  }

  private async open(): Promise<void> {
    this.run.journal.sync();
    await this.run.marker.write(true);
    this.desk.listen();
    warnAtStart(this.run, this.options, this.snapshot);
  }
}

function asRecorded(prepare: Preparation): NonNullable<RunState['prepare']> {
  return prepare.kind === 'plan' ? { kind: 'plan' } : { kind: 'tasks', tasks: [...prepare.tasks] };
}

function isComplete(decision: Decision): boolean {
  return decision.kind === 'end' && decision.outcome === 'completed';
}

/** What has landed is done, also if the file could not be ticked, or is that of another branch. */
function withLanded({ stories: list, ...snapshot }: Snapshot, state: RunState): Snapshot {
  const stories = list?.stories.map(story =>
    storyRecord(state, story.id).landed === true ? { ...story, done: true } : story,
  );
  return { ...snapshot, stories: list && stories && { ...list, stories } };
}
