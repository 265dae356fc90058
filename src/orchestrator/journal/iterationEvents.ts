import type { RunEvent } from './events.ts';

/** Events between the start and the end of an iteration, and those that name it. Call it for all, in order. */
export function ofIteration(iteration: number): (event: RunEvent) => boolean {
  let isInside = false;
  return event => {
    if (event.type === 'iteration.started') {
      isInside = event.iteration === iteration;
    }
    const number = 'iteration' in event ? event.iteration : undefined;
    // Of several at once, each has those that name it.
    const isShown = number === undefined ? isInside : number === iteration;
    if ((event.type === 'iteration.ended' && number === iteration) || event.type === 'run.ended') {
      isInside = false;
    }
    return isShown;
  };
}
