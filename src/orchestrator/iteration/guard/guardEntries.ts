import { applyEdits, type Edit } from 'jsonc-parser';
import {
  elementsOf,
  memberOf,
  membersOf,
  type Span,
  skipSpace,
} from '../../stories/formats/jsonOutline.ts';
import { isEntry, readStory } from '../../stories/formats/prdEntry.ts';
import { STATE_KEYS } from '../../stories/formats/prdKeys.ts';
import { findStoryArray } from '../../stories/formats/prdRoot.ts';
import type { Story, StoryList } from '../../stories/story.ts';
import { parseStoryText } from '../../stories/storyFile.ts';
import { matchStories, type Pair, plain, sayingOf } from '../../stories/storyMatching.ts';
import {
  criterionChanges,
  type Duty,
  isForbidden,
  textChanges,
  tickChanges,
} from './guardChanges.ts';

/** Each allowed change is tested on the whole entry, so their number is limited. */
const MAX_TRIED = 500;

/** A list of stories in a JSON text. */
interface EntryList {
  /** Without a byte order mark. */
  readonly text: string;
  readonly bom: string;
  /** Offset of the opening bracket. */
  readonly start: number;
  /** The n-th span is the story at position n. */
  readonly spans: readonly Span[];
}

function entriesOf(file: string, content: string): EntryList | undefined {
  const { text, bom } = parseStoryText(file, content);
  const array = findStoryArray(JSON.parse(text));
  const root = skipSpace(text, 0);
  const start =
    array?.key === undefined ? root : memberOf(membersOf(text, root), array.key)?.value.start;
  return array === undefined || start === undefined
    ? undefined
    : { text, bom, start, spans: elementsOf(text, start) };
}

/**
 * An agent's JSON file with the old stories restored: removed ones in their places, changed ones as before, with
 * the changes that are allowed.
 *
 * @param ids of the stories to restore
 * @returns `undefined` if the lists cannot be found
 */
export function withOldEntries(
  files: { readonly before: StoryList; readonly now: StoryList },
  texts: { readonly before: string; readonly now: string },
  ids: ReadonlySet<string>,
  duty: Duty,
): string | undefined {
  const { before, now } = files;
  const old = entriesOf(before.path, texts.before);
  const list = entriesOf(now.path, texts.now);
  if (old === undefined || list === undefined) {
    return undefined;
  }
  const oldEntry = (story: Story) => entryText(old, story.position);
  const { pairs, removed, added } = matchStories(before.stories, now.stories);
  const renamed = renamedStories(removed, added);
  const isRenamed = new Set(renamed);
  const entries = new Map<number, string[]>();
  for (const pair of [...pairs, ...renamed]) {
    const isTarget = isRenamed.has(pair) || textChanges(pair).some(isForbidden);
    if (isTarget && ids.has(pair.before.id)) {
      const entry = withAllowedChanges(
        oldEntry(pair.before),
        entryText(list, pair.after.position),
        pair,
        duty,
      );
      entries.set(pair.after.position, [entry]);
    }
  }
  // Each removed story is placed after its previous neighbor.
  const places = new Map([...pairs, ...renamed].map(pair => [pair.before, pair.after.position]));
  let place: number | undefined;
  for (const story of before.stories) {
    const known = places.get(story);
    if (known !== undefined) {
      place = known;
    } else if (ids.has(story.id)) {
      const at = place ?? -1;
      const standing = at === -1 ? [] : [entryText(list, at)];
      entries.set(at, [...(entries.get(at) ?? standing), oldEntry(story)]);
    }
  }
  return list.bom + applyEdits(list.text, entryEdits(list, entries, old));
}

/** If a removed story and an added one have the same text, it is one story with a new id. */
function renamedStories(removed: readonly Story[], added: readonly Story[]): Pair[] {
  const candidates = new Map<string, Story[]>();
  for (const story of added) {
    const saying = sayingOf(story);
    candidates.set(saying, [...(candidates.get(saying) ?? []), story]);
  }
  return removed.flatMap(before => {
    const after = candidates.get(sayingOf(before))?.shift();
    return after === undefined ? [] : [{ before, after }];
  });
}

function entryText({ text, spans }: EntryList, position: number): string {
  const span = spans[position];
  return span === undefined ? '' : text.slice(span.start, span.end);
}

/**
 * @param entries the replacement for each entry of the list; those under -1 come first
 * @param old provides the spacing if the list has none
 */
function entryEdits(
  list: EntryList,
  entries: ReadonlyMap<number, readonly string[]>,
  old: EntryList,
): Edit[] {
  const separator = separatorOf(list) ?? separatorOf(old) ?? ', ';
  return [...entries].map(([position, texts]) => {
    const content = texts.join(separator);
    if (list.spans.length === 0) {
      return { offset: list.start + 1, length: 0, content: betweenBrackets(old, content) };
    }
    const span = list.spans[position];
    return span === undefined
      ? { offset: list.spans[0]?.start ?? 0, length: 0, content: content + separator }
      : { offset: span.start, length: span.end - span.start, content };
  });
}

/** The text between two entries; with only one entry, the text before it. */
function separatorOf({ text, start, spans: [first, second] }: EntryList): string | undefined {
  if (first === undefined) {
    return undefined;
  }
  return second === undefined
    ? `,${text.slice(start + 1, first.start)}`
    : text.slice(first.end, second.start);
}

function betweenBrackets({ text, start, spans }: EntryList, content: string): string {
  const [first, last] = [spans[0], spans.at(-1)];
  return first === undefined || last === undefined
    ? content
    : text.slice(start + 1, first.start) +
        content +
        text.slice(last.end, skipSpace(text, last.end));
}

/** The old entry with every member of the new one that is not a forbidden change. */
function withAllowedChanges(oldText: string, newText: string, pair: Pair, duty: Duty): string {
  const { before, after } = pair;
  const isAllowed = (text: string): boolean => {
    const entry: unknown = JSON.parse(text);
    if (!isEntry(entry)) {
      return false;
    }
    const story = readStory(entry, before.position, before.line);
    const changed = { before, after: story };
    return (
      story.id === before.id &&
      ![...textChanges(changed), ...tickChanges(changed, duty)].some(isForbidden)
    );
  };
  const isForbiddenTick = tickChanges(pair, duty).length > 0;
  const doneKeys: readonly string[] = STATE_KEYS;
  const added = criterionChanges(before.id, before.criteria, after.criteria).flatMap(change =>
    change.kind === 'criterionAdded' ? [plain(change.text)] : [],
  );
  let text = oldText;
  for (const { key, value } of membersOf(newText, 0).slice(0, MAX_TRIED)) {
    const now = newText.slice(value.start, value.end);
    if (memberText(oldText, key) === now || (isForbiddenTick && doneKeys.includes(key))) {
      continue;
    }
    const whole = withMember(text, key, now);
    text = isAllowed(whole) ? whole : withAllowedItems(text, key, now, added, isAllowed);
  }
  return text;
}

/** For a list of criteria that is forbidden as a whole: keeps the marks of each, and new ones. */
function withAllowedItems(
  oldText: string,
  key: string,
  newList: string,
  added: readonly string[],
  isAllowed: (text: string) => boolean,
): string {
  const oldList = memberText(oldText, key);
  if (oldList === undefined || !oldList.startsWith('[') || !newList.startsWith('[')) {
    return oldText;
  }
  const textOf = (item: string) => {
    const [criterion] = readStory({ [key]: [JSON.parse(item)] }, 0, 1).criteria;
    return criterion === undefined ? undefined : plain(criterion.text);
  };
  let list = oldList;
  const accept = (changed: string) => {
    if (isAllowed(withMember(oldText, key, changed))) {
      list = changed;
    }
  };
  const places = new Map(itemsOf(oldList).map((item, index) => [textOf(item), index]));
  for (const item of itemsOf(newList).slice(0, MAX_TRIED)) {
    const text = textOf(item);
    const place = places.get(text);
    if (text !== undefined && place !== undefined) {
      for (const { key: name, value } of item.startsWith('{')
        ? membersOf(item, 0).slice(0, 20)
        : []) {
        accept(withItemMember(list, place, name, item.slice(value.start, value.end)));
      }
    } else if (text !== undefined && added.includes(text)) {
      accept(withItem(list, item));
    }
  }
  return withMember(oldText, key, list);
}

function itemsOf(list: string): string[] {
  return elementsOf(list, 0).map(({ start, end }) => list.slice(start, end));
}

/** The list with a member of one of its items replaced or added; an item that is not an object is unchanged. */
function withItemMember(list: string, index: number, key: string, value: string): string {
  const span = elementsOf(list, 0)[index];
  const item = span === undefined ? '' : list.slice(span.start, span.end);
  return span === undefined || !item.startsWith('{')
    ? list
    : list.slice(0, span.start) + withMember(item, key, value) + list.slice(span.end);
}

function memberText(object: string, key: string): string | undefined {
  const span = memberOf(membersOf(object, 0), key)?.value;
  return span === undefined ? undefined : object.slice(span.start, span.end);
}

/**
 * The object with a member's value replaced, or with a new last member, with the same spacing as the previous one.
 */
function withMember(object: string, key: string, value: string): string {
  const members = membersOf(object, 0);
  const span = memberOf(members, key)?.value;
  if (span !== undefined) {
    return object.slice(0, span.start) + value + object.slice(span.end);
  }
  const last = members.at(-1);
  if (last === undefined) {
    return `{${JSON.stringify(key)}: ${value}}`;
  }
  const previous = members.at(-2);
  const separator =
    previous === undefined
      ? `,${object.slice(1, last.name.start)}`
      : object.slice(previous.value.end, last.name.start);
  const colon = object.slice(last.name.end, last.value.start);
  const member = separator + JSON.stringify(key) + colon + value;
  return object.slice(0, last.value.end) + member + object.slice(last.value.end);
}

/** The list with a new last item, with the same spacing as the previous one. */
function withItem(list: string, item: string): string {
  const spans = elementsOf(list, 0);
  const last = spans.at(-1);
  if (last === undefined) {
    return `[${item}]`;
  }
  const separator = separatorOf({ text: list, bom: '', start: 0, spans }) ?? ', ';
  return list.slice(0, last.end) + separator + item + list.slice(last.end);
}
