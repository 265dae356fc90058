import { storyPrefixIn } from './storyPrefix.ts';

/** Below this many columns, a hanging indent would leave no room for words. */
const MIN_TEXT_COLUMNS = 20;
/** Bullets and signs at the start of a line; continuation lines are aligned with the text after them. */
const LEAD = /^(?:\[Ralph Fresh\] | *(?:[●└-]|\d+\.) +| +)/;

/**
 * Breaks one line of a transcript at words, for a terminal of this width. Continuation lines are aligned with the
 * first one's text, and have its story. A word that is too long for a line is left to the terminal, which keeps wrapped text as one line
 * for links and copying. Pure; the text must not contain control characters or escape sequences.
 * @param columns if it is undefined or very small, nothing is wrapped
 */
export function wrapLine(text: string, columns: number | undefined): readonly string[] {
  if (columns === undefined || columns < MIN_TEXT_COLUMNS || widthOf(text) <= columns) {
    return [text];
  }
  const story = storyPrefixIn(text);
  const bullet = LEAD.exec(text.slice(story.length))?.[0] ?? '';
  const lead = story + bullet;
  const leadWidth = widthOf(lead);
  const indent = columns - leadWidth < MIN_TEXT_COLUMNS ? '' : story + ' '.repeat(widthOf(bullet));
  const lines: string[] = [];
  let line = lead;
  let width = leadWidth;
  let isBegun = false;
  for (const [part] of text.slice(lead.length).matchAll(/\s*\S+/g)) {
    const partWidth = widthOf(part);
    if (isBegun && width + partWidth > columns) {
      lines.push(line);
      const word = part.trimStart();
      line = indent + word;
      width = widthOf(indent) + widthOf(word);
    } else {
      line += part;
      width += partWidth;
    }
    isBegun = true;
  }
  return [...lines, line];
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
