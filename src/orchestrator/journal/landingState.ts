import { assertNever } from '../../base/assertNever.ts';
import { isNumberId } from '../../base/numberId.ts';
import type { RunEvent } from './events.ts';
import type { RunState } from './runState.ts';
import { withIteration, withNotes, withStory } from './stateChanges.ts';

type LandingEvent = Extract<
  RunEvent,
  {
    type:
      | 'work.kept'
      | 'landing.queued'
      | 'landing.candidate'
      | 'landing.landed'
      | 'landing.returned';
  }
>;

/** How work of an agent with a place of its own is kept, and lands. */
export function landingState(state: RunState, event: LandingEvent): RunState {
  switch (event.type) {
    case 'work.kept': {
      // Its commits are recorded when they land.
      const { base, commits, head, iteration, storyId } = event;
      if (base === undefined || head === undefined) {
        return state;
      }
      const kept = { iteration, base, head };
      const told = withIteration(state, event, current => ({ ...current, kept }));
      return commits === 0
        ? told
        : withNotes(told, storyId, notes => ({ ...notes, kept, conflict: undefined }));
    }
    case 'landing.queued': {
      // Not always its last commit: an agent that never commits lands with what it has left.
      const { base, head, iteration, storyId } = event;
      const kept = { iteration, base, head };
      return withNotes(
        withIteration(state, event, current => ({ ...current, kept, queued: true, step: 'queue' })),
        storyId,
        notes => ({ ...notes, kept, conflict: undefined }),
      );
    }
    case 'landing.candidate': {
      const { commit, onto } = event;
      return withIteration(state, event, current => ({
        ...current,
        candidate: { commit, onto },
      }));
    }
    case 'landing.landed':
      return withStory(
        withNotes(state, event.storyId, notes => ({
          ...notes,
          kept: undefined,
          conflict: undefined,
        })),
        event.storyId,
        record => ({ ...record, landed: true }),
      );
    case 'landing.returned': {
      const { base, files = [], head, iteration, onto, reason } = event;
      return reason === 'conflict'
        ? withNotes(state, event.storyId, notes => ({
            ...notes,
            kept: undefined,
            conflict: { iteration, base, head, onto, files },
          }))
        : state;
    }
    default:
      return assertNever(event);
  }
}

/** A story without an id of its own may have another number later. */
export function withTitle(
  state: RunState,
  {
    storyId,
    storyTitle: title,
  }: { readonly storyId?: string | undefined; readonly storyTitle?: string | undefined },
): RunState {
  return state.isolated && storyId !== undefined && isNumberId(storyId)
    ? withStory(state, storyId, record => ({ ...record, title }))
    : state;
}

/** The numbers of the stories mean others now: nothing is known of those any more. */
export function withoutNumbers(state: RunState): RunState {
  const named = <T>(map: ReadonlyMap<string, T>) =>
    new Map([...map].filter(([id]) => !isNumberId(id)));
  return {
    ...state,
    storyRecords: named(state.storyRecords),
    storyNotes: named(state.storyNotes),
  };
}
