import { assertNever } from '../../base/assertNever.ts';
import { isNumberId } from '../../base/numberId.ts';
import type { CurrentIteration } from './currentIteration.ts';
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
      | 'landing.returned'
      | 'story.settling';
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
      const { base, by, head, iteration, storyId } = event;
      const kept = { iteration, base, head };
      const left = runningIteration(state, iteration)?.kept;
      return withNotes(
        withIteration(by === 'person' ? reopened(state, event) : state, event, current => ({
          ...current,
          ...{ kept, queued: true, step: 'queue' },
        })),
        storyId,
        // If it is returned, the next agent continues with what its agent had committed, and with what it had not.
        notes => ({ ...notes, kept: left ?? kept, conflict: undefined, settling: undefined }),
      );
    }
    case 'story.settling': {
      const { settling, storyId } = event;
      return withNotes(state, storyId, notes => ({
        ...notes,
        settling: settling ? (notes.settling ?? notes.conflict) : undefined,
      }));
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
          settling: undefined,
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
        : reason === 'gone'
          ? withNotes(state, event.storyId, notes => ({ ...notes, kept: undefined }))
          : state;
    }
    default:
      return assertNever(event);
  }
}

/** Later, another story may have this id: in a new list, or because a number is no id of its own. */
export function withTitle(
  state: RunState,
  {
    storyId,
    storyTitle: title,
  }: { readonly storyId?: string | undefined; readonly storyTitle?: string | undefined },
): RunState {
  return storyId !== undefined && title !== undefined
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

/**
 * The iteration whose conflict a person has settled: it had ended, and its work waits to land once more. If no loop is
 * active, it lands when the run continues.
 */
function reopened(
  state: RunState,
  { at, base, head, iteration, storyId }: Extract<LandingEvent, { type: 'landing.queued' }>,
): RunState {
  const again: CurrentIteration = {
    ...{
      number: iteration,
      storyId,
      startedAt: at,
      settled: true,
      kept: { iteration, base, head },
    },
    ...{ queued: true, step: 'queue', commits: 0, costUsd: 0, handled: new Map() },
  };
  const list = state.phase === 'ended' ? 'cutOff' : 'running';
  const others = state[list].filter(({ number }) => number !== iteration);
  return { ...state, [list]: [...others, again] };
}
