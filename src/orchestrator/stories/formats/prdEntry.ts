import type { Criterion, Story } from '../story.ts';
import { readCallChoice } from './callChoice.ts';
import { criteriaInText } from './criteriaInText.ts';
import { isInexact } from './inexactId.ts';
import {
  CRITERIA_KEYS,
  DEPENDENCY_KEYS,
  DESCRIPTION_KEYS,
  DISCOVERED_KEYS,
  DONE_KEYS,
  type DoneKey,
  EPIC_KEYS,
  isDoneWord,
  isParkedWord,
  isStatusKey,
  PRIORITY_WORDS,
  STATE_KEYS,
  STATUS_KEYS,
  TITLE_KEYS,
} from './prdKeys.ts';

const CRITERION_TEXT_KEYS = ['text', 'title', 'name', 'description', 'criterion', 'step', 'id'];
/** Additional done keys of criteria. */
const OTHER_DONE_KEYS = ['done', 'checked'];
/** Keys of a criterion that say whether it is done. */
export const CRITERION_DONE_KEYS: readonly string[] = [...DONE_KEYS, ...OTHER_DONE_KEYS];

/** A JSON object with unvalidated values. */
export interface Entry {
  readonly [key: string]: unknown;
  readonly id?: unknown;
  readonly status?: unknown;
  readonly priority?: unknown;
  readonly parked?: unknown;
  readonly project?: unknown;
  readonly feature?: unknown;
  readonly meta?: unknown;
  readonly metadata?: unknown;
  readonly items?: unknown;
  readonly properties?: unknown;
  readonly $schema?: unknown;
}

/** Whether it is a JSON object, which may be a story: not a list, not null. */
export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The items of a list, and none of anything else. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Reads one entry. `position` is 0-based in the list, `line` 1-based in the file. */
export function readStory(entry: Entry, position: number, line: number): Story {
  const id = ownId(entry) ?? `#${position + 1}`;
  const status = firstWord(entry, STATUS_KEYS);
  const done = isDone(entry);
  const priority = readPriority(entry.priority);
  const epic = firstText(entry, EPIC_KEYS);
  const discoveredFrom = firstText(entry, DISCOVERED_KEYS);
  return {
    id,
    title: titleOf(entry) ?? id,
    description: firstText(entry, DESCRIPTION_KEYS) ?? '',
    criteria: readCriteria(entry),
    done,
    status,
    priority,
    dependsOn: readDependencies(entry),
    epic: epic === undefined ? undefined : oneLine(epic),
    ...(discoveredFrom !== undefined && { discoveredFrom: oneLine(discoveredFrom) }),
    ...readCallChoice(entry),
    ...(!done && isParkedWord(status) && { parked: true }),
    position,
    line,
  };
}

/** The title in the file, as that of a story. */
export function titleOf(entry: Entry): string | undefined {
  return oneLine(firstText(entry, TITLE_KEYS) ?? '') || undefined;
}

/** The explicit id in the file, as text. */
export function ownId(entry: Entry): string | undefined {
  const id = isInexact(entry.id) ? undefined : asText(entry.id);
  return id === undefined || id.trim() === '' ? undefined : id;
}

/**
 * The key that decides whether a story is done: the first of `STATE_KEYS` with a value, whatever
 * it is; otherwise the first with `null`, a value not yet written.
 */
export function doneKeyOf(entry: Entry): DoneKey | undefined {
  let empty: DoneKey | undefined;
  for (const key of STATE_KEYS) {
    const value = entry[key];
    if (value !== null && value !== undefined) {
      return key;
    }
    if (value === null) {
      empty ??= key;
    }
  }
  return empty;
}

/** Without other keys that say whether a story is done, for a tool that only knows a `status`: an agent may have added one. */
export function withStatusAlone(entry: Entry): Entry {
  const others: readonly string[] = STATE_KEYS.filter(
    key => key !== 'status' && Object.hasOwn(entry, key),
  );
  return others.length === 0
    ? entry
    : Object.fromEntries(Object.entries(entry).filter(([key]) => !others.includes(key)));
}

/** Done means a deciding key with a word that means done, or a done key that is `true`; anything unclear is not done. */
export function isDone(entry: Entry): boolean {
  const key = doneKeyOf(entry);
  return (
    key !== undefined && (isDoneWord(entry[key]) || (!isStatusKey(key) && entry[key] === true))
  );
}

/** Whether the file says that nobody is to work on this: such an entry counts like one that is done. */
export function isPutAside(entry: Entry): boolean {
  return entry.parked === true || STATUS_KEYS.some(key => isParkedWord(entry[key]));
}

/**
 * Reads a priority as a number, lowest first: numbers, numerals, and words such as `high` or `P1`.
 * @returns `undefined` for anything without an order
 */
export function readPriority(value: unknown): number | undefined {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : undefined;
  }
  if (typeof value !== 'string') {
    return undefined;
  }
  const word = value.trim().toLowerCase();
  const numeral = /^-?\d+(\.\d+)?$/.test(word) ? Number(word) : undefined;
  return PRIORITY_WORDS.get(word) ?? (Number.isFinite(numeral) ? numeral : undefined);
}

/** What an entry waits for, as it names it. */
export function readDependencies(entry: Entry): readonly string[] {
  const ids: string[] = [];
  for (const key of DEPENDENCY_KEYS) {
    const value = entry[key];
    if (Array.isArray(value)) {
      for (const item of value) {
        addDependency(ids, item);
      }
    } else if (value !== undefined) {
      addDependency(ids, value);
    }
  }
  return ids.length < 2 ? ids : [...new Set(ids)];
}

function addDependency(ids: string[], value: unknown): void {
  const id = dependencyId(value);
  if (id !== undefined) {
    ids.push(id);
  }
}

/** The id of one dependency, as text or in an object. */
export function dependencyId(value: unknown): string | undefined {
  const id = isEntry(value) ? ownId(value) : asText(value);
  return id === undefined || id.trim() === '' ? undefined : id;
}

/**
 * The acceptance criteria of a story: those under the first known key with a text, which may itself be a list, or else
 * under the first one that says anything.
 */
export function readCriteria(entry: Entry): readonly Criterion[] {
  const key = criteriaKeyOf(entry);
  const value = key === undefined ? [] : entry[key];
  const listed = typeof value === 'string' ? criteriaInText(value) : undefined;
  if (listed !== undefined) {
    return listed;
  }
  const criteria: Criterion[] = [];
  for (const item of criteriaItems(value)) {
    const criterion = readCriterion(item);
    if (criterion !== undefined) {
      criteria.push(criterion);
    }
  }
  return criteria;
}

/** The key whose values are the acceptance criteria of a story. */
export function criteriaKeyOf(entry: Entry): string | undefined {
  let other: string | undefined;
  for (const key of CRITERIA_KEYS) {
    const value = entry[key];
    if (value === undefined) {
      continue;
    }
    if (criteriaItems(value).some(item => ownText(item) !== undefined)) {
      return key;
    }
    if (Array.isArray(value) && wordsOf(value) !== '') {
      // What is called so is nothing else.
      if (/criteri|acceptance/i.test(key)) {
        return key;
      }
      other ??= key;
    }
  }
  return other;
}

function criteriaItems(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function readCriterion(value: unknown): Criterion | undefined {
  const text = ownText(value) ?? (typeof value === 'boolean' ? '' : wordsOf(value));
  if (text === '') {
    return undefined;
  }
  if (!isEntry(value)) {
    return { text };
  }
  // A criterion with `null` has not been checked; that is less than "not done".
  const told = CRITERION_DONE_KEYS.some(key => typeof value[key] === 'boolean');
  const done = isDone(value) || OTHER_DONE_KEYS.some(key => value[key] === true);
  return told || done ? { text, done } : { text };
}

/** The text of a criterion, as it is or in an object. */
function ownText(value: unknown): string | undefined {
  const text = isEntry(value) ? firstText(value, CRITERION_TEXT_KEYS) : asText(value);
  return text === undefined || text.trim() === '' ? undefined : text;
}

/** All that a value says, as a text: `- POST /todos: answers 201`, without quotes, is an object in YAML. */
function wordsOf(value: unknown, around: readonly unknown[] = []): string {
  if (around.includes(value)) {
    return ''; // An alias of YAML may stand for what it is in.
  }
  const inside = [...around, value];
  if (Array.isArray(value)) {
    return joined(value.map(part => wordsOf(part, inside)));
  }
  if (isEntry(value)) {
    return joined(
      Object.entries(value).map(([key, part]) => {
        const words = CRITERION_DONE_KEYS.includes(key) ? '' : wordsOf(part, inside);
        return words === '' ? '' : `${key}: ${words}`;
      }),
    );
  }
  return typeof value === 'boolean' ? String(value) : (asText(value)?.trim() ?? '');
}

function joined(texts: readonly string[]): string {
  return texts.filter(text => text !== '').join(', ');
}

/** Whether a value says nothing: none, a blank text, an empty list or object. */
export function isVoid(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    (typeof value === 'string' && value.trim() === '') ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

/** The first of these keys with a non-blank text, or a number as a text; returned as written. */
export function firstText(entry: Entry, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = asText(entry[key]);
    if (text !== undefined && text.trim() !== '') {
      return text;
    }
  }
  return undefined;
}

/** The first text under these keys, as written. */
function firstWord(entry: Entry, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const word = entry[key];
    if (typeof word === 'string') {
      return word;
    }
  }
  return undefined;
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'number') {
    return String(value);
  }
  return typeof value === 'string' ? value : undefined;
}

/** The first line of a text, without white space around it. */
export function oneLine(text: string): string {
  return text
    .trim()
    .replace(/[\r\n].*/s, '')
    .trimEnd();
}
