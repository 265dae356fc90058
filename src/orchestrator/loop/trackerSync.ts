import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import type { Tracker } from '../trackers/tracker.ts';
import { settledStories } from './settledStories.ts';

/** In ms: what a tracker may take after a stop. */
const LAST_SYNC_MS = 5_000;

/** The list is a copy: what is settled here is written where it really is, and what is new there comes into the list. */
export async function syncTracker(
  run: Run,
  tracker: Tracker | undefined,
  { stories, storyFileProblem }: Snapshot,
  signal: AbortSignal,
): Promise<void> {
  if (tracker === undefined) {
    return;
  }
  const settled =
    stories === undefined || storyFileProblem !== undefined
      ? undefined
      : settledStories(stories.stories, run.state());
  for (const { code, detail } of await tracker.sync(settled, signal)) {
    warn(run.journal, code, detail);
  }
}

/** How long the last sync may take: a person who stops a run waits for its end. */
export function lastSyncSignal({ endSignal, killSignal }: Run['stop']): AbortSignal {
  return endSignal.aborted
    ? AbortSignal.any([killSignal, AbortSignal.timeout(LAST_SYNC_MS)])
    : endSignal;
}
