import { fenceAfter } from '../../../base/codeFence.ts';
import { DONE_WORDS, hasMark, isLegend, MARK, OPEN_WORDS, OTHER_BOX } from './stateMarks.ts';

/**
 * The few Markdown blocks that matter for a plan: headings, checkboxes and the text between them. Fences and
 * comments end at their marks, whatever the indentation, because agents indent them arbitrarily.
 */

/** A line of text outside code fences, comments and front matter, or inside one of these (`plain`). */
export type MarkdownLine = Readonly<{ offset: number; line: number; text: string }> &
  (
    | { readonly kind: 'heading'; readonly level: number; readonly title: string }
    | { readonly kind: 'checkbox'; readonly checkbox: Checkbox }
    | {
        readonly kind: 'plain';
        readonly isHidden: boolean;
        /** Where the text begins behind a comment that ends on this line; as an index of its text. */
        readonly visibleFrom?: number | undefined;
      }
  );

/**
 * Whether a line looks like a checkbox, but is not written as one.
 * @param hasCheckboxes whether others in the file are; then a ticked line without a bullet is the output of a check
 */
export function isAlmostCheckbox(
  { kind, text }: Pick<MarkdownLine, 'kind' | 'text'>,
  hasCheckboxes: boolean,
): boolean {
  if (kind === 'checkbox') {
    return false;
  }
  const round = ROUND.exec(text)?.[1];
  if (round !== undefined) {
    return hasCheckboxes && !isLegend(round);
  }
  const [head = ''] = HEAD.exec(text) ?? [];
  if (head === text) {
    return false;
  }
  const usual = withUsualHead(text, head);
  return (
    (usual !== text && CHECKBOX.test(usual)) ||
    ALMOST.test(usual) ||
    [
      ...[ODD, ODD_MARK, STRAY, BARE, LABELED, WORD_LABELED, COLON, QUOTED],
      hasCheckboxes ? WORDED : BARE_TICKED,
    ].some(spelling => {
      const rest = spelling.exec(usual)?.[1];
      return rest !== undefined && !isLegend(rest) && !(spelling === WORD_LABELED && hasMark(rest));
    })
  );
}

/** Whether the text behind a comment is a checkbox, or almost one: Markdown takes the whole line for the comment. */
export function isBehindComment(line: MarkdownLine): boolean {
  const text = line.kind === 'plain' ? line.text.slice(line.visibleFrom ?? line.text.length) : '';
  return text !== '' && (CHECKBOX.test(text) || isAlmostCheckbox({ kind: 'plain', text }, true));
}

/**
 * A line as Markdown would read it as a checkbox, up to the closing bracket: with its own white space and brackets in place
 * of others, without characters that are not seen, with a shorter number, and one kind of other bullets and boxes.
 */
function withUsualHead(text: string, head: string): string {
  const usual = head
    .replace(OTHER_SPACE, ' ')
    .replace(/\p{Cf}/gu, '')
    .replaceAll('\uFF3B', '[')
    .replace(WIDE_BULLET, '\u2022 ')
    .replace(WIDE_NUMBER, '1. ')
    .replace(OTHER_BULLET, '\u2022')
    .replace(LONG_NUMBER, '1');
  const rest = text.slice(head.length).replace(/^\uFF3D/, ']');
  const [box] = OTHER_BOX.exec(rest) ?? [];
  return (
    usual + (box === undefined || isMarkOfMany(box, rest) ? rest : rest.replace(box, '\u2610'))
  );
}

/** Whether a box is a part of a bar, or of what explains several marks. @param text that begins with it */
function isMarkOfMany(box: string, text: string): boolean {
  const behind = text.slice(box.length);
  return (
    !/^\s+(?!\s)[^\p{L}]{0,9}\p{L}/u.test(behind) ||
    [...behind.matchAll(MARK)].some(([mark]) => !box.startsWith(mark))
  );
}

/**
 * Whether a line is a checkbox without a text, and the one below is its text: no list, table, quotation or rule. It may
 * stand at the margin; below an empty line only if it is indented.
 */
export function isTextBelow(line: MarkdownLine, below: readonly MarkdownLine[]): boolean {
  const [next, afterNext] = below;
  const isApart = next?.kind === 'plain' && next.text.trim() === '';
  const text = isApart ? afterNext : next;
  return (
    [line, text].every(one => one?.kind === 'plain' && !one.isHidden) &&
    EMPTY.test(line.text) &&
    text !== undefined &&
    (!isApart || indentOf(text.text) > indentOf(line.text)) &&
    BELOW.test(text.text) &&
    /[\p{L}\p{N}]/u.test(text.text) &&
    !isAlmostCheckbox(text, true)
  );
}

/** Whether a line is a bullet and nothing else, and a checkbox without one stands below it, indented deeper. */
export function isBoxBelow(line: MarkdownLine, next: MarkdownLine | undefined): boolean {
  return (
    [line, next].every(one => one?.kind === 'plain' && !one.isHidden) &&
    next !== undefined &&
    BULLET.test(line.text) &&
    BOX.test(next.text) &&
    indentOf(next.text) > indentOf(line.text)
  );
}

/** A task list item. Offsets in UTF-16 units. */
export interface Checkbox {
  /** The character between the brackets. */
  readonly mark: string;
  /** Offset of the mark in the file's text. */
  readonly markOffset: number;
  /** The rest of the line, trimmed. */
  readonly text: string;
  /** Width before the list marker; a tab counts as four columns. */
  readonly indent: number;
}

/** A fence or comment with checkboxes, which it hides; if it is not closed, also without. */
export interface HidingBlock {
  readonly kind: 'fence' | 'comment';
  readonly offset: number;
  /** Number of checkboxes after it. */
  readonly checkboxes: number;
}

// A checkbox needs a text: templates have empty ones. A letter between the brackets is a legend, as in "[P]", and
// text directly after the closing bracket makes it a link. Kiro marks optional tasks with an asterisk there.
// U+FE0F after a mark asks for its picture. The flag s is for U+2028, which text processors leave and which ends no
// line in Markdown.
const CHECKBOX =
  /^([\t ]*(?:[-*+]|\d{1,9}[.)])[\t ]+\[)([xX]|[^\p{L}\p{N}[\]()^]\uFE0F?)\]\*?[\t ]+(\S.*)$/su;
/** Written almost like a checkbox: `- [] text`, `- [ ]text`, `-[ ] text`, `- [x ] text`, `### [ ] text`. Not a link. */
const ALMOST =
  /^[\t ]*(?:[-*+]|\d{1,9}[.)]|#{1,6})[\t ]*\[[\t ]*(?:[xX~!/][\t ]*)?\]\*?[\t ]*(?:[^\s([:*]|\*\*\S)/u;
/** With a mark that is written twice, or a check mark that does not stand alone: `- [xx] text`, `- [✅ ] text`. */
const ODD_MARK =
  /^[\t ]*(?:[-*+]|\d{1,9}[.)])[\t ]+\[[\t ]*(?:xx|XX|[\u2611\u2705\u2713\u2714]\uFE0F?)[\t ]*\]\*?[\t ]*([^\s([:*=\u2192\u2013\u2014-].*)$/su;
/** An open item in a quotation: `> - [ ] text`, `> [ ] text`. With a tick it may be the output of a check. */
const QUOTED =
  /^[\t ]*(?:>[\t ]*){1,99}(?:(?:[-*+]|\d{1,9}[.)])[\t ]+)?\[ \]\*?[\t ]+([^\s([:*=\u2192\u2013\u2014-].*)$/su;
/** With something in front of the bullet that was probably typed by mistake: `b- [ ] text`. */
const STRAY =
  /^[\t ]*[\p{L}\p{N}.,;]{1,2}-[\t ]+\[[\t ]*(?:[xX][\t ]*)?\]\*?[\t ]+([^\s([:*=\u2192\u2013\u2014-].*)$/su;
/**
 * With another bullet or several, with a box, or with marks around the brackets: `- - [ ] text`, `a. [ ] text`, `• [ ] text`,
 * `- ☐ text`, `- \[ \] text`, `- **[ ]** text`; and with a space that is none in Markdown, as in `- [ ]\u00A0text`.
 */
const ODD =
  /^[\t ]*(?:(?:[-*+\u2022\u2023\u25E6\u25AA\u2013\u2014]|\d{1,9}[.)]|[A-Za-z][.)])[\t ]+){1,99}(?:[\u2610\u2611]|(?:\*{1,2}|_{1,2})?\\?\[[\t ]*(?:[xX~!/][\t ]*)?\\?\](?:\*{1,3}|_{1,2})?)\s+([^\s:=\u2192\u2013\u2014-].*)$/su;
/** With a number or an id before the brackets: `(1) [ ] text`, `1: [ ] text`, `- T001 [ ] text`. */
const LABELED =
  /^[\t ]*(?:[-*+][\t ]+)?(?:\((?:\d{1,4}|[A-Za-z])\)|\d{1,4}:|(?:\*\*|`)?(?:[A-Z]{1,5}-?\d{1,5}|\d{1,4}(?:\.\d{1,4}){1,4})[.:)]?(?:\*\*|`)?[.:)]?)[\t ]+(?:\[ ?\]\*?|\u2610)[\t ]+([^\s([:*=\u2192\u2013\u2014-].*)$/su;
/** With a word and a number before one box: `Task 3: [ ] text`. */
const WORD_LABELED =
  /^(?:task|step|story|feature|issue|ticket|item|phase|aufgabe|schritt|\u30BF\u30B9\u30AF|\u30B9\u30C6\u30C3\u30D7)[\t ]?\d{1,4}(?:[:.\uFF1A]|[\t ][-\u2013\u2014])?[\t ]+(?:\[ ?\]\*?|\u2610)[\t ]+([^\s([:*=\u2192\u2013\u2014-].*)$/isu;
/** With a colon behind the brackets: `- [ ]: text`. */
const COLON =
  /^[\t ]*(?:[-*+]|\d{1,9}[.)])[\t ]+\[ ?\]:[\t ]+((?![a-z]{1,9}:\/\/)(?:\*\*)?[^\s([:*=\u2192\u2013\u2014-].*)$/su;
/** At the margin, with a word for the mark: `- [TODO] text`. Further in, it is a note to an item. */
const WORDED = new RegExp(
  String.raw`^(?:[-*+]|\d{1,9}[.)])[\t ]+\[ ?(?:${DONE_WORDS}|${OPEN_WORDS}) ?\][\t ]+([^\s([:*=\u2192\u2013\u2014-].*)$`,
  'isu',
);
/** Up to the brackets or the box. */
const HEAD = /^[^\]\uFF3D\u2610\u2611\u25A1\u25A2\u25FB\u25FD\u274F-\u2752\u2B1C\u{1F532}]*/u;
/** Bullets of text processors, and those that are as wide as a Chinese or Japanese character; as in a class. */
export const OTHER_BULLETS = String.raw`\u00B7\u00BB\u2043\u2192\u2212\u2219\u25A0\u25B6\u25B8\u25BA\u25C6\u25CB\u25CF\u27A4\u30FB\uFF0A\uFF0B\uFF0D`;
const OTHER_BULLET = new RegExp(String.raw`(?<![^\t ])[${OTHER_BULLETS}](?=[\t ])`, 'gu');
/** Chinese and Japanese numbers and what stands behind them. */
const WIDE_NUMBER =
  /(?<=^[\t ]*)(?:\d{1,4}[\u3001\uFF0E\uFF09]|[\uFF10-\uFF19]{1,4}[.)\u3001\uFF0E\uFF09])[\t ]*(?=\[)/gu;
/** Japanese bullets need no space behind them. */
const WIDE_BULLET = /(?<=^[\t ]*)[\u30FB\uFF0A](?=\[)/gu;
/** With round brackets. */
const ROUND = /^[-*+][\t ]+\([\t ]\)[\t ]+([^\s([:*=\u2192\u2013\u2014-].*)$/su;
const BULLET = /^[\t ]*(?:[-*+]|\d{1,9}[.)])[\t ]*$/;
const BOX = /^[\t ]+\[[ xX]\]\*?[\t ]+[^\s([:*=\u2192\u2013\u2014-]/;
/** White space that is none in Markdown. */
const OTHER_SPACE = /[\v\f\u0085]|(?! )\p{Z}/gu;
/** Of an item; Markdown takes nine digits at most. */
const LONG_NUMBER = /(?<!\d)\d{10,}(?=[.)])/g;
/** Without its text, which may be on the next line. */
const EMPTY = /^[\t ]*(?:[-*+]|\d{1,9}[.)])[\t ]+\[[ xX]\][\t ]*$/;
const BELOW =
  /^\s*(?!(?:[-*+\u2022\u2023\u25E6\u25AA\u2013\u2014]|\d{1,9}[.)])[\t ])(?!\[[ xX]?\]|#{1,6}\s|\{\{)[^\s<>|=\u2610\u2611](?:`[^`]*`|[^|`]|`(?![^`]*`))*$/u;
/** Without a bullet: `[ ] text`. */
const BARE = /^(?:\[ {0,3}\]\*?|\u2610)\s+([^\s:=\u2192\u2013\u2014-].*)$/su;
const BARE_TICKED = /^(?:\[[xX]\]\*?|\u2611)\s+([^\s:=\u2192\u2013\u2014-].*)$/su;
const HEADING = /^ {0,3}(#{1,6})[\t ]+(.*)$/s;
const FRONT_MATTER_END = /^(?:---|\.\.\.)[\t ]*$/;
/** The end of a comment, and further ones behind it. */
const COMMENTS_END = /^.*?-->(?:\s*<!--.*?-->)*\s*/s;
/** What may precede an opening or closing fence. Bounded, as all repeated groups here: a line may be very long. */
const BEFORE_FENCE = /^(?:[\t >]|[-*+][\t ]|\d{1,9}[.)][\t ]){0,999}/;
const BEFORE_CLOSING = /^[\t >]*/;

interface OpenBlock {
  readonly kind: 'fence' | 'comment' | 'frontMatter';
  /** The opening marks. */
  readonly marks: string;
  readonly offset: number;
  checkboxes: number;
}

/** Parses the lines of a Markdown text. Pure; never throws. */
export function readMarkdown(text: string): {
  readonly lines: readonly MarkdownLine[];
  /** Those that are closed, and hide checkboxes. */
  readonly hiding: readonly HidingBlock[];
  readonly unclosed?: HidingBlock;
} {
  const lines: MarkdownLine[] = [];
  const hiding: HidingBlock[] = [];
  let block: OpenBlock | undefined;
  for (const [offset, content] of linesOf(text)) {
    const place = { offset, line: lines.length + 1, text: content };
    if (block !== undefined) {
      lines.push({ ...place, ...hiddenIn(block, content) });
      if (CHECKBOX.test(content)) {
        block.checkboxes++;
      }
      if (isClosing(content, block)) {
        if (block.checkboxes > 0 && block.kind !== 'frontMatter') {
          hiding.push({ ...block, kind: block.kind });
        }
        block = undefined;
      }
      continue;
    }
    block = openedBy(content, offset, text);
    lines.push(
      block === undefined
        ? { ...place, ...visible(content, offset) }
        : { ...place, ...hiddenIn(block, content) },
    );
    if (block?.kind === 'comment' && content.includes('-->')) {
      block = undefined;
    }
  }
  return block === undefined || block.kind === 'frontMatter'
    ? { lines, hiding }
    : { lines, hiding, unclosed: { ...block, kind: block.kind } };
}

function visible(content: string, offset: number) {
  const checkbox = CHECKBOX.exec(content);
  if (checkbox !== null) {
    const [, before = '', mark = '', rest = ''] = checkbox;
    return {
      kind: 'checkbox' as const,
      checkbox: {
        mark,
        markOffset: offset + before.length,
        text: rest.trim(),
        indent: indentOf(content),
      },
    };
  }
  const heading = HEADING.exec(content);
  if (heading !== null) {
    const [, marks = '', rest = ''] = heading;
    const title = rest.replace(/(^|[\t ])#+[\t ]*$/, '').trim();
    return { kind: 'heading' as const, level: marks.length, title };
  }
  return { kind: 'plain' as const, isHidden: false };
}

function hiddenIn({ kind }: OpenBlock, content: string) {
  const [comments] = (kind === 'comment' && COMMENTS_END.exec(content)) || [];
  return { kind: 'plain' as const, isHidden: true, visibleFrom: comments?.length };
}

function openedBy(content: string, offset: number, text: string): OpenBlock | undefined {
  if (offset === 0 && /^---[\t ]*$/.test(content)) {
    return hasFrontMatter(text)
      ? { kind: 'frontMatter', marks: '---', offset, checkboxes: 0 }
      : undefined;
  }
  if (content.trimStart().startsWith('<!--')) {
    return { kind: 'comment', marks: '<!--', offset, checkboxes: 0 };
  }
  const marks = fenceAfter(content.replace(BEFORE_FENCE, ''), undefined);
  return marks === undefined ? undefined : { kind: 'fence', marks, offset, checkboxes: 0 };
}

/**
 * Whether a text that begins with a line of dashes has front matter. Otherwise it is a thematic break: without an end,
 * above an empty line or anything but keys and comments of YAML, and above items at the margin.
 */
function hasFrontMatter(text: string): boolean {
  let count = 0;
  for (const [, line] of linesOf(text)) {
    if (count > 0 && FRONT_MATTER_END.test(line)) {
      return true;
    }
    const isFirst = count === 1 && !/^(?:#|[^\s:#-][^:]*:(?:\s|$))/.test(line);
    if (isFirst || (/^\S/.test(line) && CHECKBOX.test(line))) {
      return false;
    }
    count++;
  }
  return false;
}

function isClosing(content: string, { kind, marks }: OpenBlock): boolean {
  switch (kind) {
    case 'comment':
      return content.includes('-->');
    case 'frontMatter':
      return FRONT_MATTER_END.test(content);
    default:
      return fenceAfter(content.replace(BEFORE_CLOSING, ''), marks) === undefined;
  }
}

/** The smallest indentation of checkboxes. There may be too many of them for the arguments of one call. */
export function outermost(boxes: readonly { readonly checkbox: Checkbox }[]): number {
  return boxes.reduce(
    (least, { checkbox }) => Math.min(least, checkbox.indent),
    Number.POSITIVE_INFINITY,
  );
}

/** Where the text of a line begins, behind its white space. */
export function startOf(line: string): number {
  return /^[\t ]*/.exec(line)?.[0].length ?? 0;
}

/** Width of the white space at the start of a line; a tab counts as four columns. */
export function indentOf(line: string): number {
  let width = 0;
  for (let at = 0; ; at++) {
    const char = line[at];
    if (char !== ' ' && char !== '\t') {
      return width;
    }
    width += char === '\t' ? 4 : 1;
  }
}

function* linesOf(text: string): Generator<readonly [offset: number, content: string]> {
  let start = 0;
  for (const end of text.matchAll(/\r\n|\n|\r/g)) {
    yield [start, text.slice(start, end.index)];
    start = end.index + end[0].length;
  }
  yield [start, text.slice(start)];
}
