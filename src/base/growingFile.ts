import { LineSplitter } from './lineSplitter.ts';
import { openPlainFile } from './plainFile.ts';

/** Longest line that is kept whole, in UTF-16 units; our own writers stay below. */
export const MAX_LINE = 1_000_000;
const CHUNK_BYTES = 1 << 16;
/** The first line of a journal mostly fits. */
const HEAD_BYTES = 1 << 12;

/** @returns the first whole line of a plain file; `undefined` when there is none, or it is longer than {@link MAX_LINE} */
export async function readFirstLine(file: string): Promise<string | undefined> {
  const handle = await openPlainFile(file);
  if (handle === undefined) {
    return undefined;
  }
  try {
    const splitter = new LineSplitter(MAX_LINE);
    const buffer = Buffer.alloc(HEAD_BYTES);
    for (let position = 0; position < MAX_LINE; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) {
        return undefined;
      }
      for (const line of splitter.push(buffer.subarray(0, bytesRead))) {
        return line.text;
      }
      position += bytesRead;
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

/** Reads the lines of a file that others append to. */
export class GrowingFile {
  private readonly file: string;
  /** Always just behind a line break, so that a torn line which a writer drops was never taken in. */
  private offset: number;

  /** @param offset of what is read first, in bytes; just behind a line break */
  constructor(file: string, offset = 0) {
    this.file = file;
    this.offset = offset;
  }

  /** Of what is read next, in bytes. */
  get position(): number {
    return this.offset;
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
