/**
 * Follows code blocks line by line.
 * @param content a line without what stands before it: indentation, the mark of a list or of a quote
 * @param open the mark of the block that the line stands in
 * @returns the mark of the block that is open behind the line (CommonMark 4.5)
 */
export function fenceAfter(content: string, open: string | undefined): string | undefined {
  const [, mark, info = ''] = /^(`{3,}|~{3,})(.*)$/.exec(content) ?? [];
  if (mark === undefined) {
    return open;
  }
  if (open !== undefined) {
    return mark.startsWith(open) && info.trim() === '' ? undefined : open;
  }
  // Backticks behind the opening ones make it code within a line.
  return mark.startsWith('`') && info.includes('`') ? undefined : mark;
}
