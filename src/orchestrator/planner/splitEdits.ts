import type { Edit } from 'jsonc-parser';
import { editedText } from '../stories/edit/editedText.ts';
import { literal, setLiterals } from '../stories/edit/jsonEdit.ts';
import {
  elementsOf,
  type Member,
  memberOf,
  membersOf,
  type Span,
} from '../stories/formats/jsonOutline.ts';
import { dependencyId, type Entry } from '../stories/formats/prdEntry.ts';

/** An object of a story file, as it was read, and where it begins. */
interface PlacedEntry {
  readonly entry: Entry;
  readonly start: number;
}

/**
 * The edits that put the parts of a story wherever an object names the story. An object that stands for the story is
 * repeated with the ids of the parts, so that it keeps its other keys; what else is named stays as it is.
 */
export function referenceEdits(
  text: string,
  { entry, start }: PlacedEntry,
  keys: readonly string[],
  isMeant: (name: string) => boolean,
  ids: readonly string[],
): Edit[] {
  const named = (key: string) =>
    [entry[key]].flat().map(value => {
      const name = dependencyId(value);
      return name !== undefined && isMeant(name);
    });
  const used = keys.filter(key => named(key).includes(true));
  const members = used.length === 0 ? [] : membersOf(text, start);
  return used.flatMap(key => {
    const value = memberOf(members, key)?.value;
    if (value === undefined) {
      return [];
    }
    const isList = Array.isArray(entry[key]);
    const elements = isList ? elementsOf(text, value.start) : [value];
    const comma = commaIn(text, members);
    const { gap } = isList ? styleOf(text, value, comma) : { gap: comma };
    const isStory = named(key);
    return elements.flatMap((element, index) => {
      const copies = ids.map(id => withId(text, element, id)).join(gap);
      return isStory[index] === true ? [replace(element, isList ? copies : `[${copies}]`)] : [];
    });
  });
}

/**
 * The edit that puts the parts in the place of a story.
 * @param list the list of stories
 * @param span the object of the story
 */
export function partsEdit(text: string, list: Span, span: Span, parts: readonly string[]): Edit {
  const { gap } = styleOf(text, list, commaIn(text, membersOf(text, span.start)));
  return replace(span, parts.join(gap));
}

/**
 * A part of a story: the text of the story with some values replaced.
 * @param more ids that the part waits for, too
 */
export function partText(
  story: string,
  values: ReadonlyMap<string, string | readonly string[]>,
  more: { readonly key: string; readonly ids: readonly string[] },
): string {
  const members = membersOf(story, 0);
  const literals = new Map(
    [...values].map(([key, value]) => [
      key,
      typeof value === 'string'
        ? literal(value)
        : listText(story, members, key, value.map(literal)),
    ]),
  );
  if (more.ids.length > 0) {
    const items = [...namesIn(story, members, more.key), ...more.ids.map(literal)];
    literals.set(more.key, listText(story, members, more.key, items));
  }
  return editedText(story, setLiterals(story, 0, literals));
}

/** What a story names under a key, as it is written: a list, or one name without a list. */
function namesIn(story: string, members: readonly Member[], key: string): string[] {
  const value = memberOf(members, key)?.value;
  if (value === undefined) {
    return [];
  }
  const isList = story[value.start] === '[';
  const names = (isList ? elementsOf(story, value.start) : [value]).map(({ end, start }) =>
    story.slice(start, end),
  );
  return isList ? names : names.filter(name => dependencyId(JSON.parse(name)) !== undefined);
}

/** A list in the style of the one that it replaces; if that is empty or absent, of the story's first one with items. */
function listText(
  story: string,
  members: readonly Member[],
  key: string,
  items: readonly string[],
): string {
  const isModel = ({ value }: Member) =>
    story[value.start] === '[' && elementsOf(story, value.start).length > 0;
  const own = memberOf(members, key);
  const model = own !== undefined && isModel(own) ? own : members.find(isModel);
  const { closing, gap, opening } = styleOf(story, model?.value, commaIn(story, members));
  return `[${opening}${items.join(gap)}${closing}]`;
}

/** What stands before, between and after the items of a list. @param comma between items that share a line */
function styleOf(
  text: string,
  list: Span | undefined,
  comma: string,
): { readonly opening: string; readonly gap: string; readonly closing: string } {
  const elements = list === undefined ? [] : elementsOf(text, list.start);
  const [first, second] = elements;
  if (list === undefined || first === undefined) {
    return { opening: '', gap: comma, closing: '' };
  }
  const opening = text.slice(list.start + 1, first.start);
  const gap =
    second === undefined
      ? opening.includes('\n')
        ? `,${opening}`
        : comma
      : text.slice(first.end, second.start);
  return { opening, gap, closing: text.slice(elements.at(-1)?.end, list.end - 1) };
}

/** A comma as between members of an object on one line: some files have no spaces. */
function commaIn(text: string, [first, second]: readonly Member[]): string {
  const gap =
    first === undefined || second === undefined
      ? '\n'
      : text.slice(first.value.end, second.name.start);
  return gap.includes('\n') ? ', ' : gap;
}

/** A reference with another id. */
function withId(text: string, { end, start }: Span, id: string): string {
  const own = text[start] === '{' ? memberOf(membersOf(text, start), 'id')?.value : { end, start };
  return own === undefined
    ? literal(id)
    : text.slice(start, own.start) + literal(id) + text.slice(own.end, end);
}

function replace({ end, start }: Span, content: string): Edit {
  return { offset: start, length: end - start, content };
}
