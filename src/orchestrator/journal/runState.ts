import type { CurrentIteration } from './currentIteration.ts';
import type { IterationOutcome, PauseReason, RunMode, RunOutcome, StopMode } from './eventCodes.ts';
import type { RunEvent } from './events.ts';
import type { StoryCount } from './storyCount.ts';
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

/** What keeps the run from going on, though it lives. */
export type Waiting =
  | {
      readonly kind: 'limit';
      /** ISO 8601. */
      readonly until: string;
      readonly known: boolean;
      readonly message: string;
    }
  | {
      readonly kind: 'pause';
      readonly reason: PauseReason;
      readonly storyId?: string;
      readonly detail?: string;
    };

/** The output of the check that refused a claim. */
export interface FailedCheck {
  readonly iteration: number;
  readonly storyId?: string;
  readonly command: string;
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly output: string;
}

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
  readonly waiting?: Waiting;
  readonly pauseRequested: boolean;
  /** Of the newest first question that nobody has answered yet. */
  readonly question?: {
    readonly iteration: number;
    readonly message: string;
    readonly storyId?: string;
  };
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
  /** The last refusal of the gate that no green one has followed. */
  readonly failedCheck?: FailedCheck;
  /** The last refusal of the reviewer that no approval has followed. */
  readonly review?: {
    readonly iteration: number;
    readonly storyId: string;
    readonly objections: readonly string[];
  };
  /** What the last iteration that did so changed without being allowed to. */
  readonly guard?: {
    readonly iteration: number;
    readonly changes: Extract<RunEvent, { type: 'guard.found' }>['changes'];
    readonly restored: boolean;
  };
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
  /** An iteration that the run's end cut off; judged when the run goes on. */
  readonly cutOff?: CurrentIteration;
  readonly current?: CurrentIteration;
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
  /** The last complete promise that the files contradicted. */
  readonly refusedPromise?: { readonly iteration: number; readonly message: string };
  readonly lastError?: {
    readonly iteration: number;
    readonly kind: string;
    readonly message: string;
    /** What the loop did about it in the same iteration. */
    readonly recoveryAttempt?: string;
  };
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
