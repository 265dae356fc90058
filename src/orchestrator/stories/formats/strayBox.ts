import { BOX_SYMBOL, hasMark, hasOtherMarks, isLegend } from './stateMarks.ts';
import { withoutSpans } from './withoutSpans.ts';

/** A box, with its bullet if it has one. */
const BOX = new RegExp(
  String.raw`(?<![\p{L}\p{N}\])\\])(?:(?<![*+-])(?<bullet>[-*+\u2022]|\d{1,9}[.)])[\t ]{1,9})?(?:\[(?<mark>[ xX]?)\]\*?|${BOX_SYMBOL})(?=[\t ]|$)`,
  'gu',
);
/** A line that explains marks. */
const KEY = /^\W*(?:legend|key|status key|marks?|symbols?|legende|\u51E1\u4F8B)(?!\p{L})/iu;
/** An open item in HTML: `<li>[ ] text</li>`, `<input type="checkbox"> text`. */
const HTML = new RegExp(
  String.raw`^([\t ]*)(?:<(?:li|ul|ol|p|label|div|span|b|strong)(?:\s[^<>]{0,200})?>[\t ]*){0,9}(?:<input(?=[^<>]{0,200}\stype=["']?checkbox)(?![^<>]{0,200}\schecked)[^<>]{0,200}>|(?<=>[\t ]{0,9})(?:\[ \]|${BOX_SYMBOL}))[\t ]*(?:<[a-z][^<>]{0,200}>[\t ]*){0,9}([^\s<([:*=\u2192\u2013\u2014-].*)$`,
  'isu',
);
/** A text in front of a box that asks for an entry: `Owner: [ ]`. */
const LABEL = /:[*_]{0,3}[\t ]*$/;
const TWO_SYMBOLS = new RegExp(`${BOX_SYMBOL}{2}`, 'u');
/** What may be a box that is one character. */
const SYMBOL = /[\u25A0-\uDFFF]/;
const OWN_BULLET = /[-*+]|\d(?=\d{0,8}[.)])/;
/** How a line begins that may be an item: with a bullet, as a heading or in bold. A backslash makes it a text. */
const LISTED = /^[\t ]*(?:[-*+\u2022]|\d{1,9}[.)]|#{1,6}[\t ]|\*\*)(?![\t ]{0,9}\\)/;
/** What stands before a box that begins something new. */
const SEPARATOR = /(?:[,;|/\u00B7\u3001\u3002\uFF0C\uFF1B][\t ]{0,9}|[\t ]{2}|\t)$/;
const BREAK = /<br ?\/?>[\t ]{0,9}$/i;
/** Before or behind a box, of a text about boxes. */
const ABOUT = new Set([
  ...['about', 'and', 'are', 'as', 'at', 'box', 'boxes', 'by', 'checkbox', 'checkboxes'],
  ...['does', 'e.g.', 'first', 'for', 'from', 'glyph', 'handles', 'i.e.', 'icon', 'icons', 'if'],
  ...['in', 'inside', 'shows'],
  ...['instead', 'into', 'is', 'like', 'matches', 'means', 'no', 'not', 'of', 'on', 'once'],
  ...['or', 'parse', 'pressing', 'rather', 'render', 'says', 'see', 'syntax', 'than', 'that'],
  ...['the', 'then', 'to', 'too', 'type', 'use', 'using', 'via', 'was', 'when', 'with'],
  ...['without', 'write'],
]);
const TEXT = /\p{L}/u;
/** How much is looked at before a box. */
const BEFORE = 20;
const LAST_WORD = /([^\s,;:]{1,19})[\s:]{0,9}$/;
const FIRST_WORD = /^[\t ]{0,9}([^\s,;:]{1,19})/;

interface Box {
  /** With its bullet. */
  readonly start: number;
  readonly isOpen: boolean;
  /** It is one character, and has no brackets. */
  readonly isSymbol: boolean;
  readonly bullet: string | undefined;
  /** The end of what stands before it. */
  readonly before: string;
  /** The same without the bullet of the line. */
  readonly text: string;
  /** Up to the next box. */
  readonly behind: string;
}

/** The item of a line. */
interface Own {
  /** Where its box ends, as an index of the line. */
  readonly end: number;
  readonly isDone: boolean;
}

/**
 * Where a box begins that is not read, on a line with an item or on one that may be an item: `- [ ] one<br>- [ ] two`,
 * `- [x] one, [ ] two`, `- Do it [ ]`. What a text says about boxes is none.
 * @returns an index of the line; -1 if there is none
 */
export function strayBox(line: string, own?: Own): number {
  const from = own?.end ?? 0;
  if (!mayHaveBox(line, from) || (own === undefined && !LISTED.test(line))) {
    return -1;
  }
  const boxes = boxesIn(line, from);
  if (
    boxes.some(isAbout) ||
    hasMarks(line.slice(from), boxes) ||
    (own === undefined && isKey(line))
  ) {
    return -1;
  }
  const isItem = own === undefined ? isItemItself : isNextTo(own, line, boxes);
  return boxes.find(box => isItem(box) || BREAK.test(box.before))?.start ?? -1;
}

/**
 * Where an open item in HTML begins; no choice, and nothing that only explains a mark.
 * @returns an index of the line; -1 if there is none
 */
export function htmlItem(line: string): number {
  const [, indent, rest = ''] = (line.includes('<') && HTML.exec(line)) || [];
  const text = rest.replace(/<[^<>]{0,200}>/g, ' ');
  return indent === undefined || isLegend(text) || hasMark(text) || rest.includes('<input')
    ? -1
    : indent.length;
}

/** Quickly, for thousands of lines without a box. */
function mayHaveBox(line: string, from: number): boolean {
  return line.includes('[', from) || SYMBOL.test(line);
}

/** Whether a line without an item explains marks, or tells of several things: one of its boxes has a mark. */
function isKey(line: string): boolean {
  return KEY.test(line) || /\[[xX~]\]/.test(line);
}

/** Whether boxes are parts of a bar, or stand among other marks of states. */
function hasMarks(text: string, boxes: readonly Box[]): boolean {
  return boxes.some(({ isSymbol }) => isSymbol) && (hasOtherMarks(text) || TWO_SYMBOLS.test(text));
}

/** Whether a box makes its line look like an item: it is open, and a text is behind it, or in front of it at the end. */
function isItemItself({ behind, isOpen, text }: Box): boolean {
  return (
    isOpen && (behind.trim() === '' ? TEXT.test(text) && !LABEL.test(text) : TEXT.test(behind))
  );
}

/** Tells whether a box looks like one more item of a line. */
function isNextTo(own: Own, line: string, boxes: readonly Box[]): (box: Box) => boolean {
  const bullet = OWN_BULLET.exec(line)?.[0];
  const open = boxes.filter(({ isOpen }) => isOpen).length;
  return box =>
    box.bullet === undefined
      ? box.isOpen &&
        TEXT.test(box.behind) &&
        (own.isDone || open > 1 || SEPARATOR.test(box.before))
      : isSameKind(box.bullet, bullet);
}

function boxesIn(line: string, from: number): readonly Box[] {
  const text = ' '.repeat(from) + withoutSpans(line.slice(from));
  // Without a bullet, `[]` is rather an empty list.
  const found = [...text.matchAll(BOX)].filter(
    ({ 0: box, index }) =>
      box !== '[]' || BREAK.test(line.slice(Math.max(0, index - BEFORE), index)),
  );
  const bulletEnd = LISTED.exec(line)?.[0].length ?? 0;
  return found.map(({ 0: box, groups, index }, position) => ({
    start: index,
    isOpen: !/[xX]/.test(groups?.['mark'] ?? ''),
    isSymbol: !box.includes('['),
    bullet: groups?.['bullet'],
    before: line.slice(Math.max(0, index - BEFORE), index),
    text: line.slice(Math.max(bulletEnd, index - BEFORE), index),
    behind: line.slice(index + box.length, found[position + 1]?.index),
  }));
}

function isAbout({ before, behind }: Box): boolean {
  if (BREAK.test(before)) {
    return false;
  }
  const words = [LAST_WORD.exec(before)?.[1], FIRST_WORD.exec(behind)?.[1]];
  return (
    words.some(word => word !== undefined && ABOUT.has(word.toLowerCase())) ||
    isLegend(behind.trim()) ||
    /^[\t ]*[-=:+,;#)\u2192\u2013\u2014]/.test(behind) ||
    /=[\t ]*$/.test(before)
  );
}

function isSameKind(bullet: string, own: string | undefined): boolean {
  return own !== undefined && (/\d/.test(own) ? /\d/.test(bullet) : bullet === own);
}
