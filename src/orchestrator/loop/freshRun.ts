import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../../base/emitter.ts';
import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { waitForSignal } from '../../base/waiting.ts';
import { payerOf } from '../agents/agentEnv.ts';
import { hurryGit } from '../git/gitPatience.ts';
import { hasTracked } from '../git/trackedFile.ts';
import { refreshHandoff } from '../iteration/briefing.ts';
import { writeHandoff } from '../iteration/handoff.ts';
import {
  finishIteration,
  recordOwedCommits,
  runIteration,
  settleCutOff,
} from '../iteration/iteration.ts';
import { appendError } from '../iteration/planLog.ts';
import { readSnapshot, type Snapshot } from '../iteration/snapshot.ts';
import { EXIT_CODES } from '../journal/eventCodes.ts';
import type { RunState } from '../journal/runState.ts';
import { tellsCost } from '../journal/tellsCost.ts';
import { activeOtherMode } from '../preconditions/modes.ts';
import { identify } from '../process/processIdentity.ts';
import { storyChanges } from '../proof/judge.ts';
import type { RunRequest } from '../workspace/inbox.ts';
import { clearOldRuns } from '../workspace/oldRuns.ts';
import { eventsOfRequest } from '../workspace/requestEvents.ts';
import { RequestWatcher } from '../workspace/requestWatcher.ts';
import { removeRestorePoints } from '../workspace/restorePoints.ts';
import { keepRunState } from '../workspace/runCheckpoint.ts';
import { runIds } from '../workspace/runFiles.ts';
import { followBranch } from './branchWatch.ts';
import { type Decision, decide, type Verdict } from './policy.ts';
import type { Preparation, RunContext } from './runContext.ts';
import { StateKeeper } from './stateKeeper.ts';
import { tellPendingHints } from './tellHints.ts';
import { WINDOW_GRACE_MS, WindowWatch } from './windowWatch.ts';

/** Of older runs only the journals are kept, and they can no longer be rolled back to by their numbers. */
const RUNS_KEPT = 20;

/** From the moment that the state is found to be gone until it is put back, in ms. */
const SETTLE_MS = 500;

/** Of a stop a git that does not answer is given so long to do so, in ms; of one that is to be quick so long. */
const STOPPED_GIT_MS = 20_000;
const HURRIED_GIT_MS = 2_000;

/** The steps of one run. What they share is in the {@link RunContext}. */
export class FreshRun {
  private readonly context: RunContext;
  private readonly inboxFrom: number;
  private tidying: Promise<void> | undefined;
  private verdict: Verdict | undefined;
  private otherMode: string | undefined;
  private readonly keeper: StateKeeper;
  /** Told once, until it succeeds. */
  private isMendDelayed = false;
  private requests: RequestWatcher | undefined;
  private stopListener: Disposable | undefined;
  private windows: WindowWatch | undefined;

  /** @param inboxFrom bytes of requests that were there before this loop had the lock */
  constructor(context: RunContext, inboxFrom: number) {
    this.context = context;
    this.inboxFrom = inboxFrom;
    this.keeper = new StateKeeper(context, () => this.requests?.watchAgain());
    context.onLook(() => this.look());
  }

  async start(): Promise<void> {
    const { context } = this;
    const { config, onlyStories, planDir, prepare, runId, storyFile } = context.options;
    const { head } = context.snapshot;
    if (prepare === undefined) {
      // For the first handoff; beside all that comes before it.
      context.lookAhead();
    }
    context.append({
      type: 'run.started',
      runId,
      ...(await this.facts()),
      mode: context.mode,
      task: context.task.slice(0, 4_000),
      maxIterations: config.maxIterations,
      stuckThreshold: config.stuckThreshold,
      ...(prepare === undefined ? {} : { prepare: asRecorded(prepare) }),
      ...(storyFile === undefined ? {} : { storyFile: context.relative(storyFile) }),
      ...(planDir === undefined ? {} : { planDir: context.relative(planDir) }),
      ...(onlyStories === undefined ? {} : { onlyStories: [...onlyStories] }),
      ...(head === undefined ? {} : { startCommit: head }),
    });
    await this.open();
    this.tidying = this.tidyUp();
    // Awaited at the end; until then a failure must not count as unhandled.
    this.tidying.catch(() => undefined);
  }

  /** Goes on with a run that had ended; the iteration that was cut off then is judged first. */
  async resume(): Promise<void> {
    const { context } = this;
    const { config } = context.options;
    context.append({
      type: 'run.resumed',
      ...(await this.facts()),
      maxIterations: config.maxIterations,
      stuckThreshold: config.stuckThreshold,
    });
    await this.open();
    this.verdict = await settleCutOff(context);
    const { current, iteration: last } = context.state;
    // A loop that is killed right after an iteration has no time to remove what it kept for it. One that a stop has cut off
    // again is still to be judged.
    for (let iteration = last; iteration > 0; iteration--) {
      if (iteration !== current?.number) {
        context.judgedIterations.add(iteration);
      }
    }
    await finishIteration(context);
  }

  async decide(): Promise<Decision> {
    const { context } = this;
    const decision = decide({
      state: context.state,
      ...(context.snapshot.stories && { stories: context.snapshot.stories.stories }),
      config: context.options.config,
      stopRequested: context.options.stop.requested,
      ...(this.verdict && { verdict: this.verdict }),
      ...(this.otherMode === undefined ? {} : { otherMode: this.otherMode }),
    });
    if (decision.kind !== 'iterate') {
      await finishIteration(context);
    }
    return decision;
  }

  async iterate({ iteration, story }: Extract<Decision, { kind: 'iterate' }>): Promise<void> {
    const { context } = this;
    const forgetHints = await tellPendingHints(context, story?.id);
    this.verdict = await runIteration(context, iteration, story);
    await forgetHints();
    await appendError(context, iteration);
  }

  /** Leaves a story alone that does not get on although its agent was warned. */
  skip({ iterations, story }: Extract<Decision, { kind: 'skip' }>): void {
    const { context } = this;
    const storyId = story.id;
    context.append({ type: 'story.stuck', storyId, iterations, action: 'skip' });
    context.append({ type: 'story.skipped', storyId, by: 'stuck' });
  }

  /** Lets the others have their turn before a story that does not get on. */
  later({ iterations, story }: Extract<Decision, { kind: 'later' }>): void {
    this.context.append({ type: 'story.stuck', storyId: story.id, iterations, action: 'later' });
  }

  /** Waits for a person, or for a stop. */
  async pause({ detail, reason, storyId }: Extract<Decision, { kind: 'pause' }>): Promise<void> {
    const { context } = this;
    const { stop } = context.options;
    const wake = context.wakeSignal;
    context.append({
      type: 'pause.started',
      reason,
      ...(storyId === undefined ? {} : { storyId }),
      ...(detail === undefined ? {} : { detail: detail.slice(0, 2_000) }),
    });
    context.journal.sync();
    context.takeWorkTree();
    await waitForSignal(wake, stop.requestedSignal);
    context.append({ type: 'pause.ended', by: wake.aborted ? 'person' : 'stop' });
  }

  /** Looks at the files between two iterations; what others changed meanwhile is theirs, not the agent's. */
  async refresh(): Promise<void> {
    const { context } = this;
    await context.look();
    const before = context.snapshot;
    const handled = context.takeHandled();
    const [snapshot, otherMode] = await Promise.all([
      readSnapshot(context.options.storyFile, context.git, before),
      activeOtherMode(context.options.files),
    ]);
    context.snapshot = snapshot;
    this.otherMode = otherMode?.mode;
    await recordOwedCommits(context);
    for (const change of changesSince(before, context.snapshot, handled)) {
      context.append({ type: 'story.changed', ...change, by: 'outside' });
    }
    this.verdict = (await followBranch(context)) ?? this.verdict;
  }

  async end(decision: Extract<Decision, { kind: 'end' }>): Promise<RunState> {
    const { circle, detail, open, outcome } = decision;
    const { context } = this;
    // Once more, so that a tick in the last moment is not lost.
    try {
      await (context.isDisplaced ? undefined : context.look());
    } catch (error) {
      // What is gone of the state and cannot be put back must not hide how the run ended.
      context.warn('stateDamaged', messageOf(error));
    }
    this.requests?.dispose();
    this.requests = undefined;
    // A state that is put back after the end would say that the run goes on.
    await Promise.all([this.keeper.settled(), this.tidying]);
    this.stopListener?.dispose();
    this.windows?.dispose();
    try {
      await refreshHandoff(context, Math.max(1, context.state.iteration));
      context.handoff = {
        ...context.handoff,
        completed: outcome === 'completed',
        ...(detail === undefined ? {} : { completion_message: detail }),
      };
      if (!context.isDisplaced) {
        await writeHandoff(context.options.files, context.handoff);
      }
    } catch (error) {
      // The end itself must be recorded, also when the disk has room for nothing more than that.
      context.warn('handoffNotWritten', messageOf(error));
    }
    context.append({
      type: 'run.ended',
      outcome,
      exitCode: EXIT_CODES[outcome],
      ...(detail === undefined ? {} : { detail: detail.slice(0, 4_000) }),
      ...(open === undefined ? {} : { open: [...open] }),
      ...(circle === undefined ? {} : { circle: [...circle] }),
      stories: context.count(),
      iterations: context.state.iteration,
    });
    context.journal.sync();
    if (context.journal.isInPlace()) {
      await keepRunState(context.options.files, context.options.runId, context.state);
    }
    try {
      // Also after an error that came between an iteration's end and the next look at the run.
      await finishIteration(context);
    } catch (error) {
      context.warn('oldRunsNotCleared', messageOf(error));
    }
    try {
      await context.writeStateFile(false);
    } catch (error) {
      // The run has its end already; only other modes may take it for active.
      context.warn('stateFileNotWritten', messageOf(error));
    }
    return context.state;
  }

  /** What a run says of itself each time it begins to work. */
  private async facts() {
    const { context } = this;
    const { agent, apiKey, config, env, onLastWindow, settings, version } = context.options;
    const branch = await context.git.branch();
    const { model, budgetUsd } = config;
    const payer = payerOf(env, apiKey);
    return {
      version,
      ...(await identify(process.pid)),
      agent: agent.id,
      ...(model === undefined ? {} : { model }),
      ...(budgetUsd === undefined ? {} : { budgetUsd }),
      ...(agent.id === 'claude' || agent.id === 'sdk' ? { payer } : {}),
      ...(config.verify.length === 0 ? {} : { verify: [...config.verify] }),
      ...(config.reviewer && { reviewer: true }),
      ...(settings === undefined ? {} : { settings: { ...settings } }),
      ...(onLastWindow === undefined ? {} : { onLastWindow }),
      stories: context.count(),
      ...(branch === '' ? {} : { branch }),
    };
  }

  /** Restore points and transcripts would pile up for ever. Commits stay as long as git's own rules keep them. */
  private async tidyUp(): Promise<void> {
    const { files, runId } = this.context.options;
    const { workspace } = files;
    const kept = async () => {
      const ids = new Set([...(await runIds(files)), runId]);
      const upToThis = [...ids].filter(id => id <= runId).sort();
      // What seems younger came with the repository or from a wrong clock, and must push no other out.
      const younger = [...ids].filter(id => id > runId);
      return [...upToThis.slice(-RUNS_KEPT), ...younger];
    };
    const tasks = [
      ['restorePointsNotRemoved', async () => removeRestorePoints(workspace, await kept())],
      [
        'oldRunsNotCleared',
        async () => clearOldRuns(files, await kept(), place => hasTracked(workspace, place)),
      ],
    ] as const;
    for (const [code, task] of tasks) {
      try {
        await task();
      } catch (error) {
        this.context.warn(code, messageOf(error));
      }
    }
  }

  private async open(): Promise<void> {
    const { context } = this;
    context.journal.sync();
    await context.writeStateFile(true);
    this.listen();
    this.warnOfWhatIsNotSure();
  }

  private warnOfWhatIsNotSure(): void {
    const { context } = this;
    const { agent, config } = context.options;
    if (context.mode !== 'stories' && config.verify.length === 0) {
      context.warn('noChecks', say('The promise of the agent alone ends this run.'));
    }
    const hasBudget = config.budgetUsd !== undefined || config.iterationBudgetUsd !== undefined;
    if (hasBudget && !tellsCost(agent.id)) {
      context.warn('costUnknown', say('The agent {0} does not tell what it costs.', agent.id));
    }
  }

  private listen(): void {
    const { context } = this;
    const { files, onLastWindow, runId, stop, windowGraceMs = WINDOW_GRACE_MS } = context.options;
    if (onLastWindow === 'stopAfterIteration') {
      this.windows = new WindowWatch(windowGraceMs);
      this.windows.onDidClose(() => stop.request('afterIteration', 'window'));
    }
    const requests = new RequestWatcher(files, runId, this.inboxFrom);
    this.requests = requests;
    requests.onRequest(request => this.take(request));
    requests.onCancel(() => stop.request('end', 'stateFile'));
    this.stopListener = stop.onDidRequest(({ mode, by }) => {
      if (mode !== 'afterIteration') {
        hurryGit(mode === 'kill' ? HURRIED_GIT_MS : STOPPED_GIT_MS);
      }
      try {
        context.append({ type: 'stop.requested', by, mode });
      } catch (error) {
        // Called from a signal handler, where nobody would catch it; the run ends in any case.
        process.stderr.write(`The stop could not be recorded: ${messageOf(error)}\n`);
      }
    });
    requests.onDamage(place => void this.mend(place));
    requests.onError(error => {
      try {
        context.warn('inboxUnreadable', error.message);
      } catch {
        // The journal cannot be written either; the loop meets that at its next event and ends.
      }
    });
  }

  /** Takes what people have asked; but first their requests must have a place. */
  private async look(): Promise<void> {
    if (this.requests === undefined) {
      return;
    }
    await this.keeper.restore();
    await this.requests?.look();
  }

  /** Beside the agent: whoever watches finds the run again. */
  private async mend(place: string): Promise<void> {
    const { context } = this;
    // Whoever removes the folder may still be at it.
    await delay(SETTLE_MS, undefined, { ref: false });
    if (this.requests === undefined) {
      return;
    }
    try {
      if (!(await this.keeper.restore()) && place === context.options.files.stateFile) {
        // Something else is there, which is not the loop's to remove.
        context.warn('stateDamaged', place);
      }
      this.isMendDelayed = false;
    } catch (error) {
      if (context.isDisplaced) {
        // Two agents must not work on the same files. Why the run ends is told where the loop meets this.
        context.options.stop.request('end', 'stateFile');
        return;
      }
      // Whoever removes it may go on with that for a while.
      this.requests?.tellAgain();
      if (!this.isMendDelayed) {
        this.isMendDelayed = true;
        process.stderr.write(`The state could not be restored yet: ${messageOf(error)}\n`);
      }
    }
  }

  private wakeIfAbout(storyId: string): void {
    if (isAbout(this.context.state.waiting, storyId)) {
      this.context.wake();
    }
  }

  private take(request: RunRequest): void {
    const { context } = this;
    const running = context.state.current?.storyId;
    const { waiting } = context.state;
    const events = eventsOfRequest(request, context.state);
    for (const event of events) {
      context.append(event);
    }
    switch (request.type) {
      case 'stop':
        context.options.stop.request(request.mode, 'inbox');
        break;
      case 'resume':
        if (context.state.pauseRequested && waiting === undefined) {
          // The pause that was asked for is called off before it began.
          context.append({ type: 'pause.ended', by: 'person' });
        }
        context.wake();
        break;
      case 'answer':
        context.wake();
        break;
      case 'skip':
        if (running !== undefined && (request.storyId ?? running) === running) {
          context.skipCurrent();
        } else if (request.storyId !== undefined) {
          this.wakeIfAbout(request.storyId);
        }
        break;
      case 'tick':
        context.noteHandled(request.storyId, request.done);
        this.wakeIfAbout(request.storyId);
        break;
      case 'reset':
        this.wakeIfAbout(request.storyId);
        break;
      case 'hello': {
        const { pid, startId, window: id } = request;
        const process = pid === undefined ? undefined : { pid, ...(startId && { startId }) };
        this.windows?.hello({ id, process });
        break;
      }
      case 'goodbye':
        this.windows?.goodbye(request.window);
        break;
      case 'pause':
      case 'hint':
        break;
    }
  }
}

function asRecorded(prepare: Preparation): NonNullable<RunState['prepare']> {
  return prepare.kind === 'plan' ? { kind: 'plan' } : { kind: 'tasks', tasks: [...prepare.tasks] };
}

/** A person has settled what the run waits for. */
function isAbout(waiting: RunState['waiting'], storyId: string): boolean {
  return waiting?.kind === 'pause' && waiting.storyId === storyId;
}

function changesSince(before: Snapshot, now: Snapshot, handled: ReadonlyMap<string, boolean>) {
  return storyChanges({
    storiesBefore: before.stories?.stories ?? [],
    storiesAfter: now.stories?.stories ?? [],
    handled,
  });
}
