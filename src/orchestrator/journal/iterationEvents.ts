import type { RunEvent } from './events.ts';

/**
 * Matches the events between the start and the end of an iteration, and those that name it. Call it for all events,
 * in order.
 */
export function ofIteration(iteration: number): (event: RunEvent) => boolean {
  let isInside = false;
  return event => {
    if (event.type === 'iteration.started') {
      isInside = event.iteration === iteration;
    }
    const number = 'iteration' in event ? event.iteration : undefined;
    // With several lanes, an iteration has only the events that name it.
    const isShown = number === undefined ? isInside : number === iteration;
    if ((event.type === 'iteration.ended' && number === iteration) || event.type === 'run.ended') {
      isInside = false;
    }
    return isShown;
  };
}
