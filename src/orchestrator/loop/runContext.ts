import path from 'node:path';
import { writeDerivedFile } from '../../base/plainFile.ts';
import type { Agent } from '../agents/agent.ts';
import { AgentCaller } from '../agents/call/agentCaller.ts';
import type { GitRepository, WorkTreeStatus } from '../git/git.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { initHandoff, type RalphFreshHandoff } from '../iteration/handoff.ts';
import type { PromptTemplate } from '../iteration/prompt/promptTemplate.ts';
import type { Snapshot } from '../iteration/snapshot.ts';
import type { RunMode } from '../journal/eventCodes.ts';
import type { RunEvent, RunEventBody } from '../journal/events.ts';
import { applyEvent } from '../journal/foldRun.ts';
import type { Journal } from '../journal/journal.ts';
import { INITIAL_RUN_STATE, type RunState } from '../journal/runState.ts';
import type { StoryCount } from '../journal/storyCount.ts';
import type { RunConfig } from '../settings/config.ts';
import type { OnLastWindow } from '../workspace/openWindows.ts';
import { requirePlainState } from '../workspace/plainState.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import type { StopSwitch } from '../workspace/stopSwitch.ts';

/** How the stories of a run come to be, before its first iteration. */
export type Preparation =
  /** A planning agent writes them from the task. */
  | { readonly kind: 'plan' }
  /** One for each of these. */
  | { readonly kind: 'tasks'; readonly tasks: readonly string[] };

/** What to do where another branch is wanted and the work tree has uncommitted changes. */
export type BranchAnswer = 'stay' | 'takeAlong' | 'cancel';

/** @returns the person's answer; never rejects for what the person does */
export type AskBranch = (question: {
  /** The branch that the story file names. */
  readonly wanted: string;
  /** The one that the work tree is on; '' when HEAD is detached. */
  readonly current: string;
  /** Aborted: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}) => Promise<BranchAnswer>;

export interface RunOptions {
  readonly files: RunFiles;
  readonly runId: string;
  /** Go on with the journal of `runId`. */
  readonly resume?: boolean;
  readonly agent: Agent;
  /** Takes over when `agent` cannot be started twice. */
  readonly fallbackAgent?: Agent;
  readonly config: RunConfig;
  /** Absolute path; absent in free-form and plan mode. */
  readonly storyFile?: string;
  /** Absolute path of a folder with plan.md, progress.md and errors.log: the pure loop. */
  readonly planDir?: string;
  readonly prepare?: Preparation;
  /** Ids of the stories to work on; absent: on all. */
  readonly onlyStories?: readonly string[];
  /** What to do when the last window that shows the run is closed; absent: go on. */
  readonly onLastWindow?: OnLastWindow;
  /** So long it may be away for a reload, in ms. */
  readonly windowGraceMs?: number;
  /** What the person asked for; defaults to the story file's description. */
  readonly task?: string;
  /** Whether an API key of the environment pays, or is kept from the agents. */
  readonly apiKey?: 'use' | 'remove';
  /** Environment the agents start from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the command line set, for the run to have again when it goes on; no secrets, nothing personal. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** This program's version, for the journal. */
  readonly version: string;
  readonly stop: StopSwitch;
  /** Asks the person at the terminal; without it, uncommitted changes refuse the run. */
  readonly askBranch?: AskBranch;
  /** Told of every event, after it is in the journal. */
  readonly onEvent?: (event: RunEvent) => void;
}

/**
 * What the steps of one run share. Everything in it can be read back from files: the journal gives the
 * state, the story file and git the snapshot, both together the handoff.
 */
export class RunContext {
  readonly options: RunOptions;
  readonly git: GitRepository;
  readonly journal: Journal;
  readonly caller: AgentCaller;
  readonly template: PromptTemplate | undefined;
  snapshot: Snapshot;
  /** Of an iteration after which git could not be read. */
  owedCommits:
    | {
        readonly iteration: number;
        readonly storyId: string | undefined;
        readonly since: string | undefined;
      }
    | undefined;
  handoff: RalphFreshHandoff;
  /** Another loop works here by now, and what both would write is its own. */
  isDisplaced = false;
  /** Iterations that are over, for which the story file may still be kept: their end may not be on the disk yet. */
  readonly judgedIterations = new Set<number>();
  /** The branch that the run works on, '' for a detached HEAD; absent until it is known. */
  branch: string | undefined;
  /** Real path of git's folder for the work tree, as the loop found it. */
  readonly gitDir: string | undefined;
  /** What was uncommitted at the last look, relative to the repository's root; absent when git gave no answer. */
  changedFiles: readonly string[] | undefined;
  private workTree: Promise<WorkTreeStatus> | undefined;
  private current: RunState;
  private wakeController = new AbortController();
  private skipController = new AbortController();
  private readonly startedAt: string;
  private lookAtRequests: () => Promise<void> | undefined = () => undefined;
  /** Stories that a person ticked since the last look at the file. */
  private handled = new Map<string, boolean>();

  constructor(options: {
    readonly run: RunOptions;
    readonly git: GitRepository;
    readonly journal: Journal;
    readonly snapshot: Snapshot;
    readonly template: PromptTemplate | undefined;
    /** Of the journal so far, when the run goes on. */
    readonly state?: RunState;
  }) {
    const { run, journal } = options;
    this.options = run;
    this.git = options.git;
    this.journal = journal;
    this.snapshot = options.snapshot;
    this.template = options.template;
    this.current = options.state ?? INITIAL_RUN_STATE;
    this.branch = this.current.workBranch;
    this.gitDir = gitDirOf(run.files.workspace);
    this.startedAt = this.current.startedAt ?? new Date().toISOString();
    this.handoff = initHandoff({
      prompt: this.task,
      maxIterations: run.config.maxIterations,
      completionPromise: run.config.completionPromise,
    });
    this.caller = new AgentCaller({
      files: run.files,
      runId: run.runId,
      agent: run.agent,
      ...(run.fallbackAgent && { fallbackAgent: run.fallbackAgent }),
      config: run.config,
      env: run.env,
      journal,
      stop: run.stop,
      wake: () => this.wakeSignal,
      costUsd: () => this.state.costUsd,
      iterationCostUsd: () => this.state.current?.costUsd ?? 0,
    });
    journal.onDidAppend(event => {
      this.current = applyEvent(this.current, event);
      run.onEvent?.(event);
    });
  }

  /** The fold of the journal so far. */
  get state(): RunState {
    return this.current;
  }

  get mode(): RunMode {
    return modeOf(this.options);
  }

  get task(): string {
    return taskOf(this.options, this.snapshot);
  }

  /** Aborted when a person wants the run to go on now; a new one after each time. */
  get wakeSignal(): AbortSignal {
    return this.wakeController.signal;
  }

  wake(): void {
    const { wakeController } = this;
    this.wakeController = new AbortController();
    wakeController.abort();
  }

  /** Aborted when a person skips the story of the current iteration. */
  get skipSignal(): AbortSignal {
    return this.skipController.signal;
  }

  skipCurrent(): void {
    this.skipController.abort();
  }

  /** A skip of the last iteration's story does not end this one. */
  beginSkippable(): void {
    if (this.skipController.signal.aborted) {
      this.skipController = new AbortController();
    }
  }

  /** @param listener takes what people have asked of the run so far */
  onLook(listener: () => Promise<void> | undefined): void {
    this.lookAtRequests = listener;
  }

  /** Takes what people have asked of the run so far. */
  async look(): Promise<void> {
    await this.lookAtRequests();
  }

  /**
   * Asks git for the state of the work tree, for the next handoff: nobody works until then. A question that is open
   * already was asked too early.
   */
  lookAhead(): void {
    this.workTree = this.git.status();
    // Whoever takes it hears of a failure.
    this.workTree.catch(() => undefined);
  }

  /** Whether {@link lookAhead} has asked, and nobody has worked since. */
  get looksAhead(): boolean {
    return this.workTree !== undefined;
  }

  /** What {@link lookAhead} asked for, once; `undefined` when it did not, or somebody has worked since. */
  takeWorkTree(): Promise<WorkTreeStatus> | undefined {
    const { workTree } = this;
    this.workTree = undefined;
    return workTree;
  }

  noteHandled(storyId: string, done: boolean): void {
    this.handled.set(storyId, done);
  }

  /** Stories that a person ticked or unticked during the current iteration. */
  handledNow(): ReadonlyMap<string, boolean> {
    return this.state.current?.handled ?? new Map();
  }

  /** Stories that a person ticked or unticked since the last call. */
  takeHandled(): ReadonlyMap<string, boolean> {
    const { handled } = this;
    this.handled = new Map();
    return handled;
  }

  /** Absolute path; beside the story file or the plan. */
  get progressFile(): string {
    return progressFileOf(this.options);
  }

  /** The folder of an iteration. */
  dir(iteration: number): string {
    return this.options.files.iterationDir(this.options.runId, iteration);
  }

  /** Relative to the workspace, with forward slashes. */
  relative(file: string): string {
    return relativePath(this.options.files.workspace, file);
  }

  append(event: RunEventBody): RunEvent {
    return this.journal.append(event);
  }

  warn(code: string, detail: string, iteration?: number): void {
    this.append({
      type: 'warning',
      code,
      detail: detail.slice(0, 2_000),
      ...(iteration === undefined || iteration < 1 ? {} : { iteration }),
    });
  }

  count(): StoryCount {
    const stories = this.snapshot.stories?.stories ?? [];
    return { done: stories.filter(story => story.done).length, total: stories.length };
  }

  /** The marker that other tools look at (Ralph-Fresh whitepaper, 7.4). */
  async writeStateFile(active: boolean): Promise<void> {
    const { files, runId, stop } = this.options;
    // Written again after somebody asked to cancel through it, it would hide that request.
    if (this.isDisplaced || (active && stop.requested)) {
      return;
    }
    requirePlainState(files, runId);
    const state = {
      active,
      started_at: this.startedAt,
      iteration: this.state.iteration,
      run_id: runId,
      pid: process.pid,
      workspace: files.workspace,
      ...(active ? {} : { outcome: this.state.outcome }),
    };
    await writeDerivedFile(files.stateFile, `${JSON.stringify(state, null, 2)}\n`);
  }
}

/** What a run works on: a plan before all else, then its story file, else the task alone. */
export function modeOf({ planDir, storyFile }: RunOptions): RunMode {
  return planDir !== undefined ? 'plan' : storyFile === undefined ? 'freeForm' : 'stories';
}

/** What the agents are told as their task. */
export function taskOf(options: RunOptions, { stories }: Snapshot): string {
  const { files, planDir, task } = options;
  return (
    task?.trim() ||
    (planDir === undefined
      ? stories?.description || stories?.project || 'Complete the stories.'
      : `Complete the plan in ${relativePath(files.workspace, path.join(planDir, 'plan.md'))}.`)
  );
}

/** Absolute path of the progress log: beside the story file or the plan. */
export function progressFileOf({ files, planDir, storyFile }: RunOptions): string {
  if (planDir !== undefined) {
    return path.join(planDir, 'progress.md');
  }
  const dir =
    storyFile === undefined ? path.join(files.workspace, '.omc') : path.dirname(storyFile);
  return path.join(dir, 'progress.txt');
}

/** A path as journals and prompts name it: relative to the workspace, with forward slashes on every system. */
export function relativePath(workspace: string, file: string): string {
  return path.relative(workspace, file).split(path.sep).join('/');
}
