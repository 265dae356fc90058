import { type Message, say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { wrongKindMessage } from './fieldNames.ts';
import { dependencyId, type Entry, isDone, isVoid } from './prdEntry.ts';
import { DEPENDENCY_KEYS } from './prdKeys.ts';

/** The keys of an entry under which something to wait for is not read, such as `{task: A}` in the place of `A`. */
export function unreadNeeds(entry: Entry): readonly string[] {
  return DEPENDENCY_KEYS.filter(key => {
    const value = entry[key];
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return items.some(item => !isVoid(item) && item !== false && dependencyId(item) === undefined);
  });
}

/** What to do about such a key. */
export function unreadNeedsMessage(key: string): Message {
  return wrongKindMessage(key, say('a list of ids'));
}

/**
 * Open stories whose dependencies are not all read, so that they would be started too early.
 * @param entries of the stories, by position
 */
export function findUnreadNeeds(
  entries: readonly (Entry | undefined)[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
): StoryProblem[] {
  return entries.flatMap((entry, position) =>
    entry === undefined || isDone(entry)
      ? []
      : unreadNeeds(entry).map(key => ({
          code: 'unreadDependency' as const,
          message: unreadNeedsMessage(key),
          ...placeOf(position, key),
          subject: { position, ids: [key] },
        })),
  );
}
