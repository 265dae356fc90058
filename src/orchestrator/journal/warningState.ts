import type { RunEvent } from './events.ts';
import { withoutNumbers } from './landingState.ts';
import type { RunState } from './runState.ts';
import { storyOf, withNotes, withStory } from './stateChanges.ts';

/** Warnings of work that has landed without its tick. */
const TICK_MISSING: readonly string[] = ['tickNotWritten', 'tickNotCommitted'];
/** Warnings of work that does not land because of what it contains. */
const WITHHELD: readonly string[] = ['repositoryInside', 'stateInside'];

/** What a warning says about the story of its iteration. */
export function warningState(
  state: RunState,
  { code, detail, iteration = 0 }: Extract<RunEvent, { type: 'warning' }>,
): RunState {
  if (code === 'numbersMoved') {
    return withoutNumbers(state);
  }
  const storyId = storyOf(state, iteration);
  if (code === 'idShared') {
    return withNotes(state, storyId, ({ guard, ...notes }) => ({
      ...notes,
      guard: guard && { ...guard, idShared: detail },
    }));
  }
  if (code === 'storiesMisread') {
    return withNotes(state, storyId, ({ misread, ...notes }) => {
      const earlier = misread?.iteration === iteration ? misread.details : [];
      return { ...notes, misread: { iteration, details: [...earlier, detail] } };
    });
  }
  if (WITHHELD.includes(code)) {
    const withheld = { iteration, code, detail };
    return withNotes(state, storyId, notes => ({ ...notes, withheld }));
  }
  return TICK_MISSING.includes(code) && storyId !== undefined
    ? withStory(state, storyId, record => ({ ...record, tickMissing: true }))
    : state;
}
