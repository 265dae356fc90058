import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { Emitter } from '../emitter.ts';
import { parseRunEvent, type RunEvent, type RunEventBody } from './events.ts';
import { GrowingFile } from './growingFile.ts';
import { PLAIN } from './plainFile.ts';

const READ_CHUNK_BYTES = 1 << 16;

/**
 * Appends to a run's journal. There is one writer at a time: the loop that holds the run lock, or a
 * person's tick while no loop runs, which takes the same lock. Writes are synchronous, so that the order
 * on disk is the order of events and nothing waits in memory when the process is killed.
 */
export class JournalWriter {
  private readonly fd: number;
  private seq: number;
  /** Bytes of whole lines; there is no other writer. */
  private size: number;
  private readonly appendEmitter = new Emitter<RunEvent>();
  readonly onDidAppend = this.appendEmitter.event;

  private constructor(fd: number, seq: number) {
    this.fd = fd;
    this.seq = seq;
    this.size = fstatSync(fd).size;
  }

  /**
   * Opens or creates the journal and goes on after its last whole line; a torn last line is dropped.
   * @throws the system's error when the file cannot be opened or written
   */
  static async open(file: string): Promise<JournalWriter> {
    mkdirSync(path.dirname(file), { recursive: true });
    const fd = openSync(
      file,
      constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | PLAIN,
      0o644,
    );
    try {
      dropTornLine(fd);
      return new JournalWriter(fd, await lastSeq(file));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** @throws the system's error (disk full, …); the event is then not in the journal as a whole line */
  append(body: RunEventBody): RunEvent {
    const event = { seq: this.seq + 1, at: new Date().toISOString(), ...body } as RunEvent;
    const line = Buffer.from(`${JSON.stringify(event)}\n`);
    // A short write (disk full) throws on the next turn of this loop, with the system's own reason.
    try {
      for (let written = 0; written < line.length; ) {
        written += writeSync(this.fd, line, written);
      }
    } catch (error) {
      // The part of it that was written must not spoil the next event, which may be the run's end.
      ftruncateSync(this.fd, this.size);
      throw error;
    }
    this.size += line.length;
    this.seq += 1;
    this.appendEmitter.fire(event);
    return event;
  }

  /** Makes what was appended survive a power cut; called at the borders of iterations. */
  sync(): void {
    fsyncSync(this.fd);
  }

  close(): void {
    closeSync(this.fd);
    this.appendEmitter.dispose();
  }
}

/**
 * Reads a whole journal.
 * @returns the events this version knows, in file order; an absent file is an empty journal
 */
export async function readJournal(file: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  await new JournalReader(file).readNew(event => events.push(event));
  return events;
}

/** Reads a journal that may still grow: each call continues where the last one ended. */
export class JournalReader {
  private readonly lines: GrowingFile;

  constructor(file: string) {
    this.lines = new GrowingFile(file);
  }

  /** Calls `onEvent` for every event that was added since the last call. One call at a time. */
  async readNew(onEvent: (event: RunEvent) => void): Promise<void> {
    await this.lines.readNew(line => {
      const event = parseRunEvent(line);
      if (event) {
        onEvent(event);
      }
    });
  }
}

/** The highest number in use, also of events that only a newer version knows. */
async function lastSeq(file: string): Promise<number> {
  let last = 0;
  await new GrowingFile(file).readNew(line => {
    const seq = seqOf(line);
    if (Number.isSafeInteger(seq)) {
      last = Math.max(last, seq);
    }
  });
  return last;
}

function seqOf(line: string): number {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'seq' in value
      ? Number(value.seq)
      : Number.NaN;
  } catch {
    // Foreign; it has no number that could be used twice.
    return Number.NaN;
  }
}

function dropTornLine(fd: number): void {
  const size = fstatSync(fd).size;
  const buffer = Buffer.alloc(READ_CHUNK_BYTES);
  let end = size;
  while (end > 0) {
    const length = Math.min(buffer.length, end);
    readSync(fd, buffer, 0, length, end - length);
    const lineBreak = buffer.lastIndexOf(0x0a, length - 1);
    if (lineBreak !== -1) {
      end = end - length + lineBreak + 1;
      break;
    }
    end -= length;
  }
  if (end < size) {
    ftruncateSync(fd, end);
  }
}
