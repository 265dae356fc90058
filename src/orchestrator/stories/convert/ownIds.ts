import { isNumberId } from '../../../base/numberId.ts';
import { freeIdsLike } from '../diagnosis/ids.ts';
import type { Story } from '../story.ts';

/**
 * Stories of which each has an id of its own, by which it can be named; the ids of the others are kept, and show how
 * new ones look.
 * @param model the first new id, if those of the others have nothing in common
 * @param others further ids that none of them may get
 */
export function withOwnIds(
  stories: readonly Story[],
  model: string,
  others: readonly string[] = [],
): readonly Story[] {
  // Also not what a story waits for in vain, or was discovered from: it would be another one.
  const used = new Set([
    ...others,
    ...stories.flatMap(({ dependsOn, discoveredFrom = '', id }) => [
      id,
      discoveredFrom,
      ...dependsOn,
    ]),
  ]);
  const given = new Map<string, string>();
  const next = freeIdsLike(used, sharedModel(stories) ?? model);
  for (const { id } of stories) {
    if (isNumberId(id)) {
      given.set(id, next());
    }
  }
  const own = (id: string) => given.get(id) ?? id;
  return stories.map(story => ({
    ...story,
    id: own(story.id),
    // A title that is only the number of the story is none.
    title: story.title === story.id ? own(story.id) : story.title,
    dependsOn: story.dependsOn.map(own),
    discoveredFrom: story.discoveredFrom === undefined ? undefined : own(story.discoveredFrom),
  }));
}

/** The last own id, if all of them are the same text with a number behind it: `US-001`, `T-12`, `7`. */
function sharedModel(stories: readonly Story[]): string | undefined {
  const own = stories.map(({ id }) => id).filter(id => !isNumberId(id));
  // A longer number is a time or a hash, and not counted up.
  const stems = new Set(own.map(id => /^(.*\D|)\d{1,9}$/su.exec(id)?.[1]));
  return stems.size === 1 && !stems.has(undefined) ? own.at(-1) : undefined;
}
