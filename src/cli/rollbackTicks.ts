import { requireHuman } from '../base/humanError.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten, withoutControls } from '../base/text.ts';
import type { Story } from '../orchestrator/stories/story.ts';
import { readStoryList } from '../orchestrator/stories/storyFile.ts';
import { beadsDatabase } from '../orchestrator/trackers/beads/beadsDatabase.ts';
import type { RollBack } from '../orchestrator/workspace/restorePoints.ts';
import { type RollbackTicks, reopenStories } from '../orchestrator/workspace/rolledBackStories.ts';
import { print } from './print.ts';

/** In UTF-16 units. */
const MAX_ID = 40;
/** Maximum number of stories that are named. */
const MAX_NAMED = 8;

/** What has become of ticks that a rollback of commits does not take back or keep: ids of stories. */
export interface SettledTicks {
  /** They are not done any more, like their work. */
  readonly reopened: readonly string[];
  /** They are still done, although their work is taken back. */
  readonly stillDone: readonly string[];
  /** They are not done any more, although their work stays. */
  readonly lost: readonly string[];
}

/** Takes ticks back with their work. The file itself only follows if a commit has changed it. */
export async function settleTicks(
  ticks: RollbackTicks | undefined,
  result: RollBack,
  storyFile = '',
  isDryRun = false,
): Promise<SettledTicks> {
  const nothing = { reopened: [], stillDone: [], lost: [] };
  if (ticks === undefined || result.kind === 'nothingToDo') {
    return nothing;
  }
  const { certain, name, others, takenBack } = ticks;
  const ids = (stories: readonly Story[]) => stories.map(({ id }) => id);
  if (result.files.some(file => file === name || file.startsWith(`${name}/`))) {
    return { ...nothing, lost: ids(others) };
  }
  // Their database would mark them as done again.
  const isInDatabase = (await beadsDatabase(storyFile)) !== undefined;
  let reopened = isInDatabase ? [] : certain;
  if (!isDryRun && reopened.length > 0) {
    // The commit is made: after a failure, the person is told what is left to do.
    await reopenStories(storyFile, reopened).catch(requireHuman);
    const now = (await readStoryList(storyFile))?.stories ?? [];
    reopened = reopened.filter(({ id }) => now.some(story => story.id === id && !story.done));
  }
  return {
    ...nothing,
    reopened: ids(reopened),
    stillDone: ids(takenBack.filter(story => !reopened.includes(story))),
  };
}

export function tellOfSettledTicks(
  { lost, reopened, stillDone }: SettledTicks,
  isDryRun: boolean,
): void {
  if (reopened.length > 0) {
    print(`${isDryRun ? 'Would be open again' : 'Open again'}: ${namedStories(reopened)}.`);
  }
  if (stillDone.length > 0) {
    const what = isDryRun ? 'Would still be marked as done' : 'Still marked as done';
    print(
      `${what}, although the work is taken back: ${namedStories(stillDone)}. To have it done again: ralph-fresh untick ${idOf(stillDone)}`,
    );
  }
  if (lost.length > 0) {
    const what = isDryRun ? 'Would no longer be marked as done' : 'No longer marked as done';
    print(
      `${what}, although the work stays: ${namedStories(lost)}. To mark it again: ralph-fresh tick ${idOf(lost)}`,
    );
  }
}

/** For a command that takes one. */
function idOf(ids: readonly string[]): string {
  const [id = '', ...others] = ids;
  return others.length === 0 ? shellWord(id) : 'ID';
}

/** Several ids, as they are shown. */
export function namedStories(ids: readonly string[]): string {
  const more = ids.length - MAX_NAMED;
  const first = ids.slice(0, MAX_NAMED).map(id => shorten(withoutControls(id), MAX_ID));
  return ids.length === 0 ? 'nothing' : `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
