import type { RunEvent } from '../journal/events.ts';

/** Where a waiting hint was first given to an agent. */
export interface ToldHint {
  readonly iteration: number;
  readonly storyId?: string;
}

/**
 * Hints by id, from these events: a hint is given in the next iteration that starts. Pure.
 * @param events of one run, in order
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
        told.set(id, { iteration, storyId });
      }
      given = [];
    }
  }
  return told;
}
