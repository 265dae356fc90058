import { assertNever } from '../../base/assertNever.ts';
import { withoutProcess } from './currentIteration.ts';
import type { RunEvent } from './events.ts';
import { isFatalError } from './fatalError.ts';
import { handledIn, type RunState, runningIteration, storyNotes, WHOLE_TASK } from './runState.ts';
import {
  storyOf,
  withIteration,
  withNotes,
  withoutLimit,
  withoutOwnQuestion,
  withStory,
} from './stateChanges.ts';
import { storyCount } from './storyCount.ts';
import { afterIteration, notRefused } from './storyRecord.ts';

type JudgedEvent = Extract<
  RunEvent,
  {
    type:
      | 'gate.started'
      | 'check.started'
      | 'check.ended'
      | 'gate.ended'
      | 'review.ended'
      | 'duplicates.found'
      | 'promise.seen'
      | 'iteration.ended';
  }
>;

/** How the work of an iteration is judged: its checks, its review, its promise and its outcome. */
export function judgedState(state: RunState, event: JudgedEvent): RunState {
  switch (event.type) {
    case 'gate.started':
      return withIteration(state, event, current => ({ ...current, step: 'gate' }));
    case 'check.started':
      return withIteration(state, event, current => ({
        ...current,
        activity: event.command,
        agentPid: event.pid,
        agentStartId: event.startId,
      }));
    case 'check.ended': {
      const after = withIteration(state, event, withoutProcess);
      return event.ok
        ? after
        : withNotes(after, storyOf(state, event.iteration), notes => ({
            ...notes,
            failedCheck: {
              iteration: event.iteration,
              command: event.command,
              exitCode: event.exitCode,
              timedOut: event.timedOut,
              output: event.outputTail,
              problem: event.problem,
            },
          }));
    }
    case 'gate.ended':
      return gateEnded(state, event);
    case 'review.ended': {
      const { approved, iteration, objections, storyId } = event;
      if (approved && isUnticked(state, iteration, storyId)) {
        return state;
      }
      return approved
        ? withStory(
            withNotes(state, storyId, notes => ({ ...notes, review: undefined })),
            storyId,
            record => ({ ...notRefused(record), approved: true }),
          )
        : withStory(
            withNotes(state, storyId, notes => ({ ...notes, review: { iteration, objections } })),
            storyId,
            record => ({ ...record, refused: true }),
          );
    }
    case 'duplicates.found':
      return duplicatesFound(state, event);
    case 'promise.seen':
      return promiseSeen(state, event);
    case 'iteration.ended':
      return iterationEnded(state, event);
    default:
      return assertNever(event);
  }
}

/** The gate has judged a claim, of one story or of the whole task. */
function gateEnded(
  state: RunState,
  { green, iteration, storyId }: Extract<RunEvent, { type: 'gate.ended' }>,
): RunState {
  if (green) {
    const passed = withNotes(state, storyId, notes => ({ ...notes, failedCheck: undefined }));
    return storyId === undefined || isUnticked(state, iteration, storyId)
      ? passed
      : withStory(passed, storyId, record => ({ ...notRefused(record), verified: true }));
  }
  if (storyId === undefined) {
    return state;
  }
  // If the iteration was for another story, the one with the refused claim must get the note as well.
  const { failedCheck } = storyNotes(state, storyOf(state, iteration));
  const told =
    failedCheck?.iteration === iteration
      ? withNotes(state, storyId, notes => ({ ...notes, failedCheck }))
      : state;
  return withStory(told, storyId, record => ({ ...record, refused: true }));
}

/** A person has set the story to not done meanwhile: it was proven in vain. */
function isUnticked(state: RunState, iteration: number, storyId: string): boolean {
  return handledIn(state, iteration).get(storyId) === false;
}

/** The newest code counts: what earlier iterations repeated, their next agents were told. */
function duplicatesFound(
  state: RunState,
  { duplicates, iteration }: Extract<RunEvent, { type: 'duplicates.found' }>,
): RunState {
  const place = ({ file, line, name }: Definition) => ({ file, line, name });
  const found = duplicates.map(({ kind, other, ...own }) => ({
    ...{ kind, ...place(own), other: place(other) },
  }));
  return { ...state, duplicates: found.length === 0 ? undefined : { iteration, found } };
}

type Definition = NonNullable<RunState['duplicates']>['found'][number]['other'];

function promiseSeen(
  state: RunState,
  { accepted, iteration, message, signal }: Extract<RunEvent, { type: 'promise.seen' }>,
): RunState {
  const storyId = storyOf(state, iteration);
  if (signal === 'needsHuman' || (signal === 'blocked' && storyId === undefined)) {
    // Without stories there is nothing else to continue with, so it is also a question.
    return withNotes(state, storyId, notes => ({
      ...notes,
      question: { iteration, message, storyId },
    }));
  }
  if (signal === 'blocked' && storyId !== undefined) {
    return withStory(state, storyId, record => ({ ...record, blocked: message }));
  }
  if (signal === 'complete' && !accepted) {
    return withNotes(state, storyId, notes => ({
      ...notes,
      refusedPromise: { iteration, message },
    }));
  }
  return state;
}

function iterationEnded(
  state: RunState,
  event: Extract<RunEvent, { type: 'iteration.ended' }>,
): RunState {
  const { iteration, outcome, storyId } = event;
  const current = runningIteration(state, iteration);
  const costUsd = event.costUsd ?? current?.costUsd ?? 0;
  const { question } = storyNotes(state, storyId);
  // What its own agent has just asked, a person should read, even if the story is done.
  const isMoot =
    outcome === 'storyDone' &&
    storyId !== undefined &&
    (question?.iteration ?? iteration) < iteration;
  const before = isMoot ? withoutOwnQuestion(state, storyId) : state;
  const ended: RunState = {
    ...withNotes(withoutLimit(before, iteration), storyId, notes => ({
      ...notes,
      lastIteration: { number: iteration, outcome },
    })),
    // Without lanes, no iteration is running any more.
    running: state.isolated ? state.running.filter(({ number }) => number !== iteration) : [],
    // The next iteration reuses its number: an iteration without an agent does not count.
    iteration: isNotBegun(event, state) ? Math.max(0, iteration - 1) : state.iteration,
    stories: storyCount(event.stories),
    // Agents have read about them meanwhile, and the code is another one.
    duplicates:
      event.commits > 0 && state.duplicates?.iteration !== iteration ? undefined : state.duplicates,
    // In journals of 0.1, only this event has the cost.
    costUsd: state.costUsd - (current?.costUsd ?? 0) + costUsd,
    costEstimated: event.costEstimated || state.costEstimated,
    lastIteration: { number: iteration, outcome, storyId },
    lastCompletedStory: (outcome === 'storyDone' && storyId) || state.lastCompletedStory,
  };
  return withStory(ended, storyId ?? WHOLE_TASK, before => {
    const record = { ...before, reset: undefined, costUsd: before.costUsd + costUsd };
    // What a person has settled is no attempt of an agent.
    return isNobodysFailure(event, state) || current?.settled
      ? record
      : afterIteration(
          record,
          outcome,
          event.progress ?? (outcome === 'storyDone' || outcome === 'progress'),
        );
  });
}

/** No agent could be started for the iteration. */
function isNotBegun(
  { iteration, outcome, storyId }: Extract<RunEvent, { type: 'iteration.ended' }>,
  state: RunState,
): boolean {
  const { lastError } = storyNotes(state, storyId);
  return (
    !state.isolated &&
    outcome === 'failed' &&
    lastError?.iteration === iteration &&
    lastError.kind === 'notStarted' &&
    runningIteration(state, iteration)?.hasWorked !== true
  );
}

/** A call that failed because of a missing program, login or credit says nothing about its story. */
function isNobodysFailure(
  { iteration, outcome, storyId }: Extract<RunEvent, { type: 'iteration.ended' }>,
  state: RunState,
): boolean {
  const { lastError } = storyNotes(state, storyId);
  return outcome === 'failed' && lastError?.iteration === iteration && isFatalError(lastError);
}
