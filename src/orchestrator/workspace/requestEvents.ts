import { assertNever } from '../../base/assertNever.ts';
import type { RunEventBody } from '../journal/events.ts';
import { currentOf, questionOf, type RunState } from '../journal/runState.ts';
import type { RunRequest } from './inbox.ts';

/**
 * What a request of a person writes into the journal, the same whether a living loop takes it from its inbox or
 * a short writer records it while none lives. Pure. Nothing for `stop` and `resume`, which tell the loop what to
 * do and become events by that, for windows that come and go, and for a skip of the current story when there is none.
 */
export function eventsOfRequest(request: RunRequest, state: RunState): RunEventBody[] {
  switch (request.type) {
    case 'tick':
      return [{ type: 'story.ticked', storyId: request.storyId, done: request.done }];
    case 'pause':
      return [{ type: 'pause.requested' }];
    case 'skip': {
      const storyId = request.storyId ?? currentOf(state)?.storyId;
      return storyId === undefined ? [] : [{ type: 'story.skipped', storyId, by: 'person' }];
    }
    case 'reset':
      return [{ type: 'story.reset', storyId: request.storyId }];
    case 'hint':
      return [{ type: 'hint.given', text: request.text, ...ofStory(request.storyId) }];
    case 'answer':
      return [answered(request.text, state)];
    case 'stop':
    case 'resume':
    case 'hello':
    case 'goodbye':
      return [];
    default:
      return assertNever(request);
  }
}

/** An answer that comes too late, when nothing is asked any more, is still worth telling the agents. */
function answered(text: string, state: RunState): RunEventBody {
  const question = questionOf(state);
  return question === undefined
    ? { type: 'hint.given', text }
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
