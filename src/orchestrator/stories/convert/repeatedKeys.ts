import { isDeepStrictEqual } from 'node:util';
import { createScanner } from 'jsonc-parser';
import { isCommentKey } from '../formats/jsonText.ts';
import { TextLines } from '../formats/textLines.ts';
import type { ParsedStoryFile } from '../storyFile.ts';

const JSON_FORMATS: ReadonlySet<string> = new Set([
  ...['prd', 'taskMaster', 'tasks', 'beads', 'ralphOrchestrator'],
]);
// Values of `SyntaxKind` in jsonc-parser, a const enum, which isolated modules cannot import.
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COMMA, STRING, END] = [
  ...[1, 2, 3, 4, 5, 10, 17],
];

/** Longer values are compared as they are written: hostile nesting would have each part parsed many times. */
const MAX_PARSED = 1_000;

/** A key of an object, and where it and its value begin and end. */
interface Member {
  readonly key: string;
  readonly start: number;
  /** Behind the key. */
  readonly from: number;
  /** Behind the value. */
  end: number;
}

/**
 * The lines of keys that an object has again below with another value, at any depth: a parser only keeps the last one.
 * Keys that are comments are left out.
 */
export function linesOfRepeatedKeys({ file, text }: ParsedStoryFile): number[] {
  if (!JSON_FORMATS.has(file.format)) {
    return [];
  }
  const lines = new TextLines(text);
  const found = repeatedKeys(text).map(offset => lines.at(offset).line);
  return [...new Set(found)].sort((one, other) => one - other);
}

/** Without recursion, which hostile nesting would overflow. */
function repeatedKeys(text: string): number[] {
  const scanner = createScanner(text, true);
  const found: number[] = [];
  /** What each object around a token has so far; `undefined` for a list. */
  const around: (Member[] | undefined)[] = [];
  let isKeyNext = false;
  const endValue = (end: number) => {
    const member = around.at(-1)?.at(-1);
    if (member !== undefined) {
      member.end = end;
    }
  };
  for (let kind: number = scanner.scan(); kind !== END; kind = scanner.scan()) {
    const start = scanner.getTokenOffset();
    const end = start + scanner.getTokenLength();
    const members = around.at(-1);
    if (kind === OPEN_BRACE || kind === OPEN_BRACKET) {
      around.push(kind === OPEN_BRACE ? [] : undefined);
      isKeyNext = kind === OPEN_BRACE;
    } else if (kind === CLOSE_BRACE || kind === CLOSE_BRACKET) {
      for (const offset of lostIn(text, members ?? [])) {
        found.push(offset);
      }
      around.pop();
      endValue(end);
      isKeyNext = false;
    } else if (kind === COMMA) {
      isKeyNext = members !== undefined;
    } else if (kind === STRING && isKeyNext) {
      members?.push({ key: scanner.getTokenValue(), start, from: end, end });
      isKeyNext = false;
    } else {
      endValue(end);
    }
  }
  return found;
}

/** The offsets of keys whose value is not that of the last one with the same name. */
function lostIn(text: string, members: readonly Member[]): number[] {
  const last = new Map(members.map(member => [member.key, member]));
  return last.size === members.length
    ? []
    : members.flatMap(member => {
        const kept = last.get(member.key) ?? member;
        return isCommentKey(member.key) || kept === member || isSame(text, member, kept)
          ? []
          : [member.start];
      });
}

function isSame(text: string, one: Member, other: Member): boolean {
  // From the colon on.
  const [value = '', kept = ''] = [one, other].map(({ end, from }) => text.slice(from, end));
  const isShort = Math.max(value.length, kept.length) <= MAX_PARSED;
  return value === kept || (isShort && isDeepStrictEqual(valueIn(value), valueIn(kept)));
}

/** In a list of its own; a line that is no JSON is like no other. */
function valueIn(rest: string): unknown {
  try {
    return [JSON.parse(`{"x"${rest}}`)];
  } catch {
    return Symbol(rest);
  }
}
