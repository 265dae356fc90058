import { strayBox } from '../formats/strayBox.ts';

/**
 * A line of text from outside as a line of Markdown: it begins no heading, list, checkbox or code fence, and no comment
 * that hides what follows.
 */
export function inertLine(text: string): string {
  const line = inertText(text);
  return /^(?:[#`~>+*-]|\d{1,9}[.)][\t ]*\[)/.test(line) ? `\\${line}` : line;
}

/** The same for a line of a plan, which also has no checkbox further on. @param before its indentation and bullet */
export function inertPlanLine(before: string, text: string): string {
  let line = before + inertLine(text);
  for (let at = strayBox(line); at !== -1; at = strayBox(line)) {
    const box = /\[|[^\s\d.)*+\u2022-]/u.exec(line.slice(at))?.index ?? 0;
    line = `${line.slice(0, at + box)}\\${line.slice(at + box)}`;
  }
  return line;
}

/** The same for text behind something else on its line. */
export function inertText(text: string): string {
  return text.replaceAll('<!--', '&lt;!--');
}
