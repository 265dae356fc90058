import { indentOf, isAlmostCheckbox, type MarkdownLine } from './markdownBlocks.ts';
import { isTickedText, isWordOfGone, isWrapped } from './tasksWithoutBox.ts';

/** A text that is more than a note. */
const WORK = /^(?!\W*(?:note|none|n\/a)\W*(?:[:\u2013\u2014]|$))(?=.*\p{L})/iu;

/** A line without a checkbox in a numbered list that has items. */
export interface NumberedLine {
  /** What an item begins with there, such as `3. [ ]`. */
  readonly item: string;
}

interface Listed extends NumberedLine {
  readonly index: number;
  readonly indent: number;
  /** Of its number, with what stands behind it. */
  readonly width: number;
  readonly value: number;
  /** It is an item, was taken out of the work, or is the heading of the items below it. */
  isTold: boolean;
  readonly isItem: boolean;
}

const NUMBERED = /^[\t ]*((\d{1,9})[.)])[\t ]+(?=\S)/;

/**
 * The lines without a checkbox in numbered lists that have items, by index. Numbers of one list count on, or are all the
 * same; behind an empty line, they count on by one. No heading, and no other text behind an empty line, is in between.
 */
export function numberedLines(lines: readonly MarkdownLine[]): ReadonlyMap<number, NumberedLine> {
  const found = new Map<number, NumberedLine>();
  let list: Listed[] = [];
  const end = () => {
    for (const one of list.some(({ isItem }) => isItem) ? list : []) {
      if (!one.isTold) {
        found.set(one.index, one);
      }
    }
    list = [];
  };
  let isApart = false;
  lines.forEach((line, index) => {
    const own = listedLine(line, index);
    const last = list.at(-1);
    if (own === undefined && last === undefined) {
      return;
    }
    if (line.text.trim() === '' || (line.kind === 'plain' && line.isHidden)) {
      isApart ||= line.text.trim() === '';
      return;
    }
    if (last !== undefined && indentOf(line.text) >= last.indent + last.width) {
      last.isTold ||= line.kind === 'checkbox';
      return;
    }
    // Markdown takes a text directly below a line of a list for a part of it.
    const isText = own === undefined && line.kind === 'plain' && !isApart && isWrapped(line.text);
    if (!isText && !(own !== undefined && last !== undefined && isNext(own, last, isApart))) {
      end();
    }
    if (own !== undefined) {
      list.push(own);
    }
    isApart = false;
  });
  end();
  return found;
}

function listedLine(line: MarkdownLine, index: number): Listed | undefined {
  const [start = '', number = '', digits] = NUMBERED.exec(line.text) ?? [];
  if (digits === undefined) {
    return undefined;
  }
  const text = line.text.slice(start.length);
  const indent = indentOf(line.text);
  const isItem = line.kind === 'checkbox' || isAlmostCheckbox(line, true);
  return {
    ...{ index, indent, isItem, width: number.length, value: Number(digits) },
    item: itemOf(number, text),
    isTold: isItem || isWordOfGone(text) || !WORK.test(text),
  };
}

/**
 * The head of a line that begins with a number, up to its text, and what an item begins with there.
 * @param line with what follows it
 */
export function numberedHead(
  line: string,
): { readonly length: number; readonly item: string } | undefined {
  const [start = '', number] = NUMBERED.exec(line) ?? [];
  return number === undefined
    ? undefined
    : {
        length: start.length,
        item: itemOf(number, /^.*/.exec(line.slice(start.length))?.[0] ?? ''),
      };
}

function itemOf(number: string, text: string): string {
  return `${number} [${isTickedText(text) ? 'x' : ' '}]`;
}

function isNext(own: Listed, { indent, value, width }: Listed, isApart: boolean): boolean {
  const step = own.value - value;
  // Numbers may be aligned to the right.
  return Math.abs(own.indent - indent) < width && step >= 0 && (step <= 1 || !isApart);
}
