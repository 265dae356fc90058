/** A complete line, or the start of one that was longer than the limit. */
export interface SplitLine {
  readonly text: string;
  /** Number of dropped characters beyond the limit. */
  readonly dropped: number;
}

/**
 * Splits a byte stream into lines with bounded memory: of a line longer than the limit only the start is kept, and
 * the rest is counted. Multi-byte characters may be split across chunks.
 */
export class LineSplitter {
  /** The start of a character that continues in the next chunk. */
  private held: Buffer = Buffer.alloc(0);
  private parts: string[] = [];
  private length = 0;
  private dropped = 0;
  private readonly maxLength: number;

  /** @param maxLength longest line to keep, in UTF-16 units */
  constructor(maxLength: number) {
    this.maxLength = maxLength;
  }

  /** @returns the lines completed by this chunk, without their line breaks */
  push(chunk: Uint8Array): SplitLine[] {
    const added = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const bytes = this.held.length === 0 ? added : Buffer.concat([this.held, added]);
    const end = bytes.length - unfinishedBytes(bytes);
    // A copy, because the caller may reuse the chunk.
    this.held = Buffer.from(bytes.subarray(end));
    // Not with a StringDecoder, which takes ten times as long.
    return this.split(bytes.toString('utf8', 0, end));
  }

  /** @returns the unfinished last line, if any; the splitter is empty afterwards */
  end(): SplitLine | undefined {
    this.add(this.held.toString('utf8'));
    this.held = Buffer.alloc(0);
    return this.length + this.dropped > 0 ? this.take() : undefined;
  }

  private split(text: string): SplitLine[] {
    const lines: SplitLine[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.add(text.slice(start, end));
      lines.push(this.take());
      start = end + 1;
    }
    this.add(start === 0 ? text : text.slice(start));
    return lines;
  }

  private add(text: string): void {
    const room = this.maxLength - this.length;
    const kept = text.length > room ? text.slice(0, room) : text;
    if (kept.length > 0) {
      this.parts.push(kept);
      this.length += kept.length;
    }
    this.dropped += text.length - kept.length;
  }

  private take(): SplitLine {
    const joined = this.parts.length === 1 ? (this.parts[0] ?? '') : this.parts.join('');
    const text = this.dropped === 0 && joined.endsWith('\r') ? joined.slice(0, -1) : joined;
    const line = { text, dropped: this.dropped };
    this.parts = [];
    this.length = 0;
    this.dropped = 0;
    return line;
  }
}

/** Number of bytes at the end that are an incomplete UTF-8 character. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0b1100_0000) === 0b1000_0000;
    if (!isContinuation) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      return length > back ? back : 0;
    }
  }
  return 0;
}
