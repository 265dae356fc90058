import type { RunEvent } from '../journal/events.ts';

/** Where a hint that had waited was told first. */
export interface ToldHint {
  readonly iteration: number;
  readonly storyId?: string;
}

/**
 * Hints by their ids, as far as these events tell: one is told in the iteration that starts after it was given. Pure.
 * @param events of one run, in their order
 */
export function toldHints(events: Iterable<RunEvent>): ReadonlyMap<string, ToldHint> {
  const told = new Map<string, ToldHint>();
  let given: string[] = [];
  for (const event of events) {
    if (event.type === 'hint.given' && event.id !== undefined) {
      given.push(event.id);
    } else if (event.type === 'iteration.started') {
      const { iteration, storyId } = event;
      for (const id of given) {
        told.set(id, { iteration, ...(storyId === undefined ? {} : { storyId }) });
      }
      given = [];
    }
  }
  return told;
}
