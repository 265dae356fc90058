import type { Edit } from 'jsonc-parser';
import { type Message, say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { findJsonError } from './jsonError.ts';
import type { Span } from './jsonOutline.ts';
import { type Entry, isEntry } from './prdEntry.ts';
import type { TextLines } from './textLines.ts';

/** One object of a file with a JSON object per line. */
export interface JsonLine extends Span {
  readonly entry: Entry;
}

/**
 * Reads a text with one JSON object per line; empty lines are skipped.
 *
 * @param otherValue what to do about a line with another value, such as a list
 * @param isIgnored for values that are no objects
 * @returns the objects without surrounding white space, or the first problem
 */
export function readJsonLines(
  text: string,
  lines: TextLines,
  otherValue: Message,
  isIgnored: (value: unknown) => boolean = () => false,
): JsonLine[] | StoryProblem {
  const found: JsonLine[] = [];
  for (const span of lineSpans(text)) {
    const entry = parseLine(text.slice(span.start, span.end));
    if (isEntry(entry)) {
      found.push({ entry, ...span });
    } else if (!isIgnored(entry)) {
      return lineProblem(text, span, lines, otherValue);
    }
  }
  return found;
}

/** The texts of the lines that are not empty, without surrounding white space. */
export function lineSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (let offset = 0; offset < text.length; ) {
    const newline = text.indexOf('\n', offset);
    const lineEnd = newline === -1 ? text.length : newline;
    // Not beyond this line: there may be thousands of empty ones.
    let start = offset;
    while (start < lineEnd && isSpace(text.charAt(start))) {
      start++;
    }
    if (start < lineEnd) {
      let end = lineEnd;
      while (isSpace(text.charAt(end - 1))) {
        end--;
      }
      spans.push({ start, end });
    }
    offset = lineEnd + 1;
  }
  return spans;
}

function isSpace(char: string): boolean {
  return ' \t\r'.includes(char);
}

/** The edit that adds a line at the end of a text. */
export function appendLine(text: string, line: string): Edit {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const isEnded = text === '' || text.endsWith('\n');
  return {
    offset: text.length,
    length: 0,
    content: isEnded ? `${line}${eol}` : `${eol}${line}`,
  };
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function lineProblem(
  text: string,
  { start, end }: Span,
  lines: TextLines,
  otherValue: Message,
): StoryProblem {
  // The text is one line of the file; the message includes its number.
  const error = findJsonError(text.slice(start, end), { at: () => lines.at(start) });
  return {
    code: 'invalidJson',
    message: say('Each line must be one JSON object. {0}', error?.message ?? otherValue),
    ...lines.at(start + (error?.offset ?? 0)),
  };
}
