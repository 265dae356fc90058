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

/**
 * Like {@link ofStory}, with the events of the whole run: its start and end, a pause, a stop. Call it for all events,
 * in order.
 */
export function ofStoryOrRun(storyId: string): (event: RunEvent) => boolean {
  const isOfStory = ofStory(storyId);
  return event =>
    // Asked first: it has to see all events.
    isOfStory(event) ||
    !('iteration' in event || 'storyId' in event || event.type.startsWith('agent.'));
}

/**
 * Matches the events of a story's iterations, and those that name the story. Call it for all events, in order.
 */
export function ofStory(storyId: string): (event: RunEvent) => boolean {
  const iterations = new Map<number, (event: RunEvent) => boolean>();
  return event => {
    if (event.type === 'iteration.started' && event.storyId === storyId) {
      iterations.set(event.iteration, ofIteration(event.iteration));
    } else if (event.type === 'iteration.started') {
      // No agent could be started for it, so another story has got its number.
      iterations.delete(event.iteration);
    }
    // Each of them is asked: it has to see all events.
    const shown = [...iterations.values()].filter(isShown => isShown(event));
    return shown.length > 0 || ('storyId' in event && event.storyId === storyId);
  };
}
