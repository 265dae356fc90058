import type { StoryFileHeading } from '../story.ts';
import { type Entry, firstText, isEntry, oneLine } from './prdEntry.ts';
import {
  CRITERIA_KEYS,
  DEPENDENCY_KEYS,
  DONE_KEYS,
  LIST_KEYS,
  STATUS_KEYS,
  TITLE_KEYS,
} from './prdKeys.ts';

/** The stories of a file: `key` is absent if the file is the list itself. */
export interface StoryArray {
  readonly key?: string;
  readonly entries: readonly unknown[];
}

/**
 * Finds the list of stories: the file itself, or the first known key with a list that looks like stories.
 * `undefined` for other kinds of JSON (a schema, a product specification, a card database, nested phases): treating
 * it as an empty list would end a run as complete.
 */
export function findStoryArray(root: unknown): StoryArray | undefined {
  if (Array.isArray(root)) {
    return root.length === 0 || root.some(hasStoryShape) ? { entries: root } : undefined;
  }
  if (!isEntry(root)) {
    return undefined;
  }
  let empty: StoryArray | undefined;
  for (const key of LIST_KEYS) {
    const entries = root[key];
    if (!Array.isArray(entries)) {
      continue;
    }
    if (isListOfStories(key, entries)) {
      return { key, entries };
    }
    if (entries.length === 0) {
      empty ??= { key, entries };
    }
  }
  return empty;
}

/** Whether an item of a list under this key is a story that is meant to be worked on, and not prose about a product. */
export function isListedStory(key: (typeof LIST_KEYS)[number], item: unknown): item is Entry {
  switch (key) {
    case 'userStories':
    case 'stories':
    case 'tasks':
      return hasStoryShape(item);
    default:
      return isEntry(item) && saysDone(item);
  }
}

function isListOfStories(key: (typeof LIST_KEYS)[number], entries: readonly unknown[]): boolean {
  switch (key) {
    case 'userStories':
    case 'stories':
      return entries.some(isEntry);
    case 'user_stories':
      // Product specifications use this key for prose; the list of a loop has a done key.
      return entries.some(entry => isEntry(entry) && saysDone(entry));
    default:
      return entries.some(hasStoryShape);
  }
}

function hasStoryShape(value: unknown): boolean {
  if (!isEntry(value)) {
    return false;
  }
  const has = (keys: readonly string[]) => keys.some(key => value[key] !== undefined);
  return (
    saysDone(value) ||
    has(DEPENDENCY_KEYS) ||
    (has(['id']) && has(TITLE_KEYS)) ||
    (has(['title', 'description']) && has(CRITERIA_KEYS))
  );
}

/** Whether it has a key by which stories are known: a status with a number may be that of an answer of HTTP. */
function saysDone(entry: Entry): boolean {
  return (
    DONE_KEYS.some(key => Object.hasOwn(entry, key)) ||
    STATUS_KEYS.some(key => typeof entry[key] === 'string' || entry[key] === null)
  );
}

/** Keys with the name of the project, and with its branch, in order of precedence. */
export const PROJECT_KEYS: readonly string[] = [
  ...['project', 'projectName', 'productName', 'product_name', 'name', 'title'],
];
export const BRANCH_KEYS: readonly string[] = ['branchName', 'branch_name', 'branch'];
/** Keys of objects in which the heading may be, too. */
export const HEADING_PART_KEYS: readonly string[] = ['project', 'feature', 'meta', 'metadata'];

/** Reads project, branch and description, which have several names; empty if there are none. */
export function readHeading(root: unknown): StoryFileHeading {
  if (!isEntry(root)) {
    return { project: '', branchName: '', description: '' };
  }
  const parts = [root, ...HEADING_PART_KEYS.map(key => root[key]).filter(isEntry)];
  const find = (keys: readonly string[]) => {
    for (const part of parts) {
      const found = firstText(part, keys);
      if (found !== undefined) {
        return found;
      }
    }
    return '';
  };
  return {
    project: oneLine(find(PROJECT_KEYS)),
    // As it is: a part of it would be another branch.
    branchName: find(BRANCH_KEYS).trim(),
    description: find(['description']),
  };
}
