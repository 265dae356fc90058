import { isNumberId } from '../../../base/numberId.ts';
import type { Story } from '../story.ts';

/**
 * Stories of which each has an id of its own, by which it can be named; the ids of the others are kept.
 * @param idOf the id with this number
 * @param others further ids that none of them may get
 */
export function withOwnIds(
  stories: readonly Story[],
  idOf: (number: number) => string,
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
  let next = 1;
  for (const { id } of stories) {
    if (isNumberId(id)) {
      while (used.has(idOf(next))) {
        next += 1;
      }
      used.add(idOf(next));
      given.set(id, idOf(next));
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
