import type { Edit } from 'jsonc-parser';
import { type Member, memberOf, membersOf, type Span, skipSpace } from '../formats/jsonOutline.ts';

/** A value to write: on one line, lists with a space after each comma. */
export type JsonValue = boolean | number | string | readonly string[];

/** The edits that set keys of the object at `start`: existing values are replaced, missing keys are added. */
export function setMembers(
  text: string,
  start: number,
  values: ReadonlyMap<string, JsonValue>,
): Edit[] {
  const literals = [...values].map(([key, value]) => [key, literal(value)] as const);
  return setLiterals(text, start, new Map(literals));
}

/** {@link setMembers} with values that are JSON already. */
export function setLiterals(
  text: string,
  start: number,
  literals: ReadonlyMap<string, string>,
): Edit[] {
  const members = membersOf(text, start);
  return [...literals].map(([key, content]) => {
    const member = memberOf(members, key);
    return member === undefined
      ? insertion(text, start, members, key, content)
      : { offset: member.value.start, length: member.value.end - member.value.start, content };
  });
}

/** A value as JSON. */
export function literal(value: JsonValue): string {
  return typeof value === 'object'
    ? `[${value.map(item => JSON.stringify(item)).join(', ')}]`
    : JSON.stringify(value);
}

/** The edit that removes one element from an array, or one member from an object, with its comma. */
export function removePart(parts: readonly Span[], index: number): Edit {
  const part = parts[index] ?? { start: 0, end: 0 };
  const next = parts[index + 1];
  const previous = parts[index - 1];
  const [from, to] =
    next !== undefined
      ? [part.start, next.start]
      : [previous === undefined ? part.start : previous.end, part.end];
  return { offset: from, length: to - from, content: '' };
}

/** A whole `"key": value`. */
export function memberSpan({ name, value }: Member): Span {
  return { start: name.start, end: value.end };
}

/** A new last member, with the same spacing as the previous one. */
function insertion(
  text: string,
  start: number,
  members: readonly Member[],
  key: string,
  content: string,
): Edit {
  const last = members.at(-1);
  if (last === undefined) {
    return { offset: start + 1, length: 0, content: `${JSON.stringify(key)}: ${content}` };
  }
  const previous = members.at(-2);
  const separator =
    previous === undefined
      ? `,${text.slice(start + 1, skipSpace(text, start + 1))}`
      : text.slice(previous.value.end, last.name.start);
  const colon = text.slice(last.name.end, last.value.start);
  return {
    offset: last.value.end,
    length: 0,
    content: separator + JSON.stringify(key) + colon + content,
  };
}
