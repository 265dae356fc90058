import { isNameOfGroups, isNameOfOthers, isNameOfWork } from './listNames.ts';
import {
  doneKeyOf,
  type Entry,
  firstText,
  isDone,
  isEntry,
  isPutAside,
  titleOf,
} from './prdEntry.ts';
import { CHILD_KEYS } from './prdEpics.ts';
import { LIST_KEYS, normaliseWord, STATUS_KEYS } from './prdKeys.ts';
import { HEADING_PART_KEYS } from './prdRoot.ts';
import { hasCounts, isKnownIn, looksLikeOpenStory, looksLikeStoryUnder } from './storyParts.ts';

/** Open stories beside those that are read: a list must not become shorter without a word. */
export interface Strays {
  /** The keys and positions that lead to the first one in a list, or to their object. */
  readonly path: Path;
  /** By which people find them. */
  readonly name: string;
  readonly count: number;
  /** They are in an object, or are one. */
  readonly isObject?: true;
}

export type Path = readonly (string | number)[];

/** The stories that are read, and what a format knows of others. */
export interface Read {
  /** Ids and titles of the stories. Asked for only if something looks like a story. */
  readonly known: () => ReadonlySet<string>;
  /** Lists and entries that are read, or were named: an alias of YAML may stand for one of them. */
  readonly seen: Set<unknown>;
  readonly isGroup?: (entry: Entry) => boolean;
  /** Whether something is a story in this place, however little it says. */
  readonly isItem?: (item: unknown, path: Path) => boolean;
}

interface Place extends Pick<Strays, 'name' | 'path'> {
  /** The last one. */
  readonly key: string;
}

/** How many keys and positions may lead to a story. */
const MAX_DEPTH = 9;

/** Words that are said of work, and rarely of anything else. */
const OPEN_WORDS = new Set([
  ...['pending', 'todo', 'to do', 'not started', 'in progress', 'planned', 'open', 'backlog'],
  ...['blocked', 'review', 'in review', 'doing', 'wip', 'inprogress', 'not done', 'incomplete'],
]);

/** Keys that Task Master has in its tasks. */
const TASK_KEYS = ['dependencies', 'subtasks', 'testStrategy'];

/** The stories in the values of an object that are not read. @param path that leads to it */
export function straysIn(holder: Entry, read: Read, path: Path = []): Strays[] {
  return Object.keys(holder).flatMap(key =>
    straysUnder(holder[key], { path: [...path, key], name: key, key }, read),
  );
}

function straysUnder(value: unknown, place: Place, read: Read): Strays[] {
  const isFar = place.path.length > MAX_DEPTH || isNameOfOthers(place.key);
  if (typeof value !== 'object' || value === null || isFar || !isNew(value, read)) {
    return [];
  }
  return isEntry(value) ? straysInObject(value, place, read) : straysInList(value, place, read);
}

/** All of a list in one sentence, also those of its groups. */
function straysInList(list: object, place: Place, read: Read): Strays[] {
  let first: Path | undefined;
  let count = 0;
  for (const [index, item] of (list as readonly unknown[]).entries()) {
    const path = [...place.path, index];
    const found = straysInItem(item, { ...place, path }, read);
    first ??= found[0]?.path;
    count += found.reduce((sum, one) => sum + one.count, 0);
  }
  return first === undefined ? [] : [{ path: first, name: place.name, count }];
}

function straysInItem(item: unknown, place: Place, read: Read): Strays[] {
  const { name, path } = place;
  if (isStory(item, place, read)) {
    return isUnread(item, read) && isNew(item, read) ? [{ path, name, count: 1 }] : [];
  }
  if (!isEntry(item) || isPutAside(item)) {
    return [];
  }
  return Object.keys(item)
    .filter(one => isNameOfWork(one) || isNameOfGroups(one) || one === 'children')
    .flatMap(one => straysUnder(item[one], { path: [...path, one], name, key: one }, read));
}

/** An object: one that is a story itself, one in the place of a list, or one around others. */
function straysInObject(holder: Entry, place: Place, read: Read): Strays[] {
  const { key, name, path } = place;
  if (isOneStory(holder, key)) {
    return isUnread(holder, read, key) ? [{ path, name, count: 1, isObject: true }] : [];
  }
  const stories = new Set(
    Object.keys(holder).filter(id => {
      const value = holder[id];
      return (
        isStory(value, { ...place, path: [...path, id] }, read) &&
        // Below a key of work, the keys are ids, whatever their words.
        (isNameOfWork(key) || !(isNameOfOthers(id) || HEADING_PART_KEYS.includes(id)))
      );
    }),
  );
  const count = [...stories].filter(
    id => isUnread(holder[id], read, id) && isNew(holder[id], read),
  ).length;
  const others = Object.keys(holder).filter(inner => !stories.has(inner));
  return [
    ...(count === 0 ? [] : [{ path, name, count, isObject: true as const }]),
    ...others.flatMap(inner =>
      straysUnder(
        holder[inner],
        { path: [...path, inner], name: `${name}.${inner}`, key: inner },
        read,
      ),
    ),
  ];
}

/** Whether an object is a story in the place of a list of them, or of a group of lists. */
function isOneStory(holder: Entry, key: string): boolean {
  const isInPlace = LIST_KEYS.some(list => list === key);
  const hasNumber = typeof holder.id === 'number' || /^\d+$/.test(key);
  return (
    looksLikeOpenStory(holder) &&
    !hasCounts(holder) &&
    !hasChildren(holder) &&
    (isInPlace || saysNotDone(holder) || (hasNumber && isSurelyStory(holder)))
  );
}

/** Whether a value is seen for the first time. */
function isNew(value: unknown, { seen }: Read): boolean {
  const isKnown = typeof value === 'object' && seen.has(value);
  seen.add(value);
  return !isKnown;
}

/** Whether a value is a story, as far as its key and its own keys tell. */
function isStory(item: unknown, { key, path }: Place, read: Read): boolean {
  return (
    read.isItem?.(item, path) === true ||
    (isEntry(item) &&
      !isNameOfGroups(key) &&
      !hasCounts(item) &&
      read.isGroup?.(item) !== true &&
      ((isNameOfWork(key) && looksLikeStoryUnder(key, item)) || isSurelyStory(item)))
  );
}

/** Whether an entry is a story whatever its key says. Agents, checks and risks have names and states, too. */
function isSurelyStory(item: Entry): boolean {
  if (hasChildren(item)) {
    return false;
  }
  // The tool gives each task a number, and reads one without a state as open.
  const isTask = typeof item.id === 'number' && TASK_KEYS.some(key => Object.hasOwn(item, key));
  const saysOpen = STATUS_KEYS.some(
    key => typeof item[key] === 'string' && OPEN_WORDS.has(normaliseWord(item[key])),
  );
  return saysNotDone(item)
    ? looksLikeOpenStory(item)
    : (isTask || (saysOpen && firstText(item, ['id', 'title', 'story']) !== undefined)) &&
        titleOf(item) !== undefined &&
        !isDone(item);
}

/** Whether the key that decides is that of true or false, and has `false`: it is said of little else than work. */
function saysNotDone(entry: Entry): boolean {
  const key = doneKeyOf(entry);
  return key !== undefined && entry[key] === false;
}

/** Whether an entry has stories, or their ids, and so is a group of them. */
function hasChildren(entry: Entry): boolean {
  const isStory = saysNotDone(entry);
  return CHILD_KEYS.some(key => {
    const list = entry[key];
    return Array.isArray(list) && (!isStory || list.some(isEntry));
  });
}

/** Whether a story is left, and is not one of those that are read. @param key of an entry of an object */
function isUnread(item: unknown, { known }: Read, key?: string): boolean {
  if (!isEntry(item)) {
    return !known().has(String(item));
  }
  return (
    !isDone(item) &&
    !isPutAside(item) &&
    !isKnownIn(known(), item) &&
    (key === undefined || !isKnownIn(known(), { ...item, id: key }))
  );
}
