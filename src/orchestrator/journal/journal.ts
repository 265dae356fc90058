import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Emitter } from '../../base/emitter.ts';
import { GrowingFile, MAX_LINE } from '../../base/growingFile.ts';
import { HumanError } from '../../base/humanError.ts';
import { PLAIN, requirePlainFolders } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { isChatter, isChatterLine } from './chatter.ts';
import { parseRunEvent, type RunEvent, type RunEventBody } from './events.ts';

const syncToDisk = promisify(fsync);

const READ_CHUNK_BYTES = 1 << 16;
/** No run comes near; beyond 2^53 numbers could not be counted on, and every event would be taken for an old one. */
const MAX_SEQ = 2 ** 50;
/** Strings up to this length, in UTF-16 units, are never cut. */
const MIN_CUT = 64;
const CUT_MARK = ' […]';

/** Where the loop writes its events. */
export interface Journal {
  append(body: RunEventBody): RunEvent;
  sync(): void;
  syncBeside(): Promise<void>;
  /** Whether the file at its place is still the one that is written. */
  isInPlace(): boolean;
  /** Puts it back there with all that was written, if somebody has removed or replaced it. */
  restore(): void;
  readonly onDidAppend: JournalWriter['onDidAppend'];
}

/**
 * Appends to a run's journal. There is one writer at a time: the loop that holds the run lock, or a
 * person's tick while no loop runs, which takes the same lock. Writes are synchronous, so that the order
 * on disk is the order of events and nothing waits in memory when the process is killed.
 */
export class JournalWriter implements Journal {
  private readonly file: string;
  private fd: number;
  private seq: number;
  /** Bytes of whole lines; there is no other writer. */
  private size: number;
  /** Under way beside others. */
  private syncs = 0;
  private isClosed = false;
  /** Of files that somebody has removed. */
  private readonly retired: number[] = [];
  private readonly appendEmitter = new Emitter<RunEvent>();
  readonly onDidAppend = this.appendEmitter.event;

  private constructor(file: string, fd: number, seq: number) {
    this.file = file;
    this.fd = fd;
    this.seq = seq;
    this.size = fstatSync(fd).size;
  }

  /**
   * Opens or creates the journal and goes on after its last whole line; a torn last line is dropped.
   * @throws {HumanError} for a file that is no journal of ours
   * @throws the system's error when the file cannot be opened or written
   */
  static async open(file: string): Promise<JournalWriter> {
    requirePlainFolders(path.dirname(file));
    mkdirSync(path.dirname(file), { recursive: true });
    const fd = openSync(
      file,
      constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | PLAIN,
      0o644,
    );
    try {
      if (!fstatSync(fd).isFile()) {
        throw damaged(file);
      }
      dropTornLine(fd);
      return new JournalWriter(file, fd, await lastSeq(file));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /**
   * Of an event too long to be read back, the longest strings are cut, with a mark.
   * @throws {HumanError} when the numbers have run out, which only a damaged journal comes to
   * @throws the system's error (disk full, …); the event is then not in the journal as a whole line
   */
  append(body: RunEventBody): RunEvent {
    if (this.seq >= MAX_SEQ) {
      throw damaged(this.file);
    }
    const { event, text } = fitLine({
      seq: this.seq + 1,
      at: new Date().toISOString(),
      ...body,
    } as RunEvent);
    const line = Buffer.from(`${text}\n`);
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

  /** As {@link sync}, beside what the caller does until it needs to be sure. */
  async syncBeside(): Promise<void> {
    this.syncs += 1;
    try {
      await syncToDisk(this.fd);
    } finally {
      this.syncs -= 1;
      this.closeWhenIdle();
    }
  }

  isInPlace(): boolean {
    const found = lstatSync(this.file, { bigint: true, throwIfNoEntry: false });
    const own = fstatSync(this.fd, { bigint: true });
    return found?.ino === own.ino && found.dev === own.dev;
  }

  /**
   * A file that was removed lives for as long as it is open, so nothing of it is lost. What is at its place by now goes.
   * @throws {HumanError} when a folder on the way is a link
   * @throws the system's error when it cannot be written; the old one is written on then
   */
  restore(): void {
    if (this.isInPlace()) {
      return;
    }
    requirePlainFolders(path.dirname(this.file));
    mkdirSync(path.dirname(this.file), { recursive: true });
    const { O_APPEND, O_CREAT, O_EXCL, O_RDWR } = constants;
    const temporary = `${this.file}.${randomBytes(8).toString('hex')}.tmp`;
    const fd = openSync(temporary, O_RDWR | O_APPEND | O_CREAT | O_EXCL | PLAIN, 0o644);
    try {
      copy(this.fd, fd, this.size);
      fsyncSync(fd);
      renameSync(temporary, this.file);
    } catch (error) {
      closeSync(fd);
      rmSync(temporary, { force: true });
      throw error;
    }
    // It may be about to be synced.
    this.retired.push(this.fd);
    this.fd = fd;
    this.closeWhenIdle();
  }

  close(): void {
    this.isClosed = true;
    this.closeWhenIdle();
    this.appendEmitter.dispose();
  }

  /** The number of an open file must not become another one's while it is synced. */
  private closeWhenIdle(): void {
    if (this.syncs === 0) {
      for (const fd of [...this.retired.splice(0), ...(this.isClosed ? [this.fd] : [])]) {
        closeSync(fd);
      }
    }
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

/**
 * Reads what a journal tells besides the words and tools of agents, of which there may be hundreds of megabytes: what
 * decides, a few events for each iteration.
 * @param isKept words and tools that are wanted all the same; it is asked for all events then, in their order
 * @returns the events this version knows, in file order, and the last of all, which tells when the run was last heard
 * of; an absent file is an empty journal
 */
export async function readDecisions(
  file: string,
  isKept?: (event: RunEvent) => boolean,
): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  let skipped: string | undefined;
  await new GrowingFile(file).readNew(line => {
    if (isKept === undefined && isChatterLine(line)) {
      skipped = line;
      return;
    }
    const event = parseRunEvent(line);
    if (event && (isKept?.(event) || !isChatter(event))) {
      events.push(event);
      skipped = undefined;
    } else if (event) {
      skipped = line;
    }
  });
  const last = skipped === undefined ? undefined : parseRunEvent(skipped);
  return last ? [...events, last] : events;
}

/** Reads a journal that may still grow: each call continues where the last one ended. */
export class JournalReader {
  private readonly lines: GrowingFile;

  constructor(file: string) {
    this.lines = new GrowingFile(file);
  }

  /** Leaves out what there is so far. One call at a time. */
  async skip(): Promise<void> {
    await this.lines.readNew(() => undefined);
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

/** The event as it is written, and its line of at most {@link MAX_LINE} units. */
function fitLine(whole: RunEvent): { event: RunEvent; text: string } {
  let text = JSON.stringify(whole);
  let event = whole;
  for (let max = MAX_LINE / 2; text.length > MAX_LINE; max /= 2) {
    if (max < MIN_CUT) {
      throw new Error(`An event of ${text.length} characters (${whole.type}) is too long to keep.`);
    }
    const longest = max;
    text = JSON.stringify(whole, (_key, value: unknown) =>
      typeof value === 'string' && value.length > longest
        ? value.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '') + CUT_MARK
        : value,
    );
    event = JSON.parse(text) as RunEvent;
  }
  return { event, text };
}

/** @param size of what is there, in bytes */
function copy(from: number, to: number, size: number): void {
  const buffer = Buffer.alloc(READ_CHUNK_BYTES);
  for (let at = 0; at < size; ) {
    const length = readSync(from, buffer, 0, Math.min(buffer.length, size - at), at);
    if (length === 0) {
      throw new Error(`A journal of ${size} bytes ends after ${at}.`);
    }
    for (let written = 0; written < length; ) {
      written += writeSync(to, buffer, written, length - written);
    }
    at += length;
  }
}

function damaged(file: string): HumanError {
  return new HumanError(say('The journal {0} is damaged; start a new run with --new.', file));
}

/**
 * The highest number in use, also of events that only a newer version knows.
 * @throws {HumanError} for a number that no run comes to
 */
async function lastSeq(file: string): Promise<number> {
  let last = 0;
  await new GrowingFile(file).readNew(line => {
    const seq = seqOf(line);
    if (seq > MAX_SEQ) {
      throw damaged(file);
    }
    if (Number.isSafeInteger(seq)) {
      last = Math.max(last, seq);
    }
  });
  return last;
}

function seqOf(line: string): number {
  // As our own writers begin a line; to parse all of a large journal takes long.
  const [, own] = /^\{"seq":(\d{1,15}),/.exec(line) ?? [];
  if (own !== undefined && line.endsWith('}')) {
    return Number(own);
  }
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
