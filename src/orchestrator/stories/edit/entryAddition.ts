import type { Edit } from 'jsonc-parser';
import { isNumberId, numberId } from '../../../base/numberId.ts';
import { memberOf, membersOf, type Span } from '../formats/jsonOutline.ts';
import {
  doneKeyOf,
  type Entry,
  isDone,
  isEntry,
  ownId,
  readDependencies,
  readPriority,
  readStory,
} from '../formats/prdEntry.ts';
import {
  DESCRIPTION_KEYS,
  DISCOVERED_KEYS,
  DONE_KEYS,
  isStatusKey,
  TITLE_KEYS,
} from '../formats/prdKeys.ts';
import { meaningOf, openWord } from '../formats/statusWord.ts';
import { notedReport } from '../reportNote.ts';
import { type NewStory, originLines } from './newStory.ts';

/** A value of a new entry; lists are empty. */
export type Value = boolean | number | string | readonly never[];

/** The last object of a list shows how the file writes stories. */
function modelOf(entries: readonly unknown[]): Entry {
  return entries.findLast(isEntry) ?? {};
}

/**
 * The number of the next story, which is its id if no other one in the list has an id. `undefined` if one has, or waits
 * for this number, or if the keys of the others have no place from which the note of its report would be read: it is
 * known again by its id then.
 */
export function nextNumberId(
  entries: readonly unknown[],
  usual: { readonly key: string; readonly word: string },
): string | undefined {
  const others = entries.filter(isEntry);
  if (others.length === 0 || others.some(other => ownId(other) !== undefined)) {
    return undefined;
  }
  const id = numberId(entries.length);
  const number = String(entries.length + 1);
  if (others.some(other => readDependencies(other).some(name => [id, number].includes(name)))) {
    return undefined;
  }
  const trial = { id, title: 'New', report: 'DISC-1-1-1' };
  const entry = Object.fromEntries(newEntry(trial, entries, usual));
  const read = readStory(entry, entries.length, 1);
  return read.title === trial.title && notedReport(read) === trial.report ? id : undefined;
}

/**
 * A new story with the keys that the file's other stories have: id (unless it is only a number), title, a description,
 * a priority behind all others, and whatever says that it is not done.
 */
export function newEntry(
  story: NewStory,
  entries: readonly unknown[],
  usual: { readonly key: string; readonly word: string },
): Map<string, Value> {
  const model = modelOf(entries);
  const others = entries.filter(isEntry);
  const has = (key: string) => Object.hasOwn(model, key);
  const titleKey = TITLE_KEYS.find(key => typeof model[key] === 'string') ?? 'title';
  const aboutKey =
    DESCRIPTION_KEYS.find(key => key !== titleKey && typeof model[key] === 'string') ??
    'description';
  const isOneKey = aboutKey === titleKey || (titleKey === 'description' && !has('details'));
  const why = originLines({ ...story, from: undefined }).join('\n\n');
  const values = new Map<string, Value>(isNumberId(story.id) ? [] : [['id', story.id]]);
  values.set(titleKey, isOneKey && why !== '' ? `${story.title}\n${why}` : story.title);
  if (!isOneKey && why !== '') {
    values.set(aboutKey, why);
  }
  const priority = nextPriority(others);
  if (priority !== undefined) {
    values.set('priority', priority);
  }
  const doneKey = doneKeyOf(model) ?? usual.key;
  values.set(doneKey, isStatusKey(doneKey) ? openStatus(others, doneKey, usual.word) : false);
  if (typeof model[doneKey] === 'string' && !isStatusKey(doneKey)) {
    const words = others.flatMap(other =>
      typeof other[doneKey] === 'string' && meaningOf(other[doneKey]) === false
        ? [{ status: other[doneKey] }]
        : [],
    );
    values.set(doneKey, words.length === 0 ? false : openWord(undefined, words));
  }
  for (const key of DONE_KEYS) {
    if (key !== doneKey && typeof model[key] === 'boolean') {
      values.set(key, false);
    }
  }
  if (!isStatusKey(doneKey) && typeof model.status === 'string') {
    values.set(
      'status',
      openStatus(
        others.filter(other => !isDone(other)),
        'status',
        usual.word,
      ),
    );
  }
  if (story.from !== undefined) {
    values.set(discoveredKey(others), story.from);
  }
  return values;
}

/** As the file writes it, or would write it: `done_criteria` goes with `discovered_from`. */
function discoveredKey(others: readonly Entry[]): string {
  const keys = new Set(others.flatMap(other => Object.keys(other)));
  const [camelCase, snakeCase] = DISCOVERED_KEYS;
  const usual = [...keys].some(key => /[a-z]_[a-z]/.test(key)) ? snakeCase : camelCase;
  return DISCOVERED_KEYS.find(key => keys.has(key)) ?? usual;
}

function openStatus(others: readonly Entry[], key: string, usual: string): string {
  const uses = others.flatMap(other => {
    const status = other[key];
    return typeof status === 'string' ? [{ status }] : [];
  });
  return openWord(undefined, uses, usual);
}

/** A number behind all others; a class such as “high” is somebody's choice, so there is none. */
function nextPriority(others: readonly Entry[]): number | undefined {
  const numbers = others.map(({ priority }) => priority).filter(value => value !== undefined);
  return numbers.length > 0 && numbers.every(value => typeof value === 'number')
    ? numbers.reduce<number>(
        (most, value) => Math.max(most, Math.floor(readPriority(value) ?? 0)),
        Number.NEGATIVE_INFINITY,
      ) + 1
    : undefined;
}

/** The edit that adds an object to the end of a list, written like the last object there. @param open offset of the list's bracket */
export function appendEntry(
  text: string,
  spans: readonly Span[],
  open: number,
  values: ReadonlyMap<string, Value>,
): Edit {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const last = spans.at(-1);
  if (last === undefined) {
    const [outer = ''] = /^[\t ]*/.exec(text.slice(text.lastIndexOf('\n', open) + 1, open)) ?? [];
    const [, step = '  '] = /\n([\t ]+)/.exec(text) ?? [];
    const space = eol + outer + step;
    const body = JSON.stringify(Object.fromEntries(values), null, step).replaceAll('\n', space);
    return { offset: open + 1, length: 0, content: space + body + eol + outer };
  }
  const isObject = ({ start }: Span) => text[start] === '{';
  const previous = spans.at(-2);
  const separator =
    previous === undefined
      ? `,${text.slice(open + 1, last.start)}`
      : text.slice(previous.end, last.start);
  return {
    offset: last.end,
    length: 0,
    content: separator + entryText(text, spans.findLast(isObject) ?? last, values),
  };
}

/** An object in the style of another one. */
export function entryText(text: string, model: Span, values: ReadonlyMap<string, Value>): string {
  const members = membersOf(text, model.start);
  const [first, second] = members;
  if (first === undefined) {
    return JSON.stringify(Object.fromEntries(values));
  }
  const opening = text.slice(model.start + 1, first.name.start);
  const colon = text.slice(first.name.end, first.value.start);
  const gap =
    second === undefined
      ? `,${opening.includes('\n') ? opening : ' '}`
      : text.slice(first.value.end, second.name.start);
  const closing = text.slice(members.at(-1)?.value.end, model.end - 1);
  const body = [...values]
    .map(([key, value]) => JSON.stringify(key) + colon + JSON.stringify(value))
    .join(gap);
  return `{${opening}${body}${closing}}`;
}

/** The offset of the list under a key, or of the text's own list. */
export function listStart(text: string, start: number, key: string | undefined): number {
  return key === undefined ? start : (memberOf(membersOf(text, start), key)?.value.start ?? start);
}
