/** A part of a line that may be a link; the caller checks whether its target exists. */
export type LinkCandidate = { readonly start: number; readonly length: number } & (
  | {
      readonly kind: 'file';
      /** As written, possibly relative. */
      readonly path: string;
      /** From 1. */
      readonly line?: number;
      readonly column?: number;
    }
  | { readonly kind: 'commit'; readonly hash: string }
  | { readonly kind: 'transcript'; readonly iteration: number }
  | { readonly kind: 'tool'; readonly tool: string }
);

/** A longer line is output that nobody reads for its links. */
const MAX_LINE = 4_000;
/** Limited, since each file is looked up on disk. */
const MAX_LINKS = 20;

/** Characters of a path: no white space, and no brackets or quotes, which surround a path. */
const FILE =
  /(?<path>(?:[A-Za-z]:[\\/]|~?[\\/]|\.{1,2}[\\/])?[\w.@+~%=-]+(?:[\\/][\w.@+~%=-]+)*)(?::(?<line>\d{1,7})(?::(?<column>\d{1,5}))?)?/g;
const COMMIT = /(?<![\w./-])[0-9a-f]{7,40}(?![\w./-])/g;

/**
 * Finds possible links in a line of the terminal. Pure; the line may contain anything.
 * @param transcript matches the text for an iteration's transcript, with the number as the first group
 * @param offer matches the offer to allow a tool, with its name as the first group
 */
export function linkCandidates(line: string, transcript: RegExp, offer: RegExp): LinkCandidate[] {
  if (line.length > MAX_LINE) {
    return [];
  }
  const found: LinkCandidate[] = [];
  for (const { 0: text, 1: number, index } of line.matchAll(transcript)) {
    found.push({
      ...{ kind: 'transcript', start: index, length: text.length, iteration: Number(number) },
    });
  }
  for (const { 0: text, 1: tool = '', index } of line.matchAll(offer)) {
    found.push({ kind: 'tool', start: index, length: text.length, tool });
  }
  for (const { 0: hash, index } of line.matchAll(COMMIT)) {
    found.push({ kind: 'commit', start: index, length: hash.length, hash });
  }
  for (const match of line.matchAll(FILE)) {
    const { path = '', line: lineNumber, column } = match.groups ?? {};
    // A sentence ends with a dot, and a single word is not a path.
    const name = lineNumber === undefined ? path.replace(/\.+$/, '') : path;
    if (/[\\/]|\.\w/.test(name)) {
      found.push({
        kind: 'file',
        start: match.index,
        length: lineNumber === undefined ? name.length : match[0].length,
        path: name,
        line: lineNumber !== undefined ? Number(lineNumber) : undefined,
        column: column !== undefined ? Number(column) : undefined,
      });
    }
  }
  return found.slice(0, MAX_LINKS);
}
