import type { Words } from '../../base/say.ts';
import type { CurrentIteration } from './currentIteration.ts';
import type { Discovery } from './discoveries.ts';
import type {
  DuplicateKind,
  HeldReason,
  IterationOutcome,
  PauseReason,
  RunMode,
  RunOutcome,
  StopMode,
} from './eventCodes.ts';
import type { RunEvent } from './events.ts';
import type { StoryCount } from './storyCount.ts';
import { type CallError, NO_NOTES, type Question, type StoryNotes } from './storyNotes.ts';
import { NEW_STORY_RECORD, type StoryRecord } from './storyRecord.ts';
import { NO_TOKENS, type TokenCounts } from './tokenCounts.ts';

/** In free-form and plan mode, the progress is that of the whole task. */
export const WHOLE_TASK = '';

/** A commit that an iteration made. */
export interface RecordedCommit {
  readonly hash: string;
  readonly subject: string;
  readonly at: string;
  readonly iteration: number;
  readonly storyId?: string;
  /** It landed the work of an agent with a place of its own; a merge has the branch as its first parent. */
  readonly landed?: true;
}

/** A commit of a done story that was removed from the branch. */
export interface LostCommit {
  readonly hash: string;
  readonly subject: string;
  readonly storyId: string;
}

/** Where something is defined. */
interface NotedDefinition {
  /** Relative to the repository's root. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly name: string;
}

/** New code of an iteration that repeats what the project had before. */
export interface DuplicatesNote {
  readonly iteration: number;
  readonly found: readonly (NotedDefinition & {
    readonly kind: DuplicateKind;
    readonly other: NotedDefinition;
  })[];
}

/** A usage limit that a call of an iteration waits for. */
export interface LimitWaiting {
  readonly kind: 'limit';
  /** ISO 8601. */
  readonly until: string;
  readonly known: boolean;
  readonly message: Words;
}

/** The run itself is waiting. */
export interface Pause {
  readonly kind: 'pause';
  readonly reason: PauseReason;
  readonly storyId?: string;
  readonly detail?: string;
  /** Ids of the stories that a person has paused, if no other one can be worked on. */
  readonly stories?: readonly string[];
  /** Those among them whose conflict a person settles. */
  readonly settling?: readonly string[];
  /** Lanes that a person has paused, if there is no other one. */
  readonly lanes?: readonly number[];
}

/** Why the run is waiting although its process is alive. */
export type Waiting = LimitWaiting | Pause;

/** The state of a run: the fold of all events of its journal. */
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
  /** The branch of its last iteration; '' for a detached HEAD. */
  readonly workBranch?: string;
  readonly pid?: number;
  readonly startId?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** The last iteration that was started; 0 before the first. */
  readonly iteration: number;
  readonly maxIterations: number;
  /** Number of agents that may work at once. */
  readonly lanes: number;
  /** Number of agents that a person has chosen while the run was active; kept when it continues. */
  readonly lanesChosen?: number;
  /** The story that each lane had last, by its number: that is whose place it is. */
  readonly laneStories: ReadonlyMap<number, string>;
  /** Agents work in places of their own, and their work lands on `branch`. */
  readonly isolated?: true;
  /** Lanes in which no further agent starts. */
  readonly pausedLanes?: readonly number[];
  /** What has landed is kept next to the branch, which cannot follow now. */
  readonly held?: {
    readonly reason: HeldReason;
    readonly files: readonly string[];
    readonly untracked?: readonly string[];
    readonly ref: string;
  };
  readonly stuckThreshold: number;
  readonly budgetUsd?: number;
  readonly payer?: 'apiKey' | 'login';
  /** Its agents get no token of GitHub: its stories are issues, or may be. */
  readonly withoutTokens?: true;
  readonly verify: readonly string[];
  /** A claim counts as done only after a reviewer has approved it. */
  readonly reviewer?: true;
  /** The settings of its command line, as in the journal: not validated. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly stories: StoryCount;
  /** Ids of the stories that it works on; absent: all. */
  readonly onlyStories?: readonly string[];
  /** What the loop does when the last window is closed; absent: continue. */
  readonly onLastWindow?: 'continue' | 'stopAfterIteration';
  /** The latest stop mode, whoever requested it. */
  readonly stopMode?: StopMode;
  readonly pause?: Pause;
  /** Usage limits that calls wait for, by iteration number; 0 for the planner. */
  readonly limits: ReadonlyMap<number, LimitWaiting>;
  readonly pauseRequested: boolean;
  readonly hints: readonly {
    readonly text: string;
    readonly storyId?: string;
    readonly id?: string;
  }[];
  /** Without an answer: a person let the run continue although the question was open. */
  readonly answers: readonly {
    readonly question: string;
    readonly answer?: string;
    readonly storyId?: string;
  }[];
  /** Notes about each story for its next iteration; in modes without stories, about {@link WHOLE_TASK}. */
  readonly storyNotes: ReadonlyMap<string, StoryNotes>;
  /** Files with uncommitted changes at the start of the first iteration, relative to the repository's root. */
  readonly uncommittedBefore?: readonly string[];
  /** Files that git did not track at the start of the first iteration, relative to the repository's root. */
  readonly untrackedBefore?: readonly string[];
  /** What the last iteration with commits has repeated; absent: nothing. */
  readonly duplicates?: DuplicatesNote;
  /** The last iteration that left its work on a branch other than the run's. */
  readonly branchLeft?: {
    readonly iteration: number;
    readonly found: string;
    readonly broughtBack: boolean;
  };
  /** Commits missing from the branch at the last check, newest first. */
  readonly lostCommits?: readonly LostCommit[];
  /** How its stories will be created; absent once they exist. */
  readonly prepare?: NonNullable<Extract<RunEvent, { type: 'run.started' }>['prepare']>;
  /** The planning agent's process, before the first iteration. */
  readonly planner?: { readonly agentPid: number; readonly agentStartId?: string };
  /** Iterations that were interrupted by the run's end; judged when the run continues. */
  readonly cutOff: readonly CurrentIteration[];
  /** Running iterations, in the order of their starts; with lanes, also those that wait to land. */
  readonly running: readonly CurrentIteration[];
  /** `ANTHROPIC_API_KEY` means the API account is billed. */
  readonly apiKeySource?: string;
  readonly costUsd: number;
  /** Part of it is an estimate: a call ended without a result. */
  readonly costEstimated?: true;
  /** `costUsd` is incomplete: one of its agents does not report its cost. */
  readonly costUnknown?: true;
  readonly usage: TokenCounts;
  readonly commits: readonly RecordedCommit[];
  readonly storyRecords: ReadonlyMap<string, StoryRecord>;
  /** Work that agents found, and what people decided about it, also about that of earlier runs. */
  readonly discoveries?: readonly Discovery[];
  readonly lastIteration?: {
    readonly number: number;
    readonly outcome: IterationOutcome;
    readonly storyId?: string;
  };
  /** The story that was completed last. */
  readonly lastCompletedStory?: string;
  /**
   * The last rollback, if no iteration followed it: to before an iteration of this run, or of the run that it
   * names.
   */
  readonly rolledBack?: {
    readonly iteration: number;
    readonly of?: string;
    readonly commit: string;
  };
  /** For a run that ended because no story was ready: ids of the remaining stories. */
  readonly open?: readonly string[];
  /** The ones among them that form a cycle; the first one is repeated at the end. */
  readonly circle?: readonly string[];
  /** How many stories the file had put aside when all others were done, or none of them was ready. */
  readonly putAside?: number;
  /** The ones among them that wait for a story that is put aside. */
  readonly aside?: readonly {
    readonly id: string;
    /** The story that is put aside. */
    readonly on: string;
    readonly status?: string | undefined;
  }[];
  /** The ones among them that wait for a story that the file does not have. */
  readonly unknown?: readonly {
    readonly id: string;
    /** The id that no story has. */
    readonly on: string;
    /** If the stories are in a folder: the story's own file. */
    readonly file?: string | undefined;
    /** Of the story. */
    readonly line: number;
  }[];
  /** The ones among them that were removed from the file. */
  readonly gone?: readonly string[];
  /** At the end of the run: ids that several stories of the file have. */
  readonly sharedIds?: readonly string[];
  /** At the end of the run: stories that are done without a commit, and the files that are not committed. */
  readonly uncommitted?: NonNullable<Extract<RunEvent, { type: 'run.ended' }>['uncommitted']>;
  readonly outcome?: RunOutcome;
  readonly exitCode?: number;
  readonly detail?: Words;
  /** How many times stories without ids have got other numbers; absent: never. */
  readonly renumberings?: number;
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
  laneStories: new Map(),
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

/** The journal's record of a story; an empty record for an unknown one. */
export function storyRecord(state: RunState, storyId: string): StoryRecord {
  return state.storyRecords.get(storyId) ?? NEW_STORY_RECORD;
}

/** The notes about a story, or about the whole task; empty for an unknown one. */
export function storyNotes(
  state: Pick<RunState, 'storyNotes'>,
  storyId: string | undefined,
): StoryNotes {
  return state.storyNotes.get(storyId ?? WHOLE_TASK) ?? NO_NOTES;
}

/** The running iteration; with several, the one that was started last. */
export function currentOf({ running }: Pick<RunState, 'running'>): CurrentIteration | undefined {
  return running.at(-1);
}

/** The iteration with this number, if it is running. */
export function runningIteration(
  { running }: Pick<RunState, 'running'>,
  iteration: number,
): CurrentIteration | undefined {
  return running.find(({ number }) => number === iteration);
}

/** The running iteration of a story; with several, the one that was started last. */
export function runningIn(
  { running }: Pick<RunState, 'running'>,
  storyId: string,
): CurrentIteration | undefined {
  return running.findLast(current => current.storyId === storyId);
}

/** Stories that a person ticked (true) or unticked (false) during this iteration. */
export function handledIn(
  state: Pick<RunState, 'running'>,
  iteration: number,
): ReadonlyMap<string, boolean> {
  return runningIteration(state, iteration)?.handled ?? new Map();
}

/** The iteration that was interrupted by the run's end; with several, the one that was started last. */
export function cutOffOf({ cutOff }: Pick<RunState, 'cutOff'>): CurrentIteration | undefined {
  return cutOff.at(-1);
}

/** What the run waits for; a pause takes precedence over a usage limit. */
export function waitingOf({
  limits,
  pause,
}: Pick<RunState, 'limits' | 'pause'>): Waiting | undefined {
  return pause ?? [...limits.values()].at(-1);
}

/** Whether a story has a place: one that its agent had last, or in which a person settles its conflict. */
export function hasPlace(
  { laneStories, storyNotes: notes }: Pick<RunState, 'laneStories' | 'storyNotes'>,
  storyId: string,
): boolean {
  return notes.get(storyId)?.settling !== undefined || [...laneStories.values()].includes(storyId);
}

/** Stories whose conflict a person settles now. */
export function settledStories({ storyNotes: notes }: Pick<RunState, 'storyNotes'>): string[] {
  return [...notes].flatMap(([id, { settling }]) => (settling ? [id] : []));
}

/** Ids of the stories that a person has paused or stopped. */
export function pausedStories({ storyRecords }: Pick<RunState, 'storyRecords'>): string[] {
  return [...storyRecords].flatMap(([id, { paused }]) => (paused ? [id] : []));
}

/** The newest unanswered question. */
export function questionOf(state: Pick<RunState, 'storyNotes'>): Question | undefined {
  return newest(openQuestions(state));
}

/** All unanswered questions, in the order of their iterations. With lanes, several stories may have one. */
export function openQuestions({
  storyNotes: notes,
}: Pick<RunState, 'storyNotes'>): readonly Question[] {
  return [...notes.values()]
    .flatMap(({ question }) => question ?? [])
    .sort((a, b) => a.iteration - b.iteration);
}

/** The newest error of a failed call. */
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
