import { type Message, say } from '../../../base/say.ts';
import type { StoryFormatName } from '../story.ts';

/** Maximum nesting of lists and objects; stories need only a few levels. */
const MAX_DEPTH = 200;

/** A bracket that is nested too deeply. */
export interface TooDeep {
  readonly offset: number;
  readonly message: Message;
}

/**
 * Finds brackets that are nested deeper than {@link MAX_DEPTH}, because parsers are recursive. One pass over the
 * text; Markdown has no nesting that a parser follows, and YAML is looked at by `parseYaml`.
 */
export function findTooDeep(text: string, format: StoryFormatName): TooDeep | undefined {
  switch (format) {
    case 'prd':
    case 'taskMaster':
      return scan(text, { hasStrings: true, endsWithLine: false });
    case 'beads':
    case 'tasks':
    case 'ralphOrchestrator':
      // Each line is a separate value.
      return scan(text, { hasStrings: true, endsWithLine: true });
    default:
      return undefined;
  }
}

/** Like {@link findTooDeep}, for YAML, where a quotation mark may also be part of a word. */
export function findTooDeepYaml(text: string): TooDeep | undefined {
  return scan(text, { hasStrings: false, endsWithLine: false });
}

interface ScanOptions {
  /** Brackets in double quotes are ignored. */
  readonly hasStrings: boolean;
  /** Open brackets are closed by the end of the line. */
  readonly endsWithLine: boolean;
}

const LINE_FEED = 10;
const SPACE = 32;
const QUOTE = 34;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Character by character, skipping strings in one step: a regular expression takes three times as long. */
function scan(text: string, { hasStrings, endsWithLine }: ScanOptions): TooDeep | undefined {
  let depth = 0;
  let lineEnd = -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === SPACE) {
      continue;
    }
    if (code === QUOTE && hasStrings) {
      if (lineEnd < at) {
        lineEnd = indexOrEnd(text, '\n', at);
      }
      // A JSON string cannot span lines: such a string was not closed.
      at = Math.min(stringEnd(text, at), lineEnd - 1);
    } else if (code === BACKSLASH) {
      // Skips the escaped character, unless it is the end of the line.
      at += text.charCodeAt(at + 1) === LINE_FEED ? 0 : 1;
    } else if (code === LINE_FEED) {
      depth = endsWithLine ? 0 : depth;
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth += 1;
      if (depth > MAX_DEPTH) {
        const message = say(
          'This is nested more than {0} levels deep, which no story is. Remove it.',
          MAX_DEPTH,
        );
        return { offset: at, message };
      }
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) {
      depth = Math.max(0, depth - 1);
    }
  }
  return undefined;
}

/** Offset of the quotation mark that closes the string, or the end of the text. */
function stringEnd(text: string, start: number): number {
  for (let end = indexOrEnd(text, '"', start + 1); ; end = indexOrEnd(text, '"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) {
      before--;
    }
    if (end === text.length || (end - before) % 2 === 1) {
      return end;
    }
  }
}

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from);
  return index === -1 ? text.length : index;
}
