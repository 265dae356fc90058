import { type Message, say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { plainText, quoted } from './plainText.ts';
import { type Entry, isDone, isEntry, isPutAside, isVoid, readPriority } from './prdEntry.ts';

/** Words for no priority. */
const NO_PRIORITY = new Set(['none', '-', 'n/a', 'null', '~']);

/** What to do about a priority without an order. @param written how a number stands in the file */
export function unreadPriorityMessage(value: unknown, written?: string): Message {
  if (Array.isArray(value)) {
    return say(
      'A list is not a priority, so the story runs after all that have one: write a number, the lowest first.',
    );
  }
  if (isEntry(value)) {
    return say(
      'An object is not a priority, so the story runs after all that have one: write a number, the lowest first.',
    );
  }
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

/** The same where the tool has words for priorities. */
export function unreadPriorityWord(value: unknown): Message {
  return say(
    '{0} is not a priority, so the task runs after all that have one: write high, medium or low.',
    quoted(value),
  );
}

/** Whether a value says that the story has no priority. */
function isNone(value: unknown): boolean {
  return (
    isVoid(value) ||
    value === false ||
    (typeof value === 'string' && NO_PRIORITY.has(value.trim().toLowerCase()))
  );
}

/** Whether a story runs after those with a priority although it has one itself: it is open, and nothing puts it aside. */
export function hasUnreadPriority(entry: Entry): boolean {
  return (
    !isNone(entry.priority) &&
    readPriority(entry.priority) === undefined &&
    !isDone(entry) &&
    !isPutAside(entry)
  );
}

/**
 * Open stories whose priority has no order, such as `urgent`.
 * @param entries of the stories, by position
 * @param messageOf says what to write in their format
 */
export function findUnreadPriorities(
  entries: readonly (Entry | undefined)[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
  messageOf: (value: unknown) => Message = unreadPriorityMessage,
): StoryProblem[] {
  return entries.flatMap((entry, position) =>
    entry === undefined || !hasUnreadPriority(entry)
      ? []
      : [
          {
            code: 'priorityNotNumber',
            message: messageOf(entry.priority),
            ...placeOf(position, 'priority'),
            subject: { position, ids: ['priority'] },
          },
        ],
  );
}
