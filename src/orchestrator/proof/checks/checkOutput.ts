import type { FileHandle } from 'node:fs/promises';
import { createPlainFile } from '../../../base/plainFile.ts';

/** So much of a check's output is handed on, in UTF-16 units. */
const TAIL = 8_000;
/** So much of it is kept in its file, in bytes; the last {@link TAIL} units are kept besides. */
const MAX_FILE = 50 * 1024 * 1024;

/** A check's output: its beginning in a file, its end in memory and, when the file was not enough, there too. */
export class CheckOutput {
  private readonly file: FileHandle;
  private written = 0;
  private leftOut = 0;
  private last = '';
  private writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.file = file;
  }

  /** Makes the file, in place of one that is there. */
  static async open(file: string): Promise<CheckOutput> {
    return new CheckOutput(await createPlainFile(file));
  }

  /** The end of what was printed. */
  get tail(): string {
    // Half a character at the cut would be none.
    return this.last.slice(-TAIL).replace(/^[\uDC00-\uDFFF]/, '');
  }

  /** Takes text for the tail alone. */
  add(text: string): void {
    this.last = (this.last + text).slice(-TAIL);
  }

  /** Waits until the bytes are written, so that a check is not faster than the disk. */
  write(bytes: Buffer): Promise<void> {
    const kept = bytes.subarray(0, MAX_FILE - this.written);
    this.written += kept.length;
    this.leftOut += bytes.length - kept.length;
    this.writing = this.writing.then(() => writeAll(this.file, kept));
    return this.writing;
  }

  /** Ends the file, with the tail when the beginning filled it. */
  async close(): Promise<void> {
    try {
      if (this.leftOut > 0) {
        const mark = `\n[… ${this.leftOut} bytes more are not kept; the output ended with:]\n`;
        await writeAll(this.file, Buffer.from(mark + this.tail));
      }
    } finally {
      await this.file.close();
    }
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at)).bytesWritten;
  }
}
