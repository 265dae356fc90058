import type { RunEvent, RunEventBody } from './events.ts';
import type { Journal } from './journal.ts';

/** Appends events as those of one iteration. */
export function appendAs(
  iteration: number,
  journal: Pick<Journal, 'append'>,
): (event: RunEventBody) => RunEvent {
  return event => journal.append(Object.assign({ iteration }, event));
}
