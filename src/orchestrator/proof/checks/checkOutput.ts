import type { FileHandle } from 'node:fs/promises';
import { createPlainFile } from '../../../base/plainFile.ts';

/** Length of a check's output that is passed on, in UTF-16 units. */
const TAIL = 8_000;
/** Size limit of its file, in bytes; the last {@link TAIL} units are kept in addition. */
const MAX_FILE = 50 * 1024 * 1024;

/**
 * A check's output: its start in a file, its end in memory and, if the file was too small for everything, in the
 * file as well.
 */
export class CheckOutput {
  private readonly file: FileHandle;
  private written = 0;
  private leftOut = 0;
  private last = '';
  private writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.file = file;
  }

  /** Creates the file; replaces an existing one. */
  static async open(file: string): Promise<CheckOutput> {
    return new CheckOutput(await createPlainFile(file));
  }

  /** The end of the output. */
  get tail(): string {
    // The cut must not leave half of a surrogate pair.
    return this.last.slice(-TAIL).replace(/^[\uDC00-\uDFFF]/, '');
  }

  /** Adds text to the tail only. */
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

  /** Closes the file, after appending the tail if the start reached the limit. */
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
