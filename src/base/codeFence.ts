/**
 * Tracks code blocks line by line.
 * @param content a line without its prefix: indentation, list marker or quote marker
 * @param open the marker of the block that contains the line
 * @returns the marker of the block that is open after the line (CommonMark 4.5)
 */
export function fenceAfter(content: string, open: string | undefined): string | undefined {
  const [, mark, info = ''] = /^(`{3,}|~{3,})(.*)$/s.exec(content) ?? [];
  if (mark === undefined) {
    return open;
  }
  if (open !== undefined) {
    return mark.startsWith(open) && info.trim() === '' ? undefined : open;
  }
  // More backticks on the line make it inline code.
  return mark.startsWith('`') && info.includes('`') ? undefined : mark;
}
