import { isDeepStrictEqual } from 'node:util';
import type { Disposable } from '../../base/emitter.ts';
import { once } from '../../base/once.ts';
import type { CodeSearch } from '../context/codeSearch.ts';
import { Briefer } from '../iteration/briefing.ts';
import { runIteration } from '../iteration/iteration.ts';
import { appendError } from '../iteration/planLog.ts';
import type { PromptTemplate } from '../iteration/prompt/promptTemplate.ts';
import { collectWork, type Work } from '../iteration/work.ts';
import type { CurrentIteration } from '../journal/currentIteration.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import { land } from '../landing/land.ts';
import type { Place } from '../places/place.ts';
import type { Snapshot } from '../places/snapshot.ts';
import { type Preparation, prepareStories } from '../planner/preparation.ts';
import type { Run } from '../run/run.ts';
import { modeOf, relativePath, taskOf } from '../run/runWork.ts';
import type { Scope } from '../run/scope.ts';
import type { RunEnd, Verdict } from '../run/verdict.ts';
import type { Story } from '../stories/story.ts';
import { AcceptedWork } from './acceptedWork.ts';
import { readBoundary } from './boundary.ts';
import { clearBehind } from './clearBehind.ts';
import { keepProgressShort } from './compactProgress.ts';
import { CurrentFiles } from './currentFiles.ts';
import { endRun } from './ending.ts';
import { Lanes } from './lanes.ts';
import type { Isolation } from './laneWork.ts';
import { openRun } from './openRun.ts';
import { type Decision, decide, type Start } from './policy.ts';
import { RequestDesk } from './requestDesk.ts';
import type { RunOptions } from './runOptions.ts';
import { goToBranch } from './start.ts';
import { startFacts, warnAtStart } from './startFacts.ts';
import { tellPendingHints } from './tellHints.ts';

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
  /** Takes requests to stop until the run does. */
  readonly startWatch: Disposable;
}

/** The steps of one run. */
export class FreshRun {
  readonly run: Run;
  private readonly options: RunOptions;
  private readonly place: Place;
  private readonly briefer: Briefer;
  private readonly desk: RequestDesk;
  private readonly template: PromptTemplate | undefined;
  private readonly openPlaces: RunParts['isolate'];
  private readonly startWatch: Disposable;
  /** Absent: one agent works in the user's tree. */
  private lanes: Lanes | undefined;
  private readonly accepted: AcceptedWork;
  private readonly current: CurrentFiles;
  /** Removes what old runs have left, once. */
  private tidy: (() => Promise<void>) | undefined;
  private verdict: Verdict | undefined;
  /** Whether the progress log is kept short; not after a problem, which is reported once. */
  private keepsShort: boolean;

  constructor(options: RunOptions, parts: RunParts) {
    const { code, inboxFrom, isolate, journal, place, snapshot, template } = parts;
    this.options = options;
    this.startWatch = parts.startWatch;
    this.keepsShort = options.config.compactAt > 0;
    this.openPlaces = isolate;
    this.template = template;
    this.place = place;
    const run = openRun(options, journal, {
      code,
      look: () => this.desk.look(),
      followStories: stories => this.current.ids.follow(stories),
      resume: () => this.desk.resumeSignal,
    });
    this.run = run;
    this.accepted = new AcceptedWork(run);
    this.current = new CurrentFiles(run, place, snapshot);
    this.desk = new RequestDesk(run, { ...options, inboxFrom });
    this.briefer = new Briefer(run, template, snapshot);
  }

  /** Opens the places of agents, as soon as the stories and their branch are known. */
  private async isolate(): Promise<void> {
    const { current, desk, openPlaces, place, run, template } = this;
    if (openPlaces === undefined || this.lanes !== undefined) {
      return;
    }
    const { snapshot } = current;
    const isolation = await openPlaces(snapshot);
    run.branch = isolation.target.branch;
    this.lanes = new Lanes(run, {
      ...isolation,
      userPlace: place,
      snapshot: () => current.snapshot,
      newBriefer: () => new Briefer(run, template, snapshot),
      skipSignal: iteration => desk.skipSignal(iteration),
      endSkips: iteration => desk.endSkips(iteration),
    });
    current.isolate(this.lanes);
  }

  async start(): Promise<void> {
    const { options, place, run } = this;
    const { snapshot } = this.current;
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
    await this.current.ids.open();
    for (const cutOff of run.state().running) {
      await (this.lanes && (cutOff.lane !== undefined || cutOff.settled)
        ? this.lanes.recover(cutOff, this.current.snapshot)
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
    const { current, options, place, run } = this;
    const prepared = await prepareStories(run, place.git, options.prepare, current.snapshot);
    if ('kind' in prepared) {
      return prepared;
    }
    current.snapshot = prepared.snapshot;
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
    const { current, run, verdict } = this;
    const { otherMode, problem, snapshot } = current;
    const isAstray = verdict?.kind === 'astray';
    const decision = decide({
      state: run.state(),
      stories: snapshot.stories ? snapshot.stories.stories : undefined,
      problems: snapshot.stories?.problems,
      config: run.config,
      stopRequested: run.stop.requested,
      // What an iteration left behind is more than what it looks like now.
      verdict: (isAstray ? verdict : problem) ?? verdict ?? this.lanes?.verdict,
      otherMode,
      working: this.lanes?.working,
      // Until the agents have ended, their stories have two numbers.
      freeLanes: current.haveNumbersMoved ? 0 : this.lanes?.free,
    });
    if (isComplete(decision) && this.lanes?.landedTicks.isInDoubt) {
      return { kind: 'wait' };
    }
    const isAnyWorking = (this.lanes?.working.length ?? 0) > 0;
    return current.settle(decision, isAnyWorking);
  }

  /** With lanes, only starts the iteration. */
  async iterate(start: Start): Promise<void> {
    const { current, run } = this;
    const { iteration, story } = start;
    if (this.lanes) {
      this.lanes.start(start, current.snapshot);
      return;
    }
    if (this.keepsShort && story !== undefined) {
      this.keepsShort = await keepProgressShort(run);
    }
    const forgetHints = await tellPendingHints(run, current.snapshot, story);
    const scope = this.scopeOf(iteration, story, current.snapshot);
    await this.land(await runIteration(run, scope, this.briefer));
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
    const { current, desk, lanes, place, run } = this;
    const { journal } = run;
    const acceptRemovals = await current.noteList();
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
    await acceptRemovals();
  }

  /** Reads the files between two iterations, and what people have asked for. */
  async refresh(): Promise<void> {
    const { accepted, current, desk, options } = this;
    await desk.look();
    await accepted.add();
    await current.syncTracker(options.tracker);
    await current.refresh(() => desk.takeHandled());
  }

  end(end: RunEnd): Promise<RunState> {
    const { briefer, current, desk, lanes, options, place, run } = this;
    return endRun(run, end, {
      ...{ briefer, current, desk, lanes, place, tracker: options.tracker },
      tidy: async () => this.tidy?.(),
      finishIterations: () => this.finishIterations(),
    });
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
    const { current, run } = this;
    const { after, isAstray, verdict } = await land(run, await current.ids.followed(work), again =>
      current.ids.followed(again),
    );
    this.desk.endSkips(work.scope.iteration);
    await current.takeOver(after, isAstray === true);
    this.verdict = verdict;
  }

  /** Judges an iteration that was interrupted by the loop's end, by its commits and files. */
  private async landCutOff(cutOff: CurrentIteration): Promise<void> {
    const { current, run } = this;
    const { doubt, kept, left, stories } = await readBoundary(run, cutOff, current);
    if (doubt !== undefined) {
      this.verdict = doubt;
      return;
    }
    const story = stories?.stories.find(({ id }) => id === cutOff.storyId);
    const scope = this.scopeOf(cutOff.number, story, { stories, head: cutOff.startCommit });
    await this.land(await collectWork(run, { scope, kept, left }));
  }

  /**
   * Syncs the end of the last iteration to the disk if no other iteration follows immediately: the start of the
   * next one would sync both.
   */
  private async finishIterations(): Promise<void> {
    const { journal, keptStories } = this.run;
    const { judged } = keptStories;
    if (judged.length > 0) {
      await journal.syncInParallel();
      await keptStories.removeJudged(judged);
    }
  }

  private async facts() {
    const { lanes, openPlaces, options, place } = this;
    const { snapshot } = this.current;
    const branch = lanes?.branch ?? snapshot.branch ?? (await place.git.branch());
    return startFacts(options, { branch, isIsolated: openPlaces !== undefined, snapshot });
  }

  private async open(): Promise<void> {
    this.run.journal.sync();
    await this.run.marker.write(true);
    this.desk.listen();
    this.startWatch.dispose();
    warnAtStart(this.run, this.options, this.current.snapshot);
  }
}

function asRecorded(prepare: Preparation): NonNullable<RunState['prepare']> {
  return prepare.kind === 'plan' ? { kind: 'plan' } : { kind: 'tasks', tasks: [...prepare.tasks] };
}

function isComplete(decision: Decision): boolean {
  return decision.kind === 'end' && decision.outcome === 'completed';
}
