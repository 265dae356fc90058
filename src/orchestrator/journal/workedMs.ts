import type { RunEvent } from './events.ts';

/** Also written when a dead run is closed, which may be hours later. */
const WRITTEN_LATER: ReadonlySet<RunEvent['type']> = new Set(['commit.recorded', 'warning']);

/**
 * How long an iteration is known to have worked before the end of its loop interrupted it, in ms: from its start to
 * its last event, or to the end of its last call. 0 if the journal does not know. Pure.
 */
export function workedMs(events: readonly RunEvent[], iteration: number): number {
  const began = events.findLastIndex(
    event => event.type === 'iteration.started' && event.iteration === iteration,
  );
  const start = timeOf(events[began]);
  let call = start;
  let last = start;
  for (const event of began < 0 ? [] : events.slice(began)) {
    if (event.type === 'run.ended') {
      break;
    }
    if (!('iteration' in event) || event.iteration !== iteration || WRITTEN_LATER.has(event.type)) {
      continue;
    }
    if (event.type === 'agent.started') {
      call = timeOf(event);
    }
    // The end of a killed call is written later, too, but with its own duration.
    last = Math.max(last, event.type === 'agent.ended' ? call + event.durationMs : timeOf(event));
  }
  return Number.isFinite(last - start) ? last - start : 0;
}

function timeOf(event: RunEvent | undefined): number {
  return Date.parse(event?.at ?? '');
}
