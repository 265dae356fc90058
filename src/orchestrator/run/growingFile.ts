import { LineSplitter } from '../lineSplitter.ts';
import { openPlainFile } from './plainFile.ts';

/** Longest line that is kept whole, in UTF-16 units; our own writers stay below. */
export const MAX_LINE = 1_000_000;
const CHUNK_BYTES = 1 << 16;

/** Reads the lines of a file that others append to. */
export class GrowingFile {
  private readonly file: string;
  /** Always just behind a line break, so that a torn line which a writer drops was never taken in. */
  private offset = 0;

  constructor(file: string) {
    this.file = file;
  }

  /** Calls `onLine` for every whole line that was added since the last call. One call at a time. */
  async readNew(onLine: (line: string) => void): Promise<void> {
    const handle = await openPlainFile(this.file);
    if (handle === undefined) {
      return;
    }
    try {
      const splitter = new LineSplitter(MAX_LINE);
      const buffer = Buffer.alloc(CHUNK_BYTES);
      let position = this.offset;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
        if (bytesRead === 0) {
          return;
        }
        const chunk = buffer.subarray(0, bytesRead);
        for (const line of splitter.push(chunk)) {
          onLine(line.text);
        }
        const lineBreak = chunk.lastIndexOf(0x0a);
        if (lineBreak !== -1) {
          this.offset = position + lineBreak + 1;
        }
        position += bytesRead;
      }
    } finally {
      await handle.close();
    }
  }
}
