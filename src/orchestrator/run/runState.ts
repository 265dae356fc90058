import { assertNever } from '../assertNever.ts';
import type { IterationOutcome, RunEvent, RunOutcome, StoryCount } from './events.ts';

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
  /** Iterations in a row without progress on it. */
  readonly stuckFor: number;
  /** Iterations in a row whose call failed. */
  readonly failures: number;
  readonly blocked?: string;
  readonly iterations: number;
}

/** What runs now. */
export interface CurrentIteration {
  readonly number: number;
  readonly storyId?: string;
  readonly storyTitle?: string;
  readonly startedAt: string;
  readonly startCommit?: string;
  readonly agentPid?: number;
  readonly agentStartId?: string;
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
  readonly mode?: 'stories' | 'freeForm';
  readonly task: string;
  readonly storyFile?: string;
  readonly branch?: string;
  readonly pid?: number;
  readonly startId?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** Last iteration that was started; 0 before the first. */
  readonly iteration: number;
  readonly maxIterations: number;
  readonly stuckThreshold: number;
  readonly stories: StoryCount;
  readonly current?: CurrentIteration;
  /** `ANTHROPIC_API_KEY` means that the API account is billed. */
  readonly apiKeySource?: string;
  readonly costUsd: number;
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
  stories: { done: 0, total: 0 },
  costUsd: 0,
  commits: [],
  storyRecords: new Map(),
  lastSeq: 0,
};

const NEW_STORY_RECORD: StoryRecord = { stuckFor: 0, failures: 0, iterations: 0 };

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
        ...optional('branch', event.branch),
        pid: event.pid,
        ...optional('startId', event.startId),
        startedAt: event.at,
        maxIterations: event.maxIterations,
        stuckThreshold: event.stuckThreshold,
        stories: count(event.stories),
      };
    case 'iteration.started':
      return {
        ...state,
        iteration: event.iteration,
        stories: count(event.stories),
        current: {
          number: event.iteration,
          ...optional('storyId', event.storyId),
          ...optional('storyTitle', event.storyTitle),
          startedAt: event.at,
          ...optional('startCommit', event.startCommit),
          commits: 0,
        },
      };
    case 'agent.started':
      return withCurrent(state, current => ({
        ...current,
        agentPid: event.pid,
        ...optional('agentStartId', event.startId),
      }));
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
    case 'agent.retry':
    case 'agent.denied':
    case 'agent.output':
      return state;
    case 'agent.ended':
      return {
        ...withCurrent(state, ({ agentPid: _pid, agentStartId: _startId, ...current }) => current),
        ...(event.error && {
          lastError: {
            iteration: event.iteration,
            kind: event.error.kind,
            message: event.error.message,
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
    case 'story.changed':
      return withStory(state, event.storyId, ({ doneBy: _doneBy, ...record }) => ({
        ...record,
        ...(event.done && { doneBy: event.by }),
      }));
    case 'story.ticked':
      return withStory(
        state,
        event.storyId,
        ({ doneBy: _doneBy, blocked: _blocked, ...record }) => ({
          ...record,
          // A person's touch is a new start for the story, whichever way it went.
          stuckFor: 0,
          failures: 0,
          ...(event.done && { doneBy: 'hand' as const }),
        }),
      );
    case 'promise.seen': {
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
        costUsd: state.costUsd + (event.costUsd ?? 0),
        lastIteration: {
          number: event.iteration,
          outcome: event.outcome,
          ...optional('storyId', event.storyId),
        },
        ...(event.outcome === 'storyDone' && optional('lastCompletedStory', event.storyId)),
      };
      return event.storyId === undefined
        ? ended
        : withStory(ended, event.storyId, record => afterIteration(record, event.outcome));
    }
    case 'warning':
      return state;
    case 'stop.requested':
      return state.phase === 'running' ? { ...state, phase: 'stopping' } : state;
    case 'run.ended': {
      const { current: _current, ...rest } = state;
      return {
        ...rest,
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

function afterIteration(record: StoryRecord, outcome: IterationOutcome): StoryRecord {
  const iterations = record.iterations + 1;
  switch (outcome) {
    case 'storyDone':
    case 'progress':
      return { ...record, iterations, stuckFor: 0, failures: 0 };
    case 'noProgress':
    case 'blocked':
    case 'needsHuman':
      return { ...record, iterations, stuckFor: record.stuckFor + 1, failures: 0 };
    case 'failed':
      return {
        ...record,
        iterations,
        stuckFor: record.stuckFor + 1,
        failures: record.failures + 1,
      };
    case 'stopped':
      // A person cut it off; that says nothing about the story.
      return record;
    default:
      return assertNever(outcome);
  }
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
