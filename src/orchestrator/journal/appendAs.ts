import type { RunEvent, RunEventBody } from './events.ts';
import type { Journal } from './journal.ts';

/** Returns a function that appends events with the number of an iteration. */
export function appendAs(
  iteration: number,
  journal: Pick<Journal, 'append'>,
): (event: RunEventBody) => RunEvent {
  // The number comes after the type: readers recognize chatter by the start of a line (`isChatterLine`).
  return event =>
    journal.append(
      'iteration' in event && event.iteration !== undefined
        ? event
        : Object.assign({}, event, { iteration }),
    );
}
