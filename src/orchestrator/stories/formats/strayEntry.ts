import { once } from '../../../base/once.ts';
import { isNameOfGroups, isNameOfOneGroup, isNameOfStories, isNameOfWork } from './listNames.ts';
import {
  doneKeyOf,
  type Entry,
  firstText,
  isDone,
  isEntry,
  isVoid,
  ownId,
  readDependencies,
  titleOf,
} from './prdEntry.ts';
import { CHILD_KEYS } from './prdEpics.ts';
import { CRITERIA_KEYS, LIST_KEYS, normaliseWord, STATE_KEYS, STATUS_KEYS } from './prdKeys.ts';
import { HEADING_PART_KEYS } from './prdRoot.ts';
import {
  hasCounts,
  looksLikeStory,
  looksLikeStoryUnder,
  nameOf,
  saysUndone,
} from './storyParts.ts';

/** What the stories that are read have in common, by which others are known. */
export interface Likeness {
  /** How their ids begin: `us-` of `US-001`. */
  readonly beginnings: () => ReadonlySet<string>;
  /** The keys that they have. */
  readonly keys: () => ReadonlySet<string>;
  /** Their ids and titles. */
  readonly known: () => ReadonlySet<string>;
}

/** Where an entry is. */
export interface Surroundings {
  /** The key of its list or object. */
  readonly key: string;
  /** It is below a key of other things. */
  readonly isBelowOthers: boolean;
  /** It is one of several groups, in an object of them. */
  readonly isOneOfGroups?: boolean;
  /** Its own key, if it is a value of an object. */
  readonly own?: string;
}

/** Words that are said of work, and rarely of anything else. */
const OPEN_WORDS = new Set([
  ...['pending', 'todo', 'to do', 'not started', 'in progress', 'planned', 'open', 'backlog'],
  ...['blocked', 'review', 'in review', 'doing', 'wip', 'inprogress', 'not done', 'incomplete'],
]);

/** Keys that Task Master has in its tasks. */
const TASK_KEYS = ['dependencies', 'subtasks', 'testStrategy'];
/** Keys that stories have in one file, and others have in the next. */
const USUAL_KEYS: readonly string[] = ['id', 'title', 'name', 'done', ...STATE_KEYS];
/** Keys of criteria that are nothing else as well. */
const OWN_CRITERIA_KEYS = CRITERIA_KEYS.filter(key => /criteria|acceptance|steps/i.test(key));

/** @param entries the stories that are read, as they are in the file */
export function likenessOf(
  entries: () => readonly unknown[],
  known: () => ReadonlySet<string>,
): Likeness {
  const stories = once(() => entries().filter(isEntry));
  return {
    known,
    beginnings: once(() => new Set(stories().flatMap(story => beginningOf(ownId(story)) ?? []))),
    keys: once(() => new Set([...USUAL_KEYS, ...stories().flatMap(story => Object.keys(story))])),
  };
}

/** Whether an entry of a list, or a value of an object, is a story. */
export function isStrayStory(item: Entry, around: Surroundings, like: Likeness): boolean {
  const { key, own } = around;
  // Below a key of work, the keys are ids, whatever their words.
  const isHolder = own !== undefined && !isNameOfWork(key) && isNameOfHolder(own);
  if (isHolder || hasCounts(item)) {
    return false;
  }
  if (isNameOfGroups(key)) {
    return hasOpenCriteria(item) && hasIdLikeStories(item, own, like);
  }
  const isOpen = own === undefined && isOpenItem(item);
  return (
    isLikeStories(item, own, like) ||
    (isOpen && isNameOfStories(key)) ||
    (!isOfOthers(around) &&
      ((isNameOfWork(key) && looksLikeStoryUnder(key, item)) ||
        isNumberedTask(item) ||
        (isOpen && hasKeysOfStories(item, like))))
  );
}

/** Whether entries may have names and states without being stories. */
function isOfOthers({ isBelowOthers, key, own }: Surroundings): boolean {
  // The list of a group may have groups, but that of one with a number has its stories: `phase2`.
  const isOfGroup = isNameOfOneGroup(key) && !/\d/.test(key);
  const isHeading = own !== undefined && HEADING_PART_KEYS.includes(key);
  return isBelowOthers || isOfGroup || isHeading;
}

/** Whether an object is a story in the place of a list of them, or of a group of lists. */
export function isStrayObject(holder: Entry, around: Surroundings, like: Likeness): boolean {
  const { isBelowOthers, isOneOfGroups, key } = around;
  if (isOneOfGroups || isNameOfHolder(key) || hasCounts(holder)) {
    return false;
  }
  const isInPlace = LIST_KEYS.some(list => list === key);
  return (
    isLikeStories(holder, key, like) ||
    (!isBelowOthers &&
      ((isInPlace && looksLikeStory(holder) && !hasChildren(holder)) || isNumberedTask(holder)))
  );
}

/** Whether an entry is a story wherever it is. @param key of a value of an object */
function isLikeStories(item: Entry, key: string | undefined, like: Likeness): boolean {
  if (nameOf(item) === '' || hasChildren(item)) {
    return false;
  }
  // Only with a title: which story waits for which is also told in lists of its own.
  const isLike =
    titleOf(item) !== undefined && (waitsForStory(item, like) || hasOpenCriteria(item));
  return isLike || hasIdLikeStories(item, key, like);
}

function hasIdLikeStories(item: Entry, key: string | undefined, like: Likeness): boolean {
  const beginning = beginningOf(ownId(item) ?? key);
  return beginning !== undefined && like.beginnings().has(beginning);
}

/** Each list may count from 1, so a number alone names no story. */
function waitsForStory(item: Entry, like: Likeness): boolean {
  return readDependencies(item).some(name => !/^\d+$/.test(name) && like.known().has(name));
}

function hasOpenCriteria(item: Entry): boolean {
  return item['passes'] === false && OWN_CRITERIA_KEYS.some(key => !isVoid(item[key]));
}

/** Whether an item of a list says that it is open. */
function isOpenItem(item: Entry): boolean {
  if (titleOf(item) === undefined || hasChildren(item) || isDone(item)) {
    return false;
  }
  return (
    saysNotDone(item) ||
    (firstText(item, ['id', 'title', 'story']) !== undefined &&
      STATUS_KEYS.some(
        key => typeof item[key] === 'string' && OPEN_WORDS.has(normaliseWord(item[key])),
      ))
  );
}

/** Whether an entry says nothing that stories do not say: if its list has another name, it is one of them. */
function hasKeysOfStories(item: Entry, like: Likeness): boolean {
  return Object.keys(item).every(key => like.keys().has(key));
}

/** Whether an entry is a task of Task Master, which gives each a number, and reads one without a state as open. */
function isNumberedTask(item: Entry): boolean {
  return (
    typeof item.id === 'number' &&
    TASK_KEYS.some(key => Object.hasOwn(item, key)) &&
    titleOf(item) !== undefined &&
    !hasChildren(item)
  );
}

/** How an id begins before its number; `undefined` for a plain number, and for an id that ends with words. */
function beginningOf(id: string | undefined): string | undefined {
  const at = id?.search(/\d/) ?? -1;
  const beginning = id?.slice(0, at).toLowerCase() ?? '';
  return at > 0 && /\p{L}/u.test(beginning) && /^\d+(?:[.-]\d+)*[a-z]?$/i.test(id?.slice(at) ?? '')
    ? beginning
    : undefined;
}

/** Whether the key that decides is that of true or false, and has `false`: it is said of little else than work. */
function saysNotDone(entry: Entry): boolean {
  const key = doneKeyOf(entry);
  return key === undefined ? saysUndone(entry) : entry[key] === false;
}

/** Whether an entry has stories, or their ids, and so is a group of them. */
function hasChildren(entry: Entry): boolean {
  const isStory = saysNotDone(entry);
  return CHILD_KEYS.some(key => {
    const list = entry[key];
    return Array.isArray(list) && (!isStory || list.some(isEntry));
  });
}

/** Whether an object with this key is a group of stories, or the heading of a file: it is only looked into. */
function isNameOfHolder(key: string): boolean {
  return isNameOfGroups(key) || isNameOfOneGroup(key) || HEADING_PART_KEYS.includes(key);
}
