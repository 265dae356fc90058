import { assertNever } from '../../base/assertNever.ts';
import type { RunEvent } from './events.ts';
import { type RunState, runningIteration, storyNotes } from './runState.ts';
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
      const { base, commits, head, iteration, storyId, uncommitted } = event;
      if (base === undefined || head === undefined) {
        return state;
      }
      const kept = { iteration, base, head, uncommitted };
      const told = withIteration(state, event, current => ({ ...current, kept }));
      if (commits > 0 || uncommitted !== undefined) {
        return withNotes(told, storyId, notes => ({ ...notes, kept, conflict: undefined }));
      }
      // It began with what was kept before, and may have removed uncommitted changes.
      return storyNotes(told, storyId).kept === undefined
        ? told
        : withNotes(told, storyId, notes => ({ ...notes, kept }));
    }
    case 'landing.queued': {
      // Not always its last commit: an agent that never commits lands with what it has left.
      const { base, head, iteration, storyId } = event;
      const kept = { iteration, base, head };
      const left = runningIteration(state, iteration)?.kept;
      return withNotes(
        withIteration(state, event, current => ({ ...current, kept, queued: true, step: 'queue' })),
        storyId,
        // If it is returned, the next agent continues with what its agent had committed, and with what it had not.
        notes => ({ ...notes, kept: left ?? kept, conflict: undefined }),
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
