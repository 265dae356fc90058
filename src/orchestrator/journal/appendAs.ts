import type { RunEvent, RunEventBody } from './events.ts';
import type { Journal } from './journal.ts';

/** Appends events as those of one iteration. */
export function appendAs(
  iteration: number,
  journal: Pick<Journal, 'append'>,
): (event: RunEventBody) => RunEvent {
  // Behind the type: readers tell what agents say by the beginning of a line (`isChatterLine`).
  return event =>
    journal.append('iteration' in event ? event : Object.assign({}, event, { iteration }));
}
