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

/** Why the story's earlier work did not land: it and other work change the same lines. */
export interface ConflictNote {
  readonly iteration: number;
  /** Relative to the repository's root. */
  readonly files: readonly string[];
  /** Diffs, already cut to a few thousand characters: what others changed in these files, and the earlier work. */
  readonly others: string;
  readonly own: string;
}

/** The state of one iteration. */
export interface Scope {
  readonly iteration: number;
  /** Absent in free-form and plan mode. */
  readonly story?: Story;
  readonly place: Place;
  /** The lane of its agent, from 1; absent in the user's tree. */
  readonly lane?: number;
  /** Why earlier work on the story did not land, for the agent. */
  readonly conflict?: ConflictNote;
  /** Absolute path of the iteration's folder. */
  readonly dir: string;
  /** The files at its start. */
  readonly before: Snapshot;
  /** Aborted if a person skips its story; with {@link STORY_STOPPED} if they stop it. */
  readonly skip: AbortSignal;
  /** Appends an event of this iteration to the journal. */
  append(event: RunEventBody): RunEvent;
}
