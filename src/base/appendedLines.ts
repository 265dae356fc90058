import { lstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { LineSplitter } from './lineSplitter.ts';
import { openPlainFile } from './plainFile.ts';

/** Bytes that are read at a time. People do not write more, and a flood must not fill the memory. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1 << 16;
/** Lines contain their time, so this much of two files is never equal. */
const COMPARED_BYTES = 256;

/**
 * Reads the lines that anybody appends to a file, in order; each is returned once, however large the file is, and also
 * if the file is truncated or replaced by another one.
 */
export class AppendedLines {
  private readonly file: string;
  private readonly maxLine: number;
  private offset: number;
  /**
   * The last bytes before `offset`, known after the first look. They tell another file from this one; its inode does
   * not, because file systems give the inode of a removed file to the next one.
   */
  private readLast: Buffer | undefined;
  /** Holds the unfinished line. */
  private splitter: LineSplitter;

  /**
   * @param from offset in bytes at which reading starts
   * @param maxLine longest line, in UTF-16 units; a longer one is left out
   */
  constructor(file: string, from: number, maxLine: number) {
    this.file = file;
    this.offset = from;
    this.maxLine = maxLine;
    this.splitter = new LineSplitter(maxLine);
  }

  /**
   * Calls `onLine` for every new complete line. One call at a time; if there is too much to read, the rest follows in
   * the next calls.
   * @returns whether a plain file is there; a new one is read from its start
   */
  async readNew(onLine: (line: string) => void): Promise<'plainFile' | 'absent' | 'otherThing'> {
    const handle = await openPlainFile(this.file);
    if (handle === undefined) {
      if (lstatSync(this.file, { throwIfNoEntry: false })?.isFile() === false) {
        return 'otherThing';
      }
      // A new file may get the same inode. If it was created just now, the next call reads it.
      this.beginAgain();
      return 'absent';
    }
    try {
      const { size } = await handle.stat();
      const before = await this.bytesBefore(handle);
      if (size < this.offset || !before.equals(this.readLast ?? before)) {
        // Another file, or truncated: none of it has been read yet.
        this.beginAgain();
      }
      if (size !== this.offset) {
        await this.read(handle, onLine);
      }
      this.readLast = await this.bytesBefore(handle);
      return 'plainFile';
    } finally {
      await handle.close();
    }
  }

  private beginAgain(): void {
    this.offset = 0;
    this.readLast = undefined;
    this.splitter = new LineSplitter(this.maxLine);
  }

  private async bytesBefore(handle: FileHandle): Promise<Buffer> {
    const bytes = Buffer.alloc(Math.min(this.offset, COMPARED_BYTES));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, this.offset - bytes.length);
    return bytes.subarray(0, bytesRead);
  }

  private async read(handle: FileHandle, onLine: (line: string) => void): Promise<void> {
    const end = this.offset + MAX_READ_BYTES;
    const buffer = Buffer.alloc(CHUNK_BYTES);
    while (this.offset < end) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.offset);
      if (bytesRead === 0) {
        break;
      }
      this.offset += bytesRead;
      for (const { text, dropped } of this.splitter.push(buffer.subarray(0, bytesRead))) {
        if (dropped === 0) {
          onLine(text);
        }
      }
    }
  }
}
