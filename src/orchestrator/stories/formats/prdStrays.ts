import { say } from '../../../base/say.ts';
import type { Story, StoryProblem } from '../story.ts';
import { otherListMessage } from '../storyProblems.ts';
import { isNameOfWork } from './fieldNames.ts';
import { elementsOf, memberOf, membersOf, skipSpace } from './jsonOutline.ts';
import { plainText } from './plainText.ts';
import { type Entry, firstText, isDone, isEntry, ownId, titleOf } from './prdEntry.ts';
import { CHILD_KEYS, listOf } from './prdEpics.ts';
import { GROUP_KEYS, LIST_KEYS } from './prdKeys.ts';
import { isListedStory } from './prdRoot.ts';
import {
  hasCounts,
  isKnownIn,
  looksLikeOpenStory,
  looksLikeStory,
  looksLikeStoryUnder,
} from './storyParts.ts';
import type { TextLines } from './textLines.ts';

/** How many objects and groups may be around each other. */
const MAX_DEPTH = 4;

/** Stories beside the list that is read. */
interface Strays {
  /** The keys and positions that lead to the first one in a list, or to their object. */
  readonly path: readonly (string | number)[];
  /** By which people find them. */
  readonly name: string;
  readonly count: number;
  /** They are in an object, or are one. */
  readonly isObject?: true;
}

/** Where a value is. */
interface Place extends Pick<Strays, 'name' | 'path'> {
  /** The last one. */
  readonly key: string;
  /** It is in an object of the file, such as its settings, and not in the file itself or in a group. */
  readonly isInside?: true;
}

/** The stories that are read. */
interface Read {
  /** Their ids and titles. */
  readonly known: ReadonlySet<string>;
  readonly isGroup: (entry: Entry) => boolean;
}

/**
 * Stories of a `prd.json` that are not in the list that is read: a list must not become shorter without a word.
 * @param used the key of that list; `undefined` if the file is the list itself
 */
export function findStrays(
  {
    lines,
    root,
    text,
  }: { readonly lines: TextLines; readonly root: unknown; readonly text: string },
  used: string | undefined,
  stories: readonly Story[],
): StoryProblem[] {
  if (!isEntry(root) || used === undefined) {
    return [];
  }
  const known = new Set(stories.flatMap(({ id, title }) => [id, title]));
  const read = { known, isGroup: groupsOf(stories, known) };
  return Object.keys(root)
    .filter(key => key !== used)
    .flatMap(key => straysUnder(root[key], { path: [key], name: key, key }, read))
    .map(({ count, isObject, name, path }) => ({
      code: 'notAStory',
      message: isObject
        ? say(
            'Stories in "{0}" that are not read, because it is an object: {1}. Write the stories as a list, in "{2}".',
            plainText(name),
            count,
            plainText(used),
          )
        : otherListMessage(name, count, used),
      ...lines.at(offsetOf(text, path)),
    }));
}

function straysUnder(value: unknown, place: Place, read: Read): Strays[] {
  if (place.path.length > MAX_DEPTH * 2) {
    return [];
  }
  if (Array.isArray(value)) {
    const found = isKeyOfGroups(place.key) ? undefined : straysInList(value, place, read);
    return found === undefined ? straysInGroups(value, place, read) : [found];
  }
  return isEntry(value) ? straysInObject(value, place, read) : [];
}

function straysInList(
  list: readonly unknown[],
  { isInside, key, name, path }: Place,
  read: Read,
): Strays | undefined {
  const { isGroup, known } = read;
  const listKey = listKeyOf(key);
  const isStory = (item: unknown): item is Entry =>
    listKey === undefined
      ? looksLikeStoryUnder(key, item) && !isGroup(item)
      : isListedStory(listKey, item);
  const isUnread = (item: unknown): item is Entry => isStory(item) && !isKnownIn(known, item);
  const isOfStories = key === 'userStories' || key === 'stories';
  // A list with nothing but finished work is an archive, and settings have lists of other things.
  const isWork = (item: unknown) =>
    isUnread(item) &&
    ((listKey !== undefined && !isInside) ||
      (!isDone(item) && (!isInside || isOfStories || isStoryUnder(key, item))));
  const count = list.filter(isUnread).length;
  return list.some(isWork) ? { path: [...path, list.findIndex(isUnread)], name, count } : undefined;
}

/** The lists of groups, in one sentence. */
function straysInGroups(list: readonly unknown[], place: Place, read: Read): Strays[] {
  if (!isKeyOfGroups(place.key) && listKeyOf(place.key) === undefined) {
    return [];
  }
  const [first, ...others] = list.flatMap((group: unknown, index) =>
    isEntry(group)
      ? [...GROUP_KEYS, ...LIST_KEYS, 'children'].flatMap(key =>
          Array.isArray(group[key])
            ? straysUnder(group[key], { ...place, path: [...place.path, index, key], key }, read)
            : [],
        )
      : [],
  );
  return first === undefined
    ? []
    : [{ ...first, count: others.reduce((sum, { count }) => sum + count, first.count) }];
}

/** An object: one in the place of a list, one that is a story itself, or one around others. */
function straysInObject(holder: Entry, place: Place, read: Read): Strays[] {
  const { isGroup, known } = read;
  const { key, name, path } = place;
  const listKey = place.isInside ? undefined : listKeyOf(key);
  const isOneStory =
    listKey === undefined
      ? typeof holder['passes'] === 'boolean' && looksLikeOpenStory(holder)
      : looksLikeStory(holder) && !hasCounts(holder);
  if (isOneStory) {
    return isKnownIn(known, holder) || isKnownIn(known, { ...holder, id: key })
      ? []
      : [{ path, name, count: 1, isObject: true }];
  }
  const isStory = (item: unknown): item is Entry =>
    listKey === undefined
      ? isStoryUnder(key, item) && !isGroup(item)
      : isListedStory(listKey, item);
  const unread = Object.entries(holder).filter(
    ([id, item]) =>
      isStory(item) &&
      !(listKey === undefined && isGroup({ id })) &&
      !isKnownIn(known, item) &&
      !isKnownIn(known, { ...item, id }),
  );
  // An object with epics is named as that.
  return unread.length > 0 && !isKeyOfGroups(key)
    ? [{ path, name, count: unread.length, isObject: true }]
    : Object.entries(holder).flatMap(([inner, value]) =>
        straysUnder(
          value,
          { path: [...path, inner], name: `${name}.${inner}`, key: inner, isInside: true },
          read,
        ),
      );
}

/**
 * Whether a value of an object is an open story. Agents, checks and parts of a summary have names and states, too: a
 * title, the key `passes` or the name of the object tells.
 */
function isStoryUnder(key: string, item: unknown): item is Entry {
  return (
    looksLikeOpenStory(item) &&
    !hasCounts(item) &&
    (isNameOfWork(key) ||
      typeof item['passes'] === 'boolean' ||
      firstText(item, ['title', 'story']) !== undefined)
  );
}

function listKeyOf(key: string): (typeof LIST_KEYS)[number] | undefined {
  return LIST_KEYS.find(one => one === key);
}

function isKeyOfGroups(key: string): boolean {
  return GROUP_KEYS.some(one => one === key);
}

/** Whether an entry is a group of stories: they name it, or it lists their ids. */
function groupsOf(
  stories: readonly Story[],
  known: ReadonlySet<string>,
): (entry: Entry) => boolean {
  const groups = new Set(stories.map(({ epic }) => epic));
  return entry =>
    [ownId(entry), titleOf(entry)].some(name => name !== undefined && groups.has(name)) ||
    listOf(entry, CHILD_KEYS).some(id => known.has(id));
}

/** Where something begins: in a list, its value, and in an object, its key. */
function offsetOf(text: string, path: Strays['path']): number {
  let start = skipSpace(text, 0);
  let found = start;
  for (const step of path) {
    if (typeof step === 'number') {
      start = elementsOf(text, start)[step]?.start ?? start;
      found = start;
    } else {
      const member = memberOf(membersOf(text, start), step);
      start = member?.value.start ?? start;
      found = member?.name.start ?? found;
    }
  }
  return found;
}
