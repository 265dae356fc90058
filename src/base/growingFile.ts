import { LineSplitter } from './lineSplitter.ts';
import { openPlainFile } from './plainFile.ts';

/** Longest line that is kept completely, in UTF-16 units; our own writers stay below. */
export const MAX_LINE = 1_000_000;
const CHUNK_BYTES = 1 << 16;
/** In bytes; enough for the first line of most journals. */
const HEAD_BYTES = 1 << 12;

/**
 * @returns the first complete line of a plain file; `undefined` if there is none, or it is longer than {@link
 * MAX_LINE}
 */
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

/**
 * @param bytes to look at, at the end of the file
 * @returns the last complete lines of a plain file; empty if there is none
 */
export async function readLastLines(file: string, bytes: number): Promise<string[]> {
  const handle = await openPlainFile(file);
  if (handle === undefined) {
    return [];
  }
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - bytes);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    // What follows the last line break is not complete yet.
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n').slice(0, -1);
    return start === 0 ? lines : lines.slice(1);
  } finally {
    await handle.close();
  }
}

/** Reads the lines of a file that others append to. */
export class GrowingFile {
  private readonly file: string;
  /** Always directly after a line break, so that a torn line that a writer drops is never consumed. */
  private offset: number;

  /** @param offset where to start reading, in bytes; directly after a line break */
  constructor(file: string, offset = 0) {
    this.file = file;
    this.offset = offset;
  }

  /** Where reading will continue, in bytes. */
  get position(): number {
    return this.offset;
  }

  /** Calls `onLine` for every complete line that was appended since the last call. One call at a time. */
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
