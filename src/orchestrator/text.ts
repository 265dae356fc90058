import { stripVTControlCharacters } from 'node:util';

const ELLIPSIS = '…';

/**
 * Shortens to at most `max` UTF-16 units, at a word where there is one, with a mark. Control characters
 * become spaces: the text may come from anywhere and go to a terminal.
 */
export function shorten(text: string, max: number): string {
  const line = stripVTControlCharacters(text)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return cutAtWord(line, max);
}

/** Like {@link shorten}, but keeps line breaks and tabs. */
export function shortenBlock(text: string, max: number): string {
  return cutAtWord(withoutControls(text).trim(), max);
}

/** Removes terminal escape sequences and control characters, except line breaks and tabs. */
export function withoutControls(text: string): string {
  return stripVTControlCharacters(text.replace(/\r\n?/g, '\n')).replace(/[^\P{Cc}\n\t]/gu, '');
}

function cutAtWord(text: string, max: number): string {
  if (text.length <= max) {
    return text;
  }
  if (max <= ELLIPSIS.length) {
    return ELLIPSIS.slice(0, Math.max(0, max));
  }
  const head = text.slice(0, max - ELLIPSIS.length);
  const space = head.search(/\s\S*$/);
  // A single long word has no better place; half the budget is too much to give up for one.
  const cut = space > max / 2 ? head.slice(0, space) : head.replace(/[\uD800-\uDBFF]$/, '');
  return cut + ELLIPSIS;
}
