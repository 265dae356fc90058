import { storyKeys } from './select.ts';
import type { Story } from './story.ts';

/** A story whose done status changed. */
export interface StoryChange {
  readonly storyId: string;
  readonly done: boolean;
}

/** Stories whose done status differs, identified by id; added and removed stories are not included. */
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
  const keysBefore = storyKeys(storiesBefore);
  const keysAfter = storyKeys(storiesAfter);
  const before = new Map(storiesBefore.map(story => [keysBefore.get(story), story.done]));
  return storiesAfter.flatMap(story => {
    const { id, done } = story;
    const was = before.get(keysAfter.get(story));
    return was !== undefined && was !== done && handled.get(id) !== done
      ? [{ storyId: id, done }]
      : [];
  });
}
