import { existsSync } from 'node:fs';
import { saidOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { isTracked } from '../git/trackedFile.ts';
import { HINT_TOKENS, hintTokens } from '../iteration/prompt/promptBudget.ts';
import { estimateTokens } from '../iteration/prompt/tokens.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { idIn } from '../workspace/knownStories.ts';
import { type PendingHint, pendingHints, removePendingHints } from '../workspace/pendingHints.ts';

type HintedRun = Pick<Run, 'files' | 'journal' | 'state'>;

/**
 * Writes the hints waiting for an agent of this story to the journal, so that its prompt includes them; as many as
 * fit into a prompt, oldest first. The others wait for the next one.
 *
 * @param snapshot.stories the list that the story is from
 * @returns a function to call after the agent has got them; it removes them from the waiting hints. If the loop is
 * killed before that, they stay and are given again.
 */
export async function tellPendingHints(
  run: HintedRun,
  snapshot: Pick<Snapshot, 'stories'>,
  story: Story | undefined,
): Promise<() => Promise<void>> {
  const { files, journal, state } = run;
  if (!existsSync(files.hintsFile)) {
    return async () => undefined;
  }
  try {
    if (await isTracked(files.hintsFile)) {
      // A person's hints never come with a repository.
      warn(
        journal,
        'hintsNotTold',
        say('{0} is in git, so it may not be from a person.', files.hintsFile),
      );
      return async () => undefined;
    }
    const waiting = await pendingHints(files);
    const list = snapshot.stories?.stories ?? [];
    const told = fitting(
      waiting.filter(
        hint =>
          hint.storyId === undefined || (story !== undefined && storyIdOf(hint, list) === story.id),
      ),
    );
    for (const { id, storyId: only, text } of told) {
      if (!state().hints.some(hint => hint.id === id)) {
        journal.append({
          type: 'hint.given',
          id,
          text,
          storyId: only && story?.id,
        });
      }
    }
    return () => remove(run, told);
  } catch (error) {
    // The work itself continues without them.
    warn(journal, 'hintsNotTold', saidOf(error));
    return async () => undefined;
  }
}

/** The story of a hint by its id in this list; `undefined` if it is not there, or it is not certain which one it is. */
function storyIdOf({ story, storyId: id }: PendingHint, list: readonly Story[]) {
  return id === undefined || story === undefined ? id : idIn(list, { ...story, id });
}

async function remove({ files, journal }: HintedRun, told: readonly PendingHint[]): Promise<void> {
  if (told.length === 0) {
    return;
  }
  try {
    await removePendingHints(files, new Set(told.map(({ id }) => id)));
  } catch (error) {
    warn(journal, 'hintsNotTold', saidOf(error));
  }
}

function fitting(hints: readonly PendingHint[]): PendingHint[] {
  const shown: PendingHint[] = [];
  let tokens = 0;
  for (const hint of hints) {
    tokens += hintTokens(estimateTokens(hint.text));
    if (shown.length > 0 && tokens > HINT_TOKENS) {
      break;
    }
    shown.push(hint);
  }
  return shown;
}
