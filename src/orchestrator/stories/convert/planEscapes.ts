import { isAlmostCheckbox } from '../formats/markdownBlocks.ts';
import { htmlItem, strayBox } from '../formats/strayBox.ts';

/** A line with its first backslashes. */
const BACKSLASHES = /^([^\\]*)(\\+)(.*)$/s;

/** A line of a text as one that is no heading, checkbox, fence or comment in a plan. */
export function escaped(line: string): string {
  const written = line.trimEnd();
  const [, head = '', backslashes, tail = ''] = BACKSLASHES.exec(written) ?? [];
  // One more, so that those of the text are still there when it is read.
  return backslashes !== undefined && withBackslash(head + tail) === `${head}\\${tail}`
    ? `${head}\\${backslashes}${tail}`
    : withBackslash(written);
}

/** The line that {@link escaped} has written so; any other one as it is. */
export function unescaped(line: string): string {
  const [, head = '', backslashes, tail = ''] = BACKSLASHES.exec(line) ?? [];
  return backslashes !== undefined && withBackslash(head + tail) === `${head}\\${tail}`
    ? `${head}${backslashes.slice(1)}${tail}`
    : line;
}

function withBackslash(line: string): string {
  const text = line
    .replace(/^(\s*)(#{1,6}\s|`{3}|~{3}|<!--|-{3})/, '$1\\$2')
    .replace(/^([\s>]*(?:[-*+]|\d{1,9}[.)])\s+)(?=\[)/, '$1\\')
    .replace(/^((?:[\s>]|[-*+]\s|\d{1,9}[.)]\s){1,999})(?=`{3}|~{3})/, '$1\\');
  // Many tools escape the brackets of what is meant as an item, but none does so with its bullet.
  // Several boxes that stand indented are almost items, too.
  return [text, text.trimStart()].some(one =>
    isAlmostCheckbox({ kind: 'plain', text: one }, true),
  ) ||
    strayBox(text) !== -1 ||
    htmlItem(text) !== -1
    ? line.replace(/^[\s>]*(?:[\p{L}\p{N}]+[\t ]*)?/u, '$&\\')
    : text;
}
