import { isNumberId } from '../../base/numberId.ts';
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
  const before = new Map(storiesBefore.map(story => [keysBefore.get(story), story]));
  return storiesAfter.flatMap(story => {
    const { done, id, title } = story;
    const was = before.get(keysAfter.get(story));
    // Its number may have been another story's.
    const isSame = was !== undefined && (!isNumberId(id) || was.title === title);
    return isSame && was.done !== done && handled.get(id) !== done ? [{ storyId: id, done }] : [];
  });
}
