/** A letter, or a check mark, as some agents write it. */
const DONE_MARKS: ReadonlySet<string> = new Set(['x', 'X', '\u2705', '\u2714', '\u2713', '\u2611']);

/** Whether the mark of a checkbox says that its item is done. */
export function isTicked(mark: string): boolean {
  return DONE_MARKS.has(mark.replace('\uFE0F', ''));
}
