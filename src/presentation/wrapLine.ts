import { storyPrefixIn } from './storyPrefix.ts';
import { subagentPrefixIn } from './subagentLines.ts';

/** Below this many columns, a hanging indent would leave no room for words. */
const MIN_TEXT_COLUMNS = 20;
/** Columns of text that a row has at least next to its story, however narrow the terminal is. */
const MIN_PART_COLUMNS = 8;
/** Bullets and signs at the start of a line; continuation lines are aligned with the text after them. */
const LEAD = /^(?:\[Ralph Fresh\] | *(?:[\u25cf\u2514-]|\d+\.) +| +)/;

/**
 * Breaks one line of a transcript at words, for a terminal of this width. Continuation lines are aligned with the
 * first one's text, and name its story and its subagent. A word that is too long for a line is left to the terminal,
 * which keeps wrapped text as one line for links and copying; but next to a story it is broken, since lines of
 * several agents alternate. Pure; the text must not contain control characters or escape sequences.
 * @param columns if it is undefined or very small, nothing is wrapped
 */
export function wrapLine(text: string, columns: number | undefined): readonly string[] {
  if (columns === undefined || columns < MIN_TEXT_COLUMNS || widthOf(text) <= columns) {
    return [text];
  }
  const story = storyPrefixIn(text);
  const whose = story + subagentPrefixIn(text.slice(story.length));
  const bullet = LEAD.exec(text.slice(whose.length))?.[0] ?? '';
  const lead = whose + bullet;
  const leadWidth = widthOf(lead);
  const indent =
    columns - leadWidth < MIN_TEXT_COLUMNS ? whose : whose + ' '.repeat(widthOf(bullet));
  const indentWidth = widthOf(indent);
  const lines: string[] = [];
  let line = lead;
  let width = leadWidth;
  let isBegun = false;
  const next = (word: string, wordWidth: number) => {
    lines.push(line);
    line = indent + word;
    width = indentWidth + wordWidth;
  };
  for (const [part] of text.slice(lead.length).matchAll(/\s*\S+/g)) {
    const partWidth = widthOf(part);
    if (!isBegun || width + partWidth <= columns) {
      line += part;
      width += partWidth;
    } else {
      const word = part.trimStart();
      next(word, widthOf(word));
    }
    isBegun = true;
    if (whose !== '' && width > columns) {
      const room = Math.max(MIN_PART_COLUMNS, columns - indentWidth);
      const pieces = piecesOf(line.slice(lines.length === 0 ? lead.length : indent.length), room);
      line =
        line.slice(0, lines.length === 0 ? lead.length : indent.length) + (pieces.shift() ?? '');
      for (const piece of pieces) {
        next(piece, widthOf(piece));
      }
    }
  }
  return [...lines, line];
}

/** Breaks a text, wherever that is. */
function piecesOf(text: string, columns: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const character of text) {
    const own = widthOf(character);
    if (width + own > columns && piece !== '') {
      pieces.push(piece);
      piece = '';
      width = 0;
    }
    piece += character;
    width += own;
  }
  return [...pieces, piece];
}

/** Number of columns of a text: two for East Asian wide letters and emoji, none for combining marks. */
export function widthOf(text: string): number {
  // Fast path: most lines are ASCII.
  if (/^[\x20-\x7e]*$/.test(text)) {
    return text.length;
  }
  let width = 0;
  for (const character of text) {
    width += /^[\p{Mn}\p{Me}\p{Cf}]$/u.test(character) ? 0 : isWide(character) ? 2 : 1;
  }
  return width;
}

function isWide(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return (
    code >= 0x1100 &&
    (code <= 0x115f ||
      (code >= 0x2e80 && code <= 0xa4cf && code !== 0x303f) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) ||
      (code >= 0xffe0 && code <= 0xffe6) ||
      (code >= 0x20000 && code <= 0x3fffd) ||
      /^\p{Emoji_Presentation}$/u.test(character))
  );
}
