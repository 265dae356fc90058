/** What opens a part of a line in which no item stands: a comment, code, a quotation, brackets. */
const OPENING = /<!--|`+|["(\u201C\u201E\u00AB\u300C]/g;
const CLOSINGS: ReadonlyMap<string, string> = new Map([
  ['<!--', '-->'],
  ['"', '"'],
  ['(', ')'],
  ['\u201C', '\u201D'],
  ['\u201E', '\u201C'],
  ['\u00AB', '\u00BB'],
  ['\u300C', '\u300D'],
]);

/** A line with dots in the place of comments, code, quotations and what is in brackets. What is not closed stays. */
export function withoutSpans(line: string): string {
  let found = '';
  let end = 0;
  // Each is looked for once: a line may have nothing but openings.
  const unclosed = new Set<string>();
  for (const { 0: opening, index } of line.matchAll(OPENING)) {
    const closing = CLOSINGS.get(opening) ?? opening;
    if (index < end || unclosed.has(closing)) {
      continue;
    }
    const from = index + opening.length;
    const at = opening.startsWith('`') ? sameRun(line, opening, from) : line.indexOf(closing, from);
    if (at === -1) {
      unclosed.add(closing);
    } else {
      found += line.slice(end, index);
      end = at + closing.length;
      found += '.'.repeat(end - index);
    }
  }
  return found + line.slice(end);
}

/** Where the next run of as many backticks begins; -1 if there is none. */
function sameRun(line: string, run: string, from: number): number {
  const next = /`+/g;
  next.lastIndex = from;
  for (let match = next.exec(line); match !== null; match = next.exec(line)) {
    if (match[0].length === run.length) {
      return match.index;
    }
  }
  return -1;
}
