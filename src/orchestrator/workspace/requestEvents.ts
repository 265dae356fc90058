import { assertNever } from '../../base/assertNever.ts';
import type { RunEventBody } from '../journal/events.ts';
import {
  currentOf,
  questionOf,
  type RunState,
  storyNotes,
  storyRecord,
} from '../journal/runState.ts';
import type { RunRequest } from './request.ts';

/**
 * The journal events for a person's request. They are the same whether a running loop takes the request from its
 * inbox or another process records it while no loop is running. Pure. There are none for `stop` and `resume`, which
 * control the loop and cause events of their own, for windows that open and close, and for a skip of the current
 * story if there is none.
 */
export function eventsOfRequest(request: RunRequest, state: RunState): RunEventBody[] {
  switch (request.type) {
    case 'tick':
      return [
        {
          type: 'story.ticked',
          storyId: request.storyId,
          done: request.done,
          ...(request.was && { was: request.was }),
        },
      ];
    case 'pause':
    case 'resume': {
      const { lane, storyId, type } = request;
      const paused = type === 'pause';
      return storyId !== undefined
        ? [{ type: 'story.paused', storyId, paused }]
        : lane !== undefined
          ? [{ type: 'lane.paused', lane, paused }]
          : paused
            ? [{ type: 'pause.requested' }]
            : [];
    }
    case 'lanes':
      return state.isolated ? [{ type: 'lanes.changed', lanes: request.lanes }] : [];
    case 'skip': {
      const storyId = request.storyId ?? currentOf(state)?.storyId;
      return storyId === undefined || isSkippedByPerson(state, storyId)
        ? []
        : [{ type: 'story.skipped', storyId, by: 'person' }];
    }
    case 'reset':
      return [{ type: 'story.reset', storyId: request.storyId }];
    case 'settle':
      return [settling(request, state)];
    case 'land':
      return [settled(request, state)];
    case 'hint':
      return [{ type: 'hint.given', text: request.text, ...ofStory(request.storyId) }];
    case 'answer':
      return [answered(request, state)];
    case 'discovery':
      return [discovered(request)];
    case 'stop':
      return request.storyId === undefined
        ? []
        : [{ type: 'story.paused', storyId: request.storyId, paused: true }];
    case 'hello':
    case 'goodbye':
      return [];
    default:
      return assertNever(request);
  }
}

/** Another window may have been faster; no agent gets such a story. */
export function isSkippedByPerson(state: RunState, storyId: string | undefined): boolean {
  return storyId !== undefined && storyRecord(state, storyId).skipped === 'person';
}

function discovered({
  action,
  id,
  storyFile,
  storyId,
  title,
  why,
}: Extract<RunRequest, { type: 'discovery' }>): RunEventBody {
  switch (action) {
    case 'accept':
      return { type: 'discovery.accepted', id, title, why, storyId, by: 'person' };
    case 'edit':
      return { type: 'discovery.edited', id, title: title ?? id };
    case 'drop':
      return { type: 'discovery.dropped', id };
    case 'added':
      return { type: 'discovery.added', id, storyId: storyId ?? id, storyFile };
    default:
      return assertNever(action);
  }
}

/** A story whose conflict is over, or whose work is landing already, has nothing to settle. */
function settling(
  { settling: wanted, storyId }: Extract<RunRequest, { type: 'settle' }>,
  state: RunState,
): RunEventBody {
  const { conflict, settling: before } = storyNotes(state, storyId);
  const isLanding = [...state.running, ...state.cutOff].some(
    current => current.storyId === storyId && current.queued,
  );
  const about = before ?? conflict;
  return wanted && about !== undefined && !isLanding
    ? { type: 'story.settling', storyId, settling: true, iteration: about.iteration }
    : { type: 'story.settling', storyId, settling: false };
}

/** Only what a person was known to settle lands; otherwise an agent may be working on the story again. */
function settled(
  { head, storyId }: Extract<RunRequest, { type: 'land' }>,
  state: RunState,
): RunEventBody {
  const { settling: about } = storyNotes(state, storyId);
  if (about === undefined) {
    return { type: 'story.settling', storyId, settling: false };
  }
  const { base, iteration } = about;
  return { type: 'landing.queued', iteration, storyId, base, head, by: 'person' };
}

/** An answer to a question that is no longer open becomes a hint, because the agents can still use it. */
function answered(
  { storyId, text }: Extract<RunRequest, { type: 'answer' }>,
  state: RunState,
): RunEventBody {
  const question = storyId === undefined ? questionOf(state) : storyNotes(state, storyId).question;
  return question === undefined
    ? { type: 'hint.given', text, ...ofStory(storyId) }
    : {
        type: 'question.answered',
        question: question.message,
        answer: text,
        ...ofStory(question.storyId),
      };
}

function ofStory(storyId: string | undefined): { storyId?: string } {
  return storyId === undefined ? {} : { storyId };
}
