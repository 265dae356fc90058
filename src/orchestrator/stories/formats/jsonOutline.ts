/**
 * Finds the positions of the parts of a JSON text. A syntax tree of 5,000 stories is slower than reading may be,
 * and building one recursively overflows the stack on hostile nesting; so this only looks at one level at a time
 * and skips everything below it. Every function expects text that `JSON.parse` has accepted.
 */

/** A range of text, from `start` up to but not including `end`. Offsets in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One `"key": value` of an object; `key` is unescaped. */
export interface Member {
  readonly key: string;
  readonly name: Span;
  readonly value: Span;
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Offset of the first character at or after `offset` that is not JSON white space. */
export function skipSpace(text: string, offset: number): number {
  let at = offset;
  while (isSpace(text.charCodeAt(at))) {
    at++;
  }
  return at;
}

/** The elements of the array that starts at `start`. */
export function elementsOf(text: string, start: number): Span[] {
  const elements: Span[] = [];
  collectElements(text, start, elements);
  return elements;
}

/** The elements of the array under `key` in the object that starts at `start`, in one pass over the text. */
export function elementsOfMember(text: string, start: number, key: string): Span[] {
  let elements: Span[] = [];
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACE) {
    const nameEnd = skipString(text, at);
    const value = skipSpace(text, skipSpace(text, nameEnd) + 1);
    let end: number;
    if (unquote(text.slice(at, nameEnd)) === key) {
      // As in `JSON.parse`, the last one of repeated keys counts.
      elements = [];
      end =
        text.charCodeAt(value) === OPEN_BRACKET
          ? collectElements(text, value, elements)
          : skipValue(text, value);
    } else {
      end = skipValue(text, value);
    }
    at = skipSeparator(text, end);
  }
  return elements;
}

/** Adds the elements of an array; returns the offset after its closing bracket. */
function collectElements(text: string, start: number, elements: Span[]): number {
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = skipValue(text, at);
    elements.push({ start: at, end });
    at = skipSeparator(text, end);
  }
  return at + 1;
}

/** The members of the object that starts at `start`, in the order of the text, repeated keys included. */
export function membersOf(text: string, start: number): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACE) {
    const nameEnd = skipString(text, at);
    const colon = skipSpace(text, nameEnd);
    const valueStart = skipSpace(text, colon + 1);
    const valueEnd = skipValue(text, valueStart);
    members.push({
      key: unquote(text.slice(at, nameEnd)),
      name: { start: at, end: nameEnd },
      value: { start: valueStart, end: valueEnd },
    });
    at = skipSeparator(text, valueEnd);
  }
  return members;
}

/** The number of members of the object that starts at `start`, repeated keys included. */
export function countMembers(text: string, start: number): number {
  let count = 0;
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACE) {
    const colon = skipSpace(text, skipString(text, at));
    at = skipSeparator(text, skipValue(text, skipSpace(text, colon + 1)));
    count++;
  }
  return count;
}

/** The member with a key; as in `JSON.parse`, the last one counts. */
export function memberOf(members: readonly Member[], key: string): Member | undefined {
  return members.findLast(member => member.key === key);
}

function skipSeparator(text: string, offset: number): number {
  const at = skipSpace(text, offset);
  return text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at;
}

function skipValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) {
    return skipString(text, start);
  }
  if (first === OPEN_BRACE || first === OPEN_BRACKET) {
    return skipNested(text, start);
  }
  let at = start;
  while (at < text.length && !isEndOfScalar(text.charCodeAt(at))) {
    at++;
  }
  return at;
}

function skipNested(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    at++;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth++;
    } else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) {
      return at;
    }
  }
  return text.length;
}

function skipString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1 && isEscaped(text, quote)) {
    quote = text.indexOf('"', quote + 1);
  }
  return quote === -1 ? text.length : quote + 1;
}

function isEscaped(text: string, offset: number): boolean {
  let at = offset - 1;
  while (text.charCodeAt(at) === BACKSLASH) {
    at--;
  }
  return (offset - at) % 2 === 0;
}

function unquote(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

function isEndOfScalar(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || isSpace(code);
}
