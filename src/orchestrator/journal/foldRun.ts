import { assertNever } from '../../base/assertNever.ts';
import { optional } from '../../base/optional.ts';
import { type CurrentIteration, withoutProcess } from './currentIteration.ts';
import type { RunEvent } from './events.ts';
import { isFatalError } from './fatalError.ts';
import { resumedRun, startedRun } from './runStart.ts';
import {
  INITIAL_RUN_STATE,
  type LostCommit,
  type RunState,
  storyRecord,
  WHOLE_TASK,
} from './runState.ts';
import { storyCount } from './storyCount.ts';
import {
  afterIteration,
  changed,
  newStart,
  notRefused,
  notStuck,
  type StoryRecord,
} from './storyRecord.ts';
import { tellsCost } from './tellsCost.ts';
import { addTokens, NO_TOKENS } from './tokenCounts.ts';

/** Hints and answers beyond these are forgotten, the oldest first. */
const MAX_NOTES = 50;

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
      return startedRun(event);
    case 'run.resumed':
      return resumedRun(state, event);
    case 'plan.written':
      return {
        ...withoutKey(state, 'prepare'),
        stories: { done: 0, total: event.stories },
      };
    case 'plan.refused':
      return state;
    case 'iteration.started':
      return {
        ...withoutKey(withoutKey(state, 'cutOff'), 'rolledBack'),
        iteration: event.iteration,
        stories: storyCount(event.stories),
        ...optional('workBranch', event.branch),
        ...optional('uncommittedBefore', state.uncommittedBefore ?? event.uncommitted),
        current: {
          number: event.iteration,
          ...optional('storyId', event.storyId),
          ...optional('storyTitle', event.storyTitle),
          startedAt: event.at,
          ...optional('startCommit', event.startCommit),
          ...optional('branch', event.branch),
          ...optional('storyLink', event.storyLink),
          commits: 0,
          step: 'agent',
          costUsd: 0,
          handled: new Map(),
        },
      };
    case 'agent.started': {
      const process = { agentPid: event.pid, ...optional('agentStartId', event.startId) };
      return state.current
        ? withCurrent(state, current => ({
            ...current,
            ...process,
            hasWorked: true,
            ...(event.purpose === 'review' && { step: 'review' as const }),
          }))
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
    case 'agent.overflow':
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
      return {
        ...state,
        agent: event.to,
        ...(!tellsCost(event.to) && { costUnknown: true }),
      };
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
      return event.action === 'later'
        ? withStory(state, event.storyId, record => ({
            ...record,
            later: { since: event.seq, stuckFor: record.stuckFor },
          }))
        : state;
    case 'guard.found':
      return {
        ...state,
        guard: {
          iteration: event.iteration,
          changes: event.changes,
          restored: event.restored,
        },
      };
    case 'branch.left':
      return {
        ...withCurrent(state, ({ leftElsewhere: before = [], ...current }) => ({
          ...current,
          ...(!event.broughtBack && {
            leftElsewhere: [...new Set([...before, ...event.commits.map(({ hash }) => hash)])],
          }),
        })),
        branchLeft: {
          iteration: event.iteration,
          found: event.found,
          broughtBack: event.broughtBack,
        },
      };
    case 'commits.lost':
      return withLost(
        state,
        event.commits.map(({ hash, storyId, subject }) => ({ hash, storyId, subject })),
      );
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
        : withStory(green, event.storyId, record => ({
            ...notRefused(record),
            verified: true,
          }));
    }
    case 'review.ended': {
      const { iteration, storyId, objections } = event;
      return event.approved
        ? withStory(withoutKey(state, 'review'), storyId, record => ({
            ...notRefused(record),
            approved: true,
          }))
        : withStory({ ...state, review: { iteration, storyId, objections } }, storyId, record => ({
            ...record,
            refused: true,
          }));
    }
    case 'story.changed':
      return withStory(withoutLost(state, event), event.storyId, record => changed(record, event));
    case 'story.ticked': {
      const told = withoutLost(withHandled(state, event.storyId, event.done), event);
      return withStory(told, event.storyId, record => ({
        ...newStart(record),
        ...(event.done && { doneBy: 'hand' as const }),
      }));
    }
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
        // The next one has its number: what no agent has begun uses up nothing.
        ...(isNotBegun(event, state) && { iteration: Math.max(0, event.iteration - 1) }),
        stories: storyCount(event.stories),
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
      return withStory(ended, event.storyId ?? WHOLE_TASK, before => {
        const record = { ...before, costUsd: before.costUsd + costOf(event, state) };
        return isNobodysFailure(event, state)
          ? record
          : afterIteration(
              record,
              event.outcome,
              event.progress ?? (event.outcome === 'storyDone' || event.outcome === 'progress'),
            );
      });
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
        ...optional('open', event.open),
        ...optional('circle', event.circle),
        ...optional('uncommitted', event.uncommitted),
        stories: storyCount(event.stories),
      };
    }
    case 'run.rolledBack': {
      const { commit, iteration, of } = event;
      return { ...state, rolledBack: { iteration, commit, ...optional('of', of) } };
    }
    default:
      return assertNever(event);
  }
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
    ? withStory(settled, waiting.storyId ?? WHOLE_TASK, notStuck)
    : settled;
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
    ...(usage && { usage: addTokens(current.usage ?? NO_TOKENS, usage) }),
  }));
  return {
    ...counted,
    costUsd: state.costUsd + (costUsd ?? 0),
    ...estimated,
    usage: usage ? addTokens(state.usage, usage) : state.usage,
  };
}

function withoutKey<
  K extends
    | 'waiting'
    | 'question'
    | 'failedCheck'
    | 'review'
    | 'cutOff'
    | 'planner'
    | 'prepare'
    | 'rolledBack',
>(state: RunState, key: K): RunState {
  const { [key]: _gone, ...rest } = state;
  return rest as RunState;
}

/** No agent could be started for it. */
function isNotBegun(
  { iteration, outcome }: Extract<RunEvent, { type: 'iteration.ended' }>,
  { current, lastError }: RunState,
): boolean {
  return (
    outcome === 'failed' &&
    lastError?.iteration === iteration &&
    lastError.kind === 'notStarted' &&
    current?.hasWorked !== true
  );
}

/** A call that failed for want of a program, a log-in or money says nothing about the story it was for. */
function isNobodysFailure(
  { iteration, outcome }: Extract<RunEvent, { type: 'iteration.ended' }>,
  { lastError }: RunState,
): boolean {
  return outcome === 'failed' && lastError?.iteration === iteration && isFatalError(lastError);
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

/** What was committed for a story that is to be done again need not come back. */
function withoutLost(
  state: RunState,
  { done, storyId }: { readonly done: boolean; readonly storyId: string },
): RunState {
  const { lostCommits = [] } = state;
  return withLost(
    state,
    lostCommits.filter(commit => done || commit.storyId !== storyId),
  );
}

function withLost(state: RunState, lostCommits: readonly LostCommit[]): RunState {
  const { lostCommits: _before, ...rest } = state;
  return lostCommits.length === 0 ? rest : { ...rest, lostCommits };
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

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
