/**
 * A line of text from outside as a line of Markdown: it begins no heading, list, checkbox or code fence, and no comment
 * that hides what follows.
 */
export function inertLine(text: string): string {
  const line = inertText(text);
  return /^(?:[#`~>+*-]|\d{1,9}[.)][\t ]*\[)/.test(line) ? `\\${line}` : line;
}

/** The same for text behind something else on its line. */
export function inertText(text: string): string {
  return text.replaceAll('<!--', '&lt;!--');
}
