import {
  isNameOfGroups,
  isNameOfOneGroup,
  isNameOfOthers,
  isNameOfPast,
  isNameOfWork,
} from './listNames.ts';
import { type Entry, isDone, isEntry, isPutAside } from './prdEntry.ts';
import { isKnownIn } from './storyParts.ts';
import { isStrayObject, isStrayStory, type Likeness, type Surroundings } from './strayEntry.ts';

/** Open stories next to those that are read: a list must not become shorter without a word. */
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
  /** Asked only if something may be a story. */
  readonly like: Likeness;
  /** Lists and entries that are read, or were named: an alias of YAML may stand for one of them. */
  readonly seen: Set<unknown>;
  readonly isGroup?: (entry: Entry) => boolean;
  /** Whether something is a story in this place, however little it says. */
  readonly isItem?: (item: unknown, path: Path) => boolean;
  /** The keys of the file are names that people choose: an object there may have lists of stories, whatever its key. */
  readonly hasFreeNames?: true;
}

/** Of a list or an object; its key is the last one of the path. */
interface Place extends Pick<Strays, 'name' | 'path'>, Omit<Surroundings, 'own'> {}

/** How many keys and positions may lead to a story. */
const MAX_DEPTH = 9;

/** The stories in the values of an object that are not read. @param path that leads to it */
export function straysIn(holder: Entry, read: Read, path: Path = []): Strays[] {
  return Object.keys(holder).flatMap(key =>
    straysUnder(holder[key], { path: [...path, key], name: key, key, isBelowOthers: false }, read),
  );
}

function straysUnder(value: unknown, around: Place, read: Read): Strays[] {
  const { key, path } = around;
  const isFar = path.length > MAX_DEPTH || isNameOfPast(key);
  if (typeof value !== 'object' || value === null || isFar || !isNew(value, read)) {
    return [];
  }
  const place = { ...around, isBelowOthers: around.isBelowOthers || isNameOfOthers(key) };
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
  const { isBelowOthers, name, path } = place;
  if (isStory(item, place, read)) {
    return isUnread(item, read) && isNew(item, read) ? [{ path, name, count: 1 }] : [];
  }
  if (!isEntry(item) || isPutAside(item)) {
    return [];
  }
  return Object.keys(item)
    .filter(hasStories)
    .flatMap(one =>
      straysUnder(item[one], { path: [...path, one], name, key: one, isBelowOthers }, read),
    );
}

/** Whether a key of an entry that is no story may have stories. */
function hasStories(key: string): boolean {
  return isNameOfWork(key) || isNameOfGroups(key) || isNameOfOneGroup(key) || key === 'children';
}

/** An object: one that is a story itself, one in the place of a list, or one around others. */
function straysInObject(holder: Entry, place: Place, read: Read): Strays[] {
  const { isBelowOthers, key, name, path } = place;
  if (read.isGroup?.(holder) !== true && isStrayObject(holder, place, read.like)) {
    return isUnread(holder, read, key) ? [{ path, name, count: 1, isObject: true }] : [];
  }
  const stories = new Set(
    Object.keys(holder).filter(
      id =>
        // Below a key of work, the keys are ids, whatever their words.
        (isNameOfWork(key) || !isNameOfPast(id)) &&
        isStory(holder[id], { ...place, path: [...path, id] }, read, id),
    ),
  );
  const count = [...stories].filter(
    id => isUnread(holder[id], read, id) && isNew(holder[id], read),
  ).length;
  const others = Object.keys(holder).filter(inner => !stories.has(inner));
  // The lists of a tag are those of a tag, whatever it is called.
  const isTag = read.hasFreeNames === true && path.length === 1;
  return [
    ...(count === 0 ? [] : [{ path, name, count, isObject: true as const }]),
    ...others.flatMap(inner =>
      straysUnder(
        holder[inner],
        {
          path: [...path, inner],
          name: `${name}.${inner}`,
          key: inner,
          isBelowOthers: isBelowOthers && !isTag,
          isOneOfGroups: isNameOfGroups(key),
        },
        read,
      ),
    ),
  ];
}

/** Whether a value is seen for the first time. */
function isNew(value: unknown, { seen }: Read): boolean {
  const isKnown = typeof value === 'object' && seen.has(value);
  seen.add(value);
  return !isKnown;
}

/** Whether a value is a story, as far as its key and its own keys tell. @param own its key in an object */
function isStory(item: unknown, place: Place, read: Read, own?: string): boolean {
  return (
    read.isItem?.(item, place.path) === true ||
    (isEntry(item) &&
      read.isGroup?.(item) !== true &&
      isStrayStory(item, { ...place, own }, read.like))
  );
}

/** Whether a story is left, and is not one of those that are read. @param key of an entry of an object */
function isUnread(item: unknown, { like: { known } }: Read, key?: string): boolean {
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
