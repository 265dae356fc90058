import type { Story } from './story.ts';
import { matchStories, sameStory } from './storyMatching.ts';

/** A story whose done status changed. */
export interface StoryChange {
  /** In the list as it is now. */
  readonly storyId: string;
  readonly done: boolean;
}

/** Stories whose done status differs, whatever their numbers are now; added and removed stories are not included. */
export function storyChanges({
  storiesBefore,
  storiesAfter,
  handled,
}: {
  readonly storiesBefore: readonly Story[];
  readonly storiesAfter: readonly Story[];
  /** Stories that a person ticked (true) or unticked (false) meanwhile; these are not included. */
  readonly handled: ReadonlyMap<string, boolean>;
}): readonly StoryChange[] {
  return matchStories(storiesBefore, storiesAfter).pairs.flatMap(({ before, after }) =>
    before.done !== after.done && handled.get(after.id) !== after.done
      ? [{ storyId: after.id, done: after.done }]
      : [],
  );
}

/**
 * Whether a story of one version of a list is done in another one. Pure.
 * @param storiesBefore the version that it is from
 */
export function isDoneIn(
  storiesAfter: readonly Story[],
  story: Story,
  storiesBefore: readonly Story[],
): boolean {
  const named = storiesAfter.filter(({ id }) => id === story.id);
  // If ids are repeated, only all stories with the id are certain to include the right one.
  return named.length > 1
    ? named.every(({ done }) => done)
    : sameStory(storiesBefore, story, storiesAfter)?.done === true;
}
