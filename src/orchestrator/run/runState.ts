import { assertNever } from '../assertNever.ts';
import type { IterationOutcome, PauseReason, RunMode, RunOutcome, StopMode } from './eventCodes.ts';
import type { RunEvent, StoryCount } from './events.ts';

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

/** Which kind of done (or not yet done) the journal knows of a story, beyond what its file says. */
export interface StoryRecord {
  /** Who made it what it is now; the file alone says whether it is done. */
  readonly doneBy?: 'agent' | 'hand' | 'outside';
  /** The checks of the gate were green on the claim. */
  readonly verified?: true;
  /** The reviewer approved the claim. */
  readonly approved?: true;
  /** The gate or the reviewer said no to the claim, and its file may still say that it is done. */
  readonly refused?: true;
  /** Iterations in a row without progress on it. */
  readonly stuckFor: number;
  /** Iterations in a row whose call failed, or whose claim was refused. */
  readonly failures: number;
  readonly blocked?: string;
  /** Left alone in this run, and by whom. */
  readonly skipped?: 'person' | 'stuck';
  readonly costUsd: number;
  readonly iterations: number;
}

/** Tokens as billed. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
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

/** What runs now. */
export interface CurrentIteration {
  readonly number: number;
  readonly storyId?: string;
  readonly storyTitle?: string;
  readonly startedAt: string;
  readonly startCommit?: string;
  /** The agent's process, or the one of the check that runs. */
  readonly agentPid?: number;
  readonly agentStartId?: string;
  /** The agent is done and what it left is judged: guard, gate, reviewer. */
  readonly step?: 'agent' | 'gate' | 'review';
  /** What the calls of this iteration have cost so far. */
  readonly costUsd: number;
  /** Part of it is an estimate: a call ended without a result. */
  readonly costEstimated?: true;
  readonly usage?: TokenCounts;
  /** Stories that a person ticked (true) or unticked (false) meanwhile: the last word. */
  readonly handled: ReadonlyMap<string, boolean>;
  /** The newest thing the agent did: a tool's name and gist, or the last line it said. */
  readonly activity?: string;
  /** Commits recorded so far in this iteration. */
  readonly commits: number;
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
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  commits: [],
  storyRecords: new Map(),
  lastSeq: 0,
};

/** Hints and answers beyond these are forgotten, the oldest first. */
const MAX_NOTES = 50;

const NEW_STORY_RECORD: StoryRecord = { stuckFor: 0, failures: 0, iterations: 0, costUsd: 0 };

/** What the journal knows of a story; a fresh record for one it has not met. */
export function storyRecord(state: RunState, storyId: string): StoryRecord {
  return state.storyRecords.get(storyId) ?? NEW_STORY_RECORD;
}

/** Folds a whole journal. */
export function foldRun(events: Iterable<RunEvent>): RunState {
  let state = INITIAL_RUN_STATE;
  for (const event of events) {
    state = applyEvent(state, event);
  }
  return state;
}

/**
 * Folds one event into the state. Pure and total: any sequence of events gives a state, since journals
 * come from other versions, from crashes and from disks. An event that was already applied (by its `seq`)
 * changes nothing.
 */
export function applyEvent(before: RunState, event: RunEvent): RunState {
  if (event.seq <= before.lastSeq) {
    return before;
  }
  const state: RunState = { ...before, lastSeq: event.seq };
  switch (event.type) {
    case 'run.started':
      return {
        ...INITIAL_RUN_STATE,
        lastSeq: event.seq,
        phase: 'running',
        runId: event.runId,
        agent: event.agent,
        ...optional('model', event.model),
        mode: event.mode,
        task: event.task,
        ...optional('storyFile', event.storyFile),
        ...optional('planDir', event.planDir),
        ...optional('branch', event.branch),
        pid: event.pid,
        ...optional('startId', event.startId),
        startedAt: event.at,
        maxIterations: event.maxIterations,
        stuckThreshold: event.stuckThreshold,
        ...optional('budgetUsd', event.budgetUsd),
        ...optional('payer', event.payer),
        verify: event.verify ?? [],
        ...optional('settings', event.settings),
        ...optional('prepare', event.prepare),
        ...optional('onlyStories', event.onlyStories),
        ...optional('onLastWindow', event.onLastWindow),
        stories: count(event.stories),
      };
    case 'run.resumed':
      return resumed(state, event);
    case 'plan.written':
      return {
        ...withoutKey(state, 'prepare'),
        stories: { done: 0, total: event.stories },
      };
    case 'plan.refused':
      return state;
    case 'iteration.started':
      return {
        ...withoutKey(state, 'cutOff'),
        iteration: event.iteration,
        stories: count(event.stories),
        current: {
          number: event.iteration,
          ...optional('storyId', event.storyId),
          ...optional('storyTitle', event.storyTitle),
          startedAt: event.at,
          ...optional('startCommit', event.startCommit),
          commits: 0,
          step: 'agent',
          costUsd: 0,
          handled: new Map(),
        },
      };
    case 'agent.started': {
      const process = { agentPid: event.pid, ...optional('agentStartId', event.startId) };
      return state.current
        ? withCurrent(state, current => ({ ...current, ...process }))
        : { ...state, planner: process };
    }
    case 'agent.init':
      return {
        ...state,
        ...optional('apiKeySource', event.apiKeySource),
        ...optional('model', event.model),
      };
    case 'agent.text':
      return withCurrent(state, current => ({ ...current, activity: lastLine(event.text) }));
    case 'agent.tool':
      return withCurrent(state, current => ({
        ...current,
        activity: event.gist === '' ? event.name : `${event.name} ${event.gist}`,
      }));
    case 'agent.toolFailed':
    case 'agent.toolResult':
    case 'agent.retry':
    case 'agent.denied':
    case 'agent.output':
      return state;
    case 'agent.ended':
      return {
        ...withCost(withCurrent(state, withoutProcess), event),
        ...(event.error && {
          lastError: {
            iteration: event.iteration,
            kind: event.error.kind,
            message: event.error.message,
            ...(state.lastError?.iteration === event.iteration &&
              optional('recoveryAttempt', state.lastError.recoveryAttempt)),
          },
        }),
      };
    case 'commit.recorded':
      return {
        ...withCurrent(state, current => ({ ...current, commits: current.commits + 1 })),
        commits: [
          ...state.commits,
          {
            hash: event.hash,
            subject: event.subject,
            at: event.at,
            iteration: event.iteration,
            ...optional('storyId', event.storyId),
          },
        ],
      };
    case 'call.retried':
      return {
        ...state,
        lastError: {
          iteration: event.iteration,
          kind: event.error.kind,
          message: event.error.message,
          recoveryAttempt: `retry ${event.attempt} of ${event.maxAttempts}`,
        },
      };
    case 'agent.replaced':
      return { ...state, agent: event.to };
    case 'limit.waiting':
      return {
        ...state,
        waiting: { kind: 'limit', until: event.until, known: event.known, message: event.message },
      };
    case 'limit.ended':
      return withoutKey(state, 'waiting');
    case 'pause.requested':
      return { ...state, pauseRequested: true };
    case 'pause.started':
      return {
        ...state,
        pauseRequested: false,
        waiting: {
          kind: 'pause',
          reason: event.reason,
          ...optional('storyId', event.storyId),
          ...optional('detail', event.detail),
        },
      };
    case 'pause.ended':
      return afterPause(state, event.by);
    case 'hint.given':
      return {
        ...state,
        hints: [
          ...state.hints,
          {
            text: event.text,
            ...optional('storyId', event.storyId),
            ...optional('id', event.id),
          },
        ].slice(-MAX_NOTES),
      };
    case 'question.answered': {
      const { question, answer } = event;
      return {
        ...withoutKey(state, 'question'),
        answers: [
          ...state.answers,
          { question, answer, ...optional('storyId', event.storyId) },
        ].slice(-MAX_NOTES),
      };
    }
    case 'story.skipped':
      return withStory(state, event.storyId, record => ({ ...record, skipped: event.by }));
    case 'story.reset':
      return withStory(state, event.storyId, newStart);
    case 'story.stuck':
      return state;
    case 'guard.found':
      return {
        ...state,
        guard: {
          iteration: event.iteration,
          changes: event.changes,
          restored: event.restored,
        },
      };
    case 'gate.started':
      return withCurrent(state, current => ({ ...current, step: 'gate' }));
    case 'check.started':
      return withCurrent(state, current => ({
        ...current,
        activity: event.command,
        agentPid: event.pid,
        ...optional('agentStartId', event.startId),
      }));
    case 'check.ended': {
      const after = withCurrent(state, withoutProcess);
      return event.ok
        ? after
        : {
            ...after,
            failedCheck: {
              iteration: event.iteration,
              ...optional('storyId', state.current?.storyId),
              command: event.command,
              ...optional('exitCode', event.exitCode),
              timedOut: event.timedOut,
              output: event.outputTail,
            },
          };
    }
    case 'gate.ended': {
      if (!event.green) {
        return event.storyId === undefined
          ? state
          : withStory(state, event.storyId, record => ({ ...record, refused: true }));
      }
      const green = withoutKey(state, 'failedCheck');
      return event.storyId === undefined
        ? green
        : withStory(green, event.storyId, ({ refused: _refused, ...record }) => ({
            ...record,
            verified: true,
          }));
    }
    case 'review.ended': {
      const { iteration, storyId, objections } = event;
      return event.approved
        ? withStory(withoutKey(state, 'review'), storyId, ({ refused: _refused, ...record }) => ({
            ...record,
            approved: true,
          }))
        : withStory({ ...state, review: { iteration, storyId, objections } }, storyId, record => ({
            ...record,
            refused: true,
          }));
    }
    case 'story.changed':
      return withStory(
        state,
        event.storyId,
        ({ doneBy: _doneBy, verified: _verified, approved: _approved, ...rest }) => {
          const { refused: _refused, ...record } = rest;
          return event.done ? { ...record, doneBy: doneByOf(event.by) } : record;
        },
      );
    case 'story.ticked':
      return withStory(withHandled(state, event.storyId, event.done), event.storyId, record => ({
        ...newStart(record),
        ...(event.done && { doneBy: 'hand' as const }),
      }));
    case 'promise.seen': {
      const isWholeTask = state.current?.storyId === undefined;
      if (event.signal === 'needsHuman' || (event.signal === 'blocked' && isWholeTask)) {
        // Without stories there is no other one to go on with, so it is a question too.
        return {
          ...state,
          question: {
            iteration: event.iteration,
            message: event.message,
            ...optional('storyId', state.current?.storyId),
          },
        };
      }
      if (event.signal === 'blocked' && state.current?.storyId !== undefined) {
        return withStory(state, state.current.storyId, record => ({
          ...record,
          blocked: event.message,
        }));
      }
      if (event.signal === 'complete' && !event.accepted) {
        return {
          ...state,
          refusedPromise: { iteration: event.iteration, message: event.message },
        };
      }
      return state;
    }
    case 'iteration.ended': {
      const { current: _current, ...rest } = state;
      const ended: RunState = {
        ...rest,
        stories: count(event.stories),
        // Journals of 0.1 tell the cost here alone.
        costUsd: state.costUsd - (state.current?.costUsd ?? 0) + costOf(event, state),
        ...(event.costEstimated === true && { costEstimated: true }),
        lastIteration: {
          number: event.iteration,
          outcome: event.outcome,
          ...optional('storyId', event.storyId),
        },
        ...(event.outcome === 'storyDone' && optional('lastCompletedStory', event.storyId)),
      };
      return withStory(ended, event.storyId ?? WHOLE_TASK, record =>
        afterIteration(
          { ...record, costUsd: record.costUsd + costOf(event, state) },
          event.outcome,
          event.progress ?? (event.outcome === 'storyDone' || event.outcome === 'progress'),
        ),
      );
    }
    case 'warning':
      return state;
    case 'stop.requested':
      return state.phase === 'running' || state.phase === 'stopping'
        ? { ...state, phase: 'stopping', stopMode: event.mode }
        : state;
    case 'run.ended': {
      const { current, waiting: _waiting, ...rest } = state;
      return {
        ...rest,
        ...optional('cutOff', current ?? state.cutOff),
        phase: 'ended',
        endedAt: event.at,
        outcome: event.outcome,
        exitCode: event.exitCode,
        ...optional('detail', event.detail),
        stories: count(event.stories),
      };
    }
    default:
      return assertNever(event);
  }
}

function afterIteration(
  record: StoryRecord,
  outcome: IterationOutcome,
  progress: boolean,
): StoryRecord {
  const counted = {
    ...record,
    iterations: record.iterations + 1,
    stuckFor: progress ? 0 : record.stuckFor + 1,
  };
  switch (outcome) {
    case 'storyDone':
    case 'progress':
    case 'noProgress':
    case 'blocked':
    case 'needsHuman':
      return { ...counted, failures: 0 };
    case 'failed':
    case 'rejected':
      return { ...counted, failures: record.failures + 1 };
    case 'stopped':
    case 'skipped':
      // A person cut it off; that says nothing about the story.
      return record;
    default:
      return assertNever(outcome);
  }
}

/** A person's touch is a new start for the story, whichever way it went. */
function newStart({
  doneBy: _doneBy,
  verified: _verified,
  approved: _approved,
  refused: _refused,
  blocked: _blocked,
  skipped: _skipped,
  ...record
}: StoryRecord): StoryRecord {
  return { ...record, stuckFor: 0, failures: 0 };
}

/** A run that ended for what a person must settle gives every story another chance when it goes on. */
function resumed(before: RunState, event: Extract<RunEvent, { type: 'run.resumed' }>): RunState {
  const {
    endedAt: _endedAt,
    outcome,
    exitCode: _exitCode,
    detail: _detail,
    question: _question,
    waiting: _waiting,
    budgetUsd: _budget,
    payer: _payer,
    model: _model,
    stopMode: _stopMode,
    onLastWindow: _onLastWindow,
    cutOff,
    ...state
  } = before;
  const isSettled = outcome === 'needsHuman' || outcome === 'stuck' || outcome === 'noReadyStory';
  return {
    ...state,
    phase: 'running',
    pid: event.pid,
    ...optional('startId', event.startId),
    agent: event.agent,
    ...optional('model', event.model),
    maxIterations: event.maxIterations,
    stuckThreshold: event.stuckThreshold,
    ...optional('budgetUsd', event.budgetUsd),
    ...optional('payer', event.payer),
    verify: event.verify ?? [],
    ...optional('settings', event.settings),
    ...optional('onLastWindow', event.onLastWindow),
    ...optional('branch', event.branch),
    stories: count(event.stories),
    pauseRequested: false,
    // The iteration that was cut off is judged first.
    ...optional('current', cutOff && withoutProcess(cutOff)),
    ...(isSettled && {
      storyRecords: new Map(
        [...state.storyRecords].map(([id, { blocked: _blocked, ...record }]) => [
          id,
          { ...record, stuckFor: 0, failures: 0 },
        ]),
      ),
    }),
  };
}

/** Going on after a question or an alert means that the person has settled it. */
function afterPause(before: RunState, by: 'person' | 'stop'): RunState {
  const { waiting, ...rest } = before;
  const state: RunState = { ...rest, pauseRequested: false };
  if (by === 'stop' || waiting?.kind !== 'pause') {
    return state;
  }
  const settled = waiting.reason === 'question' ? withoutKey(state, 'question') : state;
  return waiting.reason === 'stuck'
    ? withStory(settled, waiting.storyId ?? WHOLE_TASK, record => ({ ...record, stuckFor: 0 }))
    : settled;
}

function withoutProcess({
  agentPid: _pid,
  agentStartId: _startId,
  ...current
}: CurrentIteration): CurrentIteration {
  return current;
}

function doneByOf(
  by: Extract<RunEvent, { type: 'story.changed' }>['by'],
): NonNullable<StoryRecord['doneBy']> {
  return by === 'agent' ? 'agent' : 'outside';
}

function costOf(event: { readonly costUsd?: number | undefined }, { current }: RunState): number {
  return event.costUsd ?? current?.costUsd ?? 0;
}

function withCost(
  state: RunState,
  { costEstimated, costUsd, usage }: Extract<RunEvent, { type: 'agent.ended' }>,
): RunState {
  const estimated = costEstimated === true && ({ costEstimated } as const);
  const counted = withCurrent(state, current => ({
    ...current,
    costUsd: current.costUsd + (costUsd ?? 0),
    ...estimated,
    ...(usage && { usage: sum(current.usage, usage) }),
  }));
  return {
    ...counted,
    costUsd: state.costUsd + (costUsd ?? 0),
    ...estimated,
    usage: usage ? sum(state.usage, usage) : state.usage,
  };
}

function sum(a: TokenCounts | undefined, b: TokenCounts): TokenCounts {
  return {
    input: (a?.input ?? 0) + b.input,
    output: (a?.output ?? 0) + b.output,
    cacheRead: (a?.cacheRead ?? 0) + b.cacheRead,
    cacheWrite: (a?.cacheWrite ?? 0) + b.cacheWrite,
  };
}

function withoutKey<
  K extends 'waiting' | 'question' | 'failedCheck' | 'review' | 'cutOff' | 'planner' | 'prepare',
>(state: RunState, key: K): RunState {
  const { [key]: _gone, ...rest } = state;
  return rest as RunState;
}

function withStory(
  state: RunState,
  storyId: string,
  change: (record: StoryRecord) => StoryRecord,
): RunState {
  const storyRecords = new Map(state.storyRecords);
  storyRecords.set(storyId, change(storyRecord(state, storyId)));
  return { ...state, storyRecords };
}

/** A person's tick is not the doing of the iteration that runs, or of the one that was cut off. */
function withHandled(state: RunState, storyId: string, done: boolean): RunState {
  const handle = (iteration: CurrentIteration): CurrentIteration => ({
    ...iteration,
    handled: new Map([...iteration.handled, [storyId, done]]),
  });
  return {
    ...state,
    ...(state.current && { current: handle(state.current) }),
    ...(state.cutOff && { cutOff: handle(state.cutOff) }),
  };
}

function withCurrent(
  state: RunState,
  change: (current: CurrentIteration) => CurrentIteration,
): RunState {
  return state.current ? { ...state, current: change(state.current) } : state;
}

function count({ done, total }: StoryCount): StoryCount {
  return { done, total };
}

function optional<K extends string, V>(
  key: K,
  value: V | undefined,
): { [P in K]?: V } | Record<never, never> {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
