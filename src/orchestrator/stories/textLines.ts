/** Turns offsets of one text into lines and columns; the table is built once, each look-up is a binary search. */
export class TextLines {
  private readonly starts: readonly number[];

  constructor(text: string) {
    const starts = [0];
    if (text.includes('\r') && /\r(?!\n)/.test(text)) {
      // VS Code ends a line at a lone \r too; so do we, or a problem would point beside its place.
      for (const end of text.matchAll(/\r\n|\n|\r/g)) {
        starts.push(end.index + end[0].length);
      }
    } else {
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
        starts.push(end + 1);
      }
    }
    this.starts = starts;
  }

  /** Line and column of an offset, both 1-based; columns count UTF-16 units, as editors do. */
  public at(offset: number): { readonly line: number; readonly column: number } {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.starts[middle] ?? 0) <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return { line: low + 1, column: offset - (this.starts[low] ?? 0) + 1 };
  }
}
