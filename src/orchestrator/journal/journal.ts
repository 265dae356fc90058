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
import { withoutUndefined } from '../../base/withoutUndefined.ts';
import { isChatter, isChatterLine } from './chatter.ts';
import { parseRunEvent, type RunEvent, type RunEventBody } from './events.ts';
import { applyEvent } from './foldRun.ts';
import { INITIAL_RUN_STATE, type RunState } from './runState.ts';

const syncToDisk = promisify(fsync);

const READ_CHUNK_BYTES = 1 << 16;
/** No run comes near this. Above 2^53, integers are not exact, and every event would look like an old one. */
const MAX_SEQ = 2 ** 50;
/** Strings up to this length, in UTF-16 units, are never cut. */
const MIN_CUT = 64;
const CUT_MARK = ' […]';

/** The file to which the loop writes its events. */
export interface Journal {
  /** The fold of all its events so far. */
  readonly state: RunState;
  /** @param iteration the one that the event belongs to, if the event does not say */
  append(body: RunEventBody, iteration?: number): RunEvent;
  sync(): void;
  syncInParallel(): Promise<void>;
  /** Whether the file at its path is still the one that is open. */
  isInPlace(): boolean;
  /** Restores the file with all its events if somebody has removed or replaced it. */
  restore(): void;
  readonly onDidAppend: JournalWriter['onDidAppend'];
}

/**
 * Appends to a run's journal. There is one writer at a time: the loop that holds the run lock, or a tick by a
 * person while no loop is running, which takes the same lock. Writes are synchronous, so that the order on disk is
 * the order of events, and nothing is lost in memory if the process is killed.
 */
export class JournalWriter implements Journal {
  private readonly file: string;
  private fd: number;
  private seq: number;
  private folded: RunState;
  /** Size of the whole lines, in bytes; nobody else writes to the file. */
  private size: number;
  /** Number of syncs in progress. */
  private syncs = 0;
  private isClosed = false;
  /** Descriptors of files that somebody has removed. */
  private readonly retired: number[] = [];
  private readonly appendEmitter = new Emitter<RunEvent>();
  readonly onDidAppend = this.appendEmitter.event;

  private constructor(file: string, fd: number, seq: number, earlier: RunState) {
    this.file = file;
    this.fd = fd;
    this.seq = seq;
    this.folded = earlier;
    this.size = fstatSync(fd).size;
  }

  get state(): RunState {
    return this.folded;
  }

  /**
   * Opens or creates the journal and continues after its last complete line; a torn last line is dropped.
   * @param earlier the fold of the events that are already in it; needed only for {@link state}
   * @throws {HumanError} for a file that is not a journal of ours
   * @throws the system's error if the file cannot be opened or written
   */
  static async open(file: string, earlier = INITIAL_RUN_STATE): Promise<JournalWriter> {
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
      return new JournalWriter(file, fd, await lastSeq(file), earlier);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /**
   * Appends an event and folds it into the state. If it is too long to be read back, its longest strings are cut, with
   * a mark.
   * @throws {HumanError} if the numbers have run out, which only happens with a damaged journal
   * @throws the system's error (disk full, …); the event is then not in the journal as a complete line
   */
  append(body: RunEventBody, iteration?: number): RunEvent {
    if (this.seq >= MAX_SEQ) {
      throw damaged(this.file);
    }
    const { event, text } = fitLine(newEvent(this.seq + 1, body, iteration));
    const line = Buffer.from(`${text}\n`);
    // After a short write (disk full), the next write of this loop throws with the system's reason.
    try {
      for (let written = 0; written < line.length; ) {
        written += writeSync(this.fd, line, written);
      }
    } catch (error) {
      // Remove the partial line: it would corrupt the next event, which may be the end of the run.
      ftruncateSync(this.fd, this.size);
      throw error;
    }
    this.size += line.length;
    this.seq += 1;
    this.folded = applyEvent(this.folded, event);
    this.appendEmitter.fire(event);
    return event;
  }

  /** Makes the appended events survive a power failure; called at the start and end of iterations. */
  sync(): void {
    fsyncSync(this.fd);
  }

  /** Like {@link sync}, but asynchronous, in parallel with the caller's work. */
  async syncInParallel(): Promise<void> {
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
   * A removed file exists as long as it is open, so no event is lost. Whatever is at its path now is deleted.
   * @throws {HumanError} if a parent folder is a link
   * @throws the system's error if it cannot be written; the old file then stays in use
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
    // A sync of it may be about to start.
    this.retired.push(this.fd);
    this.fd = fd;
    this.closeWhenIdle();
  }

  close(): void {
    this.isClosed = true;
    this.closeWhenIdle();
    this.appendEmitter.dispose();
  }

  /** A file descriptor must not be reused for another file while it is being synced. */
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
 * @returns the events that this version knows, in file order; an absent file is an empty journal
 */
export async function readJournal(file: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  await new JournalReader(file).readNew(event => events.push(event));
  return events;
}

/**
 * Reads a journal without what agents say and do, which may be hundreds of megabytes. The rest is what decisions
 * depend on, a few events per iteration.
 * @param isKept selects chatter to include; it is then called for all events, in order
 * @returns the events that this version knows, in file order, and always the very last one, which shows when the
 * run was last active; an absent file is an empty journal
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

/** Reads a journal that may still grow: each call continues where the last one stopped. */
export class JournalReader {
  private readonly lines: GrowingFile;

  constructor(file: string) {
    this.lines = new GrowingFile(file);
  }

  /** Skips everything written so far. One call at a time. */
  async skip(): Promise<void> {
    await this.lines.readNew(() => undefined);
  }

  /** Calls `onEvent` for every event that was appended since the last call. One call at a time. */
  async readNew(onEvent: (event: RunEvent) => void): Promise<void> {
    await this.lines.readNew(line => {
      const event = parseRunEvent(line);
      if (event) {
        onEvent(event);
      }
    });
  }
}

/** An event that is appended now. @param iteration see {@link Journal.append} */
export function newEvent(seq: number, body: RunEventBody, iteration?: number): RunEvent {
  const own = 'iteration' in body ? body.iteration : undefined;
  return {
    seq,
    at: new Date().toISOString(),
    // A number that is added comes last: readers recognize chatter by the start of a line (`isChatterLine`).
    ...withoutUndefined({ ...body, iteration: own ?? iteration }),
  } as RunEvent;
}

/** The event, shortened if necessary, and its line of at most {@link MAX_LINE} units. */
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

/** @param size number of bytes to copy */
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
 * The highest number in use, including events that only a newer version knows.
 * @throws {HumanError} for a number that no run reaches
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
  // The start of a line as our writers write it; parsing all lines of a large journal takes too long.
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
    // A foreign line; it has no number that could be used twice.
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
