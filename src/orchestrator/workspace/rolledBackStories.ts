import type { RunEvent } from '../journal/events.ts';
import { readDecisions } from '../journal/journal.ts';
import type { RunFiles } from './runFiles.ts';
import { runIds } from './runIds.ts';

/**
 * The stories whose work a rollback takes back: those done in this run from the iteration on, and in all later runs.
 * @param landed with lanes: what has landed since, in place of the numbers of iterations
 */
export async function rolledBackStories(
  files: RunFiles,
  runId: string,
  from: { readonly iteration: number; readonly landed?: readonly { readonly storyId: string }[] },
): Promise<string[]> {
  const found = new Set((from.landed ?? []).map(({ storyId }) => storyId));
  for (const id of (await runIds(files)).filter(other => other >= runId)) {
    if (id !== runId || from.landed === undefined) {
      const since = id === runId ? from.iteration : 0;
      for (const event of await readDecisions(files.journalFile(id))) {
        const storyId = doneSince(event, since);
        if (storyId !== undefined) {
          found.add(storyId);
        }
      }
    }
  }
  return [...found];
}

function doneSince(event: RunEvent, since: number): string | undefined {
  switch (event.type) {
    case 'story.changed':
      return event.done && event.by === 'agent' && (event.iteration ?? 0) >= since
        ? event.storyId
        : undefined;
    case 'landing.landed':
      return event.iteration >= since ? event.storyId : undefined;
    default:
      return undefined;
  }
}
