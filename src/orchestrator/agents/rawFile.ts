import { closeSync, writeSync } from 'node:fs';
import { createPlainFileNow } from '../run/plainFile.ts';

/** Takes all that an agent prints, byte for byte. */
export class RawFile {
  /** `undefined` when it is closed; the number may be another file's by then. */
  private fd: number | undefined;

  /**
   * @param file absolute path; its folder must exist
   * @throws {HumanError} when something else than a plain file is there
   */
  constructor(file: string) {
    this.fd = createPlainFileNow(file);
  }

  /**
   * At once, as the journal is written: the system takes it into its memory, which is quicker than another thread is
   * asked to. What comes after the end is left out.
   * @throws the system's error (disk full, …)
   */
  write(data: Buffer): void {
    // A short write (disk full) throws on the next turn, with the system's own reason.
    for (let written = 0; this.fd !== undefined && written < data.length; ) {
      written += writeSync(this.fd, data, written);
    }
  }

  /** Safe to call twice. */
  close(): void {
    const { fd } = this;
    this.fd = undefined;
    if (fd !== undefined) {
      closeSync(fd);
    }
  }
}
