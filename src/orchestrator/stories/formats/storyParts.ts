import { type Message, say } from '../../../base/say.ts';
import { isNameOfStories } from './fieldNames.ts';
import { plainText } from './plainText.ts';
import {
  criteriaKeyOf,
  doneKeyOf,
  type Entry,
  isDone,
  isEntry,
  ownId,
  titleOf,
} from './prdEntry.ts';

/** Keys under which lists have the parts of a story, which are no stories here. */
const PART_KEYS = [
  ...['subtasks', 'subTasks', 'sub_tasks', 'children'],
  ...['stories', 'userStories', 'user_stories', 'tasks', 'features', 'items'],
] as const;

/** A list in a story whose entries look like stories and are not read as such. */
export interface PartList {
  readonly key: string;
  /** The indexes of these entries. */
  readonly unread: readonly number[];
  /** An agent gets their titles as criteria of the story. */
  readonly isCriteria: boolean;
}

/**
 * The lists in a story with work that is left: a list must not become shorter without a word.
 * @param known ids and titles of the stories that are read
 */
export function partLists(entry: Entry, known: ReadonlySet<string> = new Set()): PartList[] {
  return PART_KEYS.flatMap(key => {
    const list: unknown = entry[key];
    if (!Array.isArray(list)) {
      return [];
    }
    const parts = list.flatMap((item: unknown, index) =>
      looksLikeStory(item) && !known.has(nameOf(item)) ? [{ index, isDone: isDone(item) }] : [],
    );
    return parts.every(part => part.isDone)
      ? []
      : [
          {
            key,
            unread: parts.map(({ index }) => index),
            isCriteria: criteriaKeyOf(entry) === key,
          },
        ];
  });
}

/** Whether a value has a name, and says whether it is done. */
export function looksLikeStory(value: unknown): value is Entry {
  return isEntry(value) && nameOf(value) !== '' && doneKeyOf(value) !== undefined;
}

/** {@link looksLikeStory}, and is not done. */
export function looksLikeOpenStory(value: unknown): value is Entry {
  return looksLikeStory(value) && !isDone(value);
}

/** {@link looksLikeStory}, or an entry with an id and a title below a key of stories: without a state, it is open. */
export function looksLikeStoryUnder(key: string, value: unknown): value is Entry {
  return (
    looksLikeStory(value) ||
    (isEntry(value) &&
      ownId(value) !== undefined &&
      titleOf(value) !== undefined &&
      value['done'] !== true &&
      isNameOfStories(key))
  );
}

/** What tells a story from others: its id, or else its title. */
export function nameOf(entry: Entry): string {
  return ownId(entry) ?? titleOf(entry) ?? '';
}

/**
 * Whether an entry of another list is a story that is read. Each list may count from 1, so a number alone tells none from
 * another one.
 * @param known ids and titles of the stories that are read
 */
export function isKnownIn(known: ReadonlySet<string>, entry: Entry): boolean {
  const name = nameOf(entry);
  return known.has(/^\d+$/.test(name) ? (titleOf(entry) ?? name) : name);
}

/** What to do with the entries of a list in a story. @param id of the story */
export function partsMessage({ isCriteria, key, unread }: PartList, id: string): Message {
  const words = [plainText(key), plainText(id), unread.length] as const;
  return isCriteria
    ? say(
        'Entries in "{0}" of {1} that look like stories: {2}. They are only read as acceptance criteria of {1}. Write each that should have an agent of its own as a story next to it.',
        ...words,
      )
    : say(
        'Entries in "{0}" of {1} that are not read: {2}. Write each as a story next to it, or as one of its acceptance criteria.',
        ...words,
      );
}
