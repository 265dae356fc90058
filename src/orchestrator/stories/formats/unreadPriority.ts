import { type Message, say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { plainText, quoted } from './plainText.ts';
import { type Entry, isDone, isVoid, readPriority } from './prdEntry.ts';

/** What to do about a priority without an order. @param written how a number stands in the file */
export function unreadPriorityMessage(value: unknown, written?: string): Message {
  return typeof value === 'number' && written !== undefined
    ? say(
        '{0} is too large for a priority, so the story runs after all that have one: write a smaller number, the lowest first.',
        plainText(written),
      )
    : say(
        '{0} is not a priority, so the story runs after all that have one: write a number, the lowest first.',
        quoted(value),
      );
}

/**
 * Open stories whose priority has no order, such as `urgent`.
 * @param entries of the stories, by position
 */
export function findUnreadPriorities(
  entries: readonly (Entry | undefined)[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
): StoryProblem[] {
  return entries.flatMap((entry, position) =>
    entry === undefined ||
    isVoid(entry.priority) ||
    readPriority(entry.priority) !== undefined ||
    isDone(entry)
      ? []
      : [
          {
            code: 'priorityNotNumber',
            message: unreadPriorityMessage(entry.priority),
            ...placeOf(position, 'priority'),
            subject: { position, ids: ['priority'] },
          },
        ],
  );
}
