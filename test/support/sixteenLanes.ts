import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { recorded } from './recordedJournals.ts';

export const LANES = 16;

/**
 * What a recorded run has told until its first agent has begun, told by sixteen of them.
 * @param idOf the id of a story by its number, from 1
 */
export function sixteenLanes(idOf: (number: number) => string): readonly RunEvent[] {
  const events = recorded('lanes', { type: 'agent.text', iteration: 1 });
  const begin = events.findIndex(({ type }) => type === 'iteration.started');
  const agents = Array.from({ length: LANES }, (_, at) =>
    events.slice(begin).map(event => ({
      ...event,
      ...('iteration' in event && { iteration: at + 1 }),
      ...(event.type === 'iteration.started' && { storyId: idOf(at + 1), lane: at + 1 }),
    })),
  ).flat() as RunEvent[];
  return [...events.slice(0, begin), ...agents].map((event, at) => ({ ...event, seq: at + 1 }));
}
