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

/**
 * The ids, in the list as it is now, of all stories that became done. One without an id of its own that was moved, or
 * that has others above it now, is recognized by its title, unless several have it.
 */
export function newlyDone(
  storiesBefore: readonly Story[],
  storiesAfter: readonly Story[],
): readonly string[] {
  const changed = storyChanges({ storiesBefore, storiesAfter, handled: new Map() });
  const known = new Set(changed.map(({ storyId }) => storyId));
  const before = numberedByTitle(storiesBefore);
  const moved = [...numberedByTitle(storiesAfter)].flatMap(([title, story]) =>
    story?.done && !known.has(story.id) && before.get(title)?.done === false ? [story.id] : [],
  );
  return [...changed.flatMap(({ done, storyId }) => (done ? [storyId] : [])), ...moved];
}

/** The stories without an id of their own, by their titles; `undefined` where several have one title. */
function numberedByTitle(stories: readonly Story[]): ReadonlyMap<string, Story | undefined> {
  const found = new Map<string, Story | undefined>();
  for (const story of stories.filter(({ id }) => isNumberId(id))) {
    found.set(story.title, found.has(story.title) ? undefined : story);
  }
  return found;
}
