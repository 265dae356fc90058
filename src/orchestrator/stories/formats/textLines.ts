/** Turns offsets of one text into lines and columns; the table is built once, each look-up is a binary search. */
export class TextLines {
  /** Where each line begins; the first `count` of them are used. Plain numbers in one block, for speed. */
  private starts = new Uint32Array(1024);
  private count = 1;

  constructor(text: string) {
    if (text.includes('\r') && /\r(?!\n)/.test(text)) {
      // VS Code ends a line at a lone \r too; so do we, or a problem would point beside its place.
      for (const end of text.matchAll(/\r\n|\n|\r/g)) {
        this.add(end.index + end[0].length);
      }
    } else {
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
        this.add(end + 1);
      }
    }
  }

  private add(start: number): void {
    if (this.count === this.starts.length) {
      const longer = new Uint32Array(this.count * 2);
      longer.set(this.starts);
      this.starts = longer;
    }
    this.starts[this.count++] = start;
  }

  /** The offset of a line and column, as {@link at} gives them. */
  public offsetOf({ line, column }: { readonly line: number; readonly column: number }): number {
    return (this.starts[Math.min(line, this.count) - 1] ?? 0) + column - 1;
  }

  /** Line and column of an offset, both 1-based; columns count UTF-16 units, as editors do. */
  public at(offset: number): { readonly line: number; readonly column: number } {
    let low = 0;
    let high = this.count - 1;
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
