import type { RunEvent, RunEventBody } from '../journal/events.ts';
import type { Place } from '../places/place.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Story } from '../stories/story.ts';

/** The reason of {@link Scope.skip} if a person stops the story's agent, and its work counts. */
export const STORY_STOPPED = Symbol('stopped');

/** Whether a person has skipped the story, so that its work is taken back. */
export function isSkipped({ skip }: Pick<Scope, 'skip'>): boolean {
  return skip.aborted && skip.reason !== STORY_STOPPED;
}

/** The state of one iteration. */
export interface Scope {
  readonly iteration: number;
  /** Absent in free-form and plan mode. */
  readonly story?: Story;
  readonly place: Place;
  /** The lane of its agent, from 1; absent in the user's tree. */
  readonly lane?: number;
  /** Absolute path of the iteration's folder. */
  readonly dir: string;
  /** The files at its start. */
  readonly before: Snapshot;
  /** Aborted if a person skips its story; with {@link STORY_STOPPED} if they stop it. */
  readonly skip: AbortSignal;
  /** Appends an event of this iteration to the journal. */
  append(event: RunEventBody): RunEvent;
}
