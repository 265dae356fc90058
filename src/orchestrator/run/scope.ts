import type { RunEvent, RunEventBody } from '../journal/events.ts';
import type { Place } from '../places/place.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Story } from '../stories/story.ts';

/** One iteration, and nothing that another one has as well. */
export interface Scope {
  readonly iteration: number;
  /** Absent in free-form and plan mode. */
  readonly story?: Story;
  readonly place: Place;
  /** Absolute path of the iteration's folder. */
  readonly dir: string;
  /** The files as it found them. */
  readonly before: Snapshot;
  /** Aborted when a person skips its story. */
  readonly skip: AbortSignal;
  /** Writes an event into the journal, as one of this iteration. */
  append(event: RunEventBody): RunEvent;
}
