/** Converts offsets of a text to lines and columns; the table is built once, each lookup is a binary search. */
export class TextLines {
  /** The offset of each line; only the first `count` are used. A typed array, for speed. */
  private starts = new Uint32Array(1024);
  private count = 1;

  constructor(text: string) {
    if (text.includes('\r') && /\r(?!\n)/.test(text)) {
      // VS Code also ends a line at a lone \r; otherwise problems would be shown at the wrong position.
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

  /** The offset of a line and column; the inverse of {@link at}. */
  public offsetOf({ line, column }: { readonly line: number; readonly column: number }): number {
    return (this.starts[Math.min(line, this.count) - 1] ?? 0) + column - 1;
  }

  /** Line and column of an offset, both 1-based; columns count UTF-16 units, as in editors. */
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
