import type { CurrentIteration } from './currentIteration.ts';
import type { IterationOutcome, PauseReason, RunMode, RunOutcome, StopMode } from './eventCodes.ts';
import type { RunEvent } from './events.ts';
import type { StoryCount } from './storyCount.ts';
import { type CallError, NO_NOTES, type Question, type StoryNotes } from './storyNotes.ts';
import { NEW_STORY_RECORD, type StoryRecord } from './storyRecord.ts';
import { NO_TOKENS, type TokenCounts } from './tokenCounts.ts';

/** In free-form and plan mode the task itself is what iterations make progress on. */
export const WHOLE_TASK = '';

/** One commit that an iteration made. */
export interface RecordedCommit {
  readonly hash: string;
  readonly subject: string;
  readonly at: string;
  readonly iteration: number;
  readonly storyId?: string;
}

/** One of a done story that was taken off the branch. */
export interface LostCommit {
  readonly hash: string;
  readonly subject: string;
  readonly storyId: string;
}

/** A usage limit that the call of an iteration waits for. */
export interface LimitWaiting {
  readonly kind: 'limit';
  /** ISO 8601. */
  readonly until: string;
  readonly known: boolean;
  readonly message: string;
}

/** The run itself waits. */
export interface Pause {
  readonly kind: 'pause';
  readonly reason: PauseReason;
  readonly storyId?: string;
  readonly detail?: string;
}

/** What keeps the run from going on, though it lives. */
export type Waiting = LimitWaiting | Pause;

/** A run as its journal tells it; the fold of all its events. */
export interface RunState {
  readonly runId?: string;
  readonly phase: 'idle' | 'running' | 'stopping' | 'ended';
  readonly agent?: string;
  readonly model?: string;
  readonly mode?: RunMode;
  readonly task: string;
  readonly storyFile?: string;
  readonly planDir?: string;
  readonly branch?: string;
  /** The one that its last iteration was to work on; '' for a detached HEAD. */
  readonly workBranch?: string;
  readonly pid?: number;
  readonly startId?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** Last iteration that was started; 0 before the first. */
  readonly iteration: number;
  readonly maxIterations: number;
  /** So many iterations may run at once. */
  readonly lanes: number;
  readonly stuckThreshold: number;
  readonly budgetUsd?: number;
  readonly payer?: 'apiKey' | 'login';
  readonly verify: readonly string[];
  /** A claim is done only when a reviewer has approved it. */
  readonly reviewer?: true;
  /** What its command line set, as the journal has it: unchecked. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly stories: StoryCount;
  /** Ids of the stories that it works on; absent: on all. */
  readonly onlyStories?: readonly string[];
  /** What the loop does when the last window is closed; absent: goes on. */
  readonly onLastWindow?: 'continue' | 'stopAfterIteration';
  /** What was asked for last, by whoever asked to stop. */
  readonly stopMode?: StopMode;
  readonly pause?: Pause;
  /** Usage limits that are waited for, by the numbers of the iterations; 0 for the planner. */
  readonly limits: ReadonlyMap<number, LimitWaiting>;
  readonly pauseRequested: boolean;
  readonly hints: readonly {
    readonly text: string;
    readonly storyId?: string;
    readonly id?: string;
  }[];
  readonly answers: readonly {
    readonly question: string;
    readonly answer: string;
    readonly storyId?: string;
  }[];
  /** What was said about each story, for its next iteration; about {@link WHOLE_TASK} where there are none. */
  readonly storyNotes: ReadonlyMap<string, StoryNotes>;
  /** Files that were not committed when its first iteration began, relative to the repository's root. */
  readonly uncommittedBefore?: readonly string[];
  /** The last iteration that left its work elsewhere than on the run's branch. */
  readonly branchLeft?: {
    readonly iteration: number;
    readonly found: string;
    readonly broughtBack: boolean;
  };
  /** Missing from the branch when it was looked at last, the newest first. */
  readonly lostCommits?: readonly LostCommit[];
  /** How its stories are to be made, until they are. */
  readonly prepare?: NonNullable<Extract<RunEvent, { type: 'run.started' }>['prepare']>;
  /** The process of the planning agent, before the first iteration. */
  readonly planner?: { readonly agentPid: number; readonly agentStartId?: string };
  /** Iterations that the run's end cut off; judged when the run goes on. */
  readonly cutOff: readonly CurrentIteration[];
  /** Iterations that run, in the order of their starts; no more than there are lanes. */
  readonly running: readonly CurrentIteration[];
  /** `ANTHROPIC_API_KEY` means that the API account is billed. */
  readonly apiKeySource?: string;
  readonly costUsd: number;
  /** Part of it is an estimate: a call ended without a result. */
  readonly costEstimated?: true;
  /** `costUsd` is not all of it: an agent that does not tell what it costs works in it, or has. */
  readonly costUnknown?: true;
  readonly usage: TokenCounts;
  readonly commits: readonly RecordedCommit[];
  readonly storyRecords: ReadonlyMap<string, StoryRecord>;
  readonly lastIteration?: {
    readonly number: number;
    readonly outcome: IterationOutcome;
    readonly storyId?: string;
  };
  /** The story that an iteration has finished last. */
  readonly lastCompletedStory?: string;
  /** The last rollback that no iteration has followed: to before an iteration of this run, or of the one that it names. */
  readonly rolledBack?: {
    readonly iteration: number;
    readonly of?: string;
    readonly commit: string;
  };
  /** Of a run that ended since none was ready: ids of the stories that are left. */
  readonly open?: readonly string[];
  /** Those of them that wait for each other, the first one again at the end. */
  readonly circle?: readonly string[];
  /** At its end: stories that are done without a commit, and what is in none. */
  readonly uncommitted?: NonNullable<Extract<RunEvent, { type: 'run.ended' }>['uncommitted']>;
  readonly outcome?: RunOutcome;
  readonly exitCode?: number;
  readonly detail?: string;
  readonly lastSeq: number;
}

export const INITIAL_RUN_STATE: RunState = {
  phase: 'idle',
  task: '',
  iteration: 0,
  maxIterations: 0,
  stuckThreshold: 0,
  verify: [],
  stories: { done: 0, total: 0 },
  pauseRequested: false,
  limits: new Map(),
  lanes: 1,
  cutOff: [],
  running: [],
  storyNotes: new Map(),
  hints: [],
  answers: [],
  costUsd: 0,
  usage: NO_TOKENS,
  commits: [],
  storyRecords: new Map(),
  lastSeq: 0,
};

/** What the journal knows of a story; a fresh record for one it has not met. */
export function storyRecord(state: RunState, storyId: string): StoryRecord {
  return state.storyRecords.get(storyId) ?? NEW_STORY_RECORD;
}

/** What was said about a story, or about the whole task; nothing for one that the journal has not met. */
export function storyNotes(
  state: Pick<RunState, 'storyNotes'>,
  storyId: string | undefined,
): StoryNotes {
  return state.storyNotes.get(storyId ?? WHOLE_TASK) ?? NO_NOTES;
}

/** The one iteration that runs; of several the one that was started last. */
export function currentOf({ running }: Pick<RunState, 'running'>): CurrentIteration | undefined {
  return running.at(-1);
}

/** The iteration with this number, if it runs. */
export function runningIteration(
  { running }: Pick<RunState, 'running'>,
  iteration: number,
): CurrentIteration | undefined {
  return running.find(({ number }) => number === iteration);
}

/** Stories that a person ticked (true) or unticked (false) while this iteration runs. */
export function handledIn(
  state: Pick<RunState, 'running'>,
  iteration: number,
): ReadonlyMap<string, boolean> {
  return runningIteration(state, iteration)?.handled ?? new Map();
}

/** The iteration that the run's end cut off; of several the one that was started last. */
export function cutOffOf({ cutOff }: Pick<RunState, 'cutOff'>): CurrentIteration | undefined {
  return cutOff.at(-1);
}

/** What the run waits for: a pause before a usage limit. */
export function waitingOf({
  limits,
  pause,
}: Pick<RunState, 'limits' | 'pause'>): Waiting | undefined {
  return pause ?? [...limits.values()].at(-1);
}

/** The newest question that nobody has answered yet. */
export function questionOf({
  storyNotes: notes,
}: Pick<RunState, 'storyNotes'>): Question | undefined {
  return newest([...notes.values()].map(({ question }) => question));
}

/** How the newest call that failed did so. */
export function lastErrorOf({
  storyNotes: notes,
}: Pick<RunState, 'storyNotes'>): CallError | undefined {
  return newest([...notes.values()].map(({ lastError }) => lastError));
}

function newest<T extends { readonly iteration: number }>(
  notes: readonly (T | undefined)[],
): T | undefined {
  return notes
    .filter(note => note !== undefined)
    .reduce<T | undefined>(
      (a, b) => (a === undefined || b.iteration >= a.iteration ? b : a),
      undefined,
    );
}
