import { type Message, say } from '../../../base/say.ts';
import { isNameOfStories } from './listNames.ts';
import { plainText } from './plainText.ts';
import {
  criteriaKeyOf,
  doneKeyOf,
  type Entry,
  isDone,
  isEntry,
  isPutAside,
  ownId,
  titleOf,
} from './prdEntry.ts';

/** Keys under which lists have the parts of a story, which are no stories here. */
const PART_KEYS = [
  ...['subtasks', 'subTasks', 'sub_tasks', 'children', 'childTasks', 'child_tasks'],
  ...['substories', 'subStories', 'sub_stories', 'childStories', 'child_stories'],
  ...['stories', 'userStories', 'user_stories', 'tasks', 'features', 'items'],
] as const;

/** How keys of stories begin that a story is only related to. */
const OF_OTHERS = /^(?:blocked|blocking|depend|parent|known|upstream|downstream|previous|next)/i;

/** Whether parts of a story may be below a key. */
export function isKeyOfParts(key: string): boolean {
  return PART_KEYS.some(one => one === key) || (isNameOfStories(key) && !OF_OTHERS.test(key));
}

/** A list or object in a story with parts that look like stories and are not read as such. */
export interface PartList {
  readonly key: string;
  readonly count: number;
  /** The index or the key of the first one; absent if the object itself is one. */
  readonly first?: number | string;
  /** An agent gets their titles as criteria of the story. */
  readonly isCriteria: boolean;
}

/**
 * The lists in a story with work that is left: a list must not become shorter without a word.
 * @param known ids and titles of the stories that are read
 */
export function partLists(entry: Entry, known: ReadonlySet<string> = new Set()): PartList[] {
  return Object.keys(entry).flatMap(key => {
    const value: unknown = entry[key];
    // Most values are texts, and are passed over quickly.
    if (typeof value !== 'object' || value === null || !isKeyOfParts(key)) {
      return [];
    }
    const parts = partsIn(value).filter(
      ({ item, name }) =>
        !isDone(item) && !isPutAside(item) && !isKnownIn(known, { ...item, id: name ?? item.id }),
    );
    return parts.length === 0
      ? []
      : [
          {
            key,
            count: parts.length,
            first: parts[0]?.at,
            isCriteria: criteriaKeyOf(entry) === key && Array.isArray(value),
          },
        ];
  });
}

/** What looks like a story in a list, in an object in the place of one, or is such an object. */
function partsIn(
  value: object,
): { readonly item: Entry; readonly at?: number | string; readonly name?: string }[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, at) => (looksLikePart(item) ? [{ item, at }] : []));
  }
  return isOneStory(value)
    ? [{ item: value }]
    : Object.entries(value).flatMap(([at, item]) =>
        isOneStory(item) ? [{ item, at, name: ownId(item) ?? at }] : [],
      );
}

/** {@link looksLikeStory}, in the place of a list, where there may be a summary as well. */
function isOneStory(value: unknown): value is Entry {
  return looksLikePart(value) && !hasCounts(value);
}

/** {@link looksLikeStory}, or says in the words of its parts that it is open. */
function looksLikePart(value: unknown): value is Entry {
  return looksLikeStory(value) || (isEntry(value) && nameOf(value) !== '' && saysUndone(value));
}

/** Whether an object counts stories, as in `{"total": 12, "completed": 5}`. */
export function hasCounts(entry: Entry): boolean {
  const key = doneKeyOf(entry);
  return key !== undefined && typeof entry[key] === 'number';
}

/** Whether an entry has `done: false`: in a story, this key is a typing error, elsewhere it is usual. */
export function saysUndone(entry: Entry): boolean {
  return entry['done'] === false;
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
export function partsMessage({ count, isCriteria, key }: PartList, id: string): Message {
  const words = [plainText(key), plainText(id), count] as const;
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
