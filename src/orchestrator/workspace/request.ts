import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { LineSplitter } from '../../base/lineSplitter.ts';
import { once } from '../../base/once.ts';
import { openPlainFile, PLAIN } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { MAX_LANES, STOP_MODES, type StopMode } from '../journal/eventCodes.ts';
import { type TickUndo, tickUndoSchema } from '../journal/eventSchemas/tickUndo.ts';
import { requirePlainState } from './plainState.ts';
import type { RunFiles } from './runFiles.ts';

/** Longest line, in UTF-16 units; our own requests are much shorter. */
const MAX_LINE = 64 * 1024;
/** Bytes that are read at a time. People do not write more, and a flood must not fill the memory. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1 << 16;
/** Requests contain their time, so this much of two files is never equal. */
const COMPARED_BYTES = 256;
const LINE_BREAK = 0x0a;
/** Longest hint or answer, in UTF-16 units. */
export const MAX_TEXT = 8_000;
/** Longest name of a window, in UTF-16 units. */
const MAX_NAME = 200;

/** Requests of watchers to the loop; one line of JSON each. Anybody may append, the loop reads. */
const requestSchema = once(() => {
  const ofPart = { storyId: z.string().optional(), lane: z.number().int().positive().optional() };
  return z.discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('stop'),
      mode: z.enum(STOP_MODES),
      /** Only the agent of this story; the run continues. */
      storyId: z.string().optional(),
    }),
    /** This many agents at once. */
    z.looseObject({ type: z.literal('lanes'), lanes: z.number().int().min(1).max(MAX_LANES) }),
    /** A person has ticked (or unticked) the story in its file; the loop records it in the journal. */
    z.looseObject({
      type: z.literal('tick'),
      storyId: z.string(),
      done: z.boolean(),
      was: tickUndoSchema().optional(),
    }),
    /** Wait after this iteration; or start no further agent for a story, or in a lane. */
    z.looseObject({ type: z.literal('pause'), ...ofPart }),
    /**
     * Continue after a pause or a question, or end the wait for the reset of a usage limit; or with a story, or in a
     * lane.
     */
    z.looseObject({ type: z.literal('resume'), ...ofPart }),
    /** Skip a story; the current one if none is named. */
    z.looseObject({ type: z.literal('skip'), storyId: z.string().optional() }),
    /** Give a skipped, failed or blocked story another chance. */
    z.looseObject({ type: z.literal('reset'), storyId: z.string() }),
    /** A person settles the story's conflict by hand, or gives it back to agents. */
    z.looseObject({ type: z.literal('settle'), storyId: z.string(), settling: z.boolean() }),
    /** A person has settled the story's conflict: this commit is to land. */
    z.looseObject({
      type: z.literal('land'),
      storyId: z.string(),
      head: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
    }),
    z.looseObject({
      type: z.literal('hint'),
      text: z.string().min(1).max(MAX_TEXT),
      storyId: z.string().optional(),
    }),
    /** Answers the agent's open question and continues. */
    z.looseObject({
      type: z.literal('answer'),
      text: z.string().min(1).max(MAX_TEXT),
      /** Absent: the newest question. */
      storyId: z.string().optional(),
    }),
    /** What becomes of work that an agent found. */
    z.looseObject({
      type: z.literal('discovery'),
      id: z.string().min(1).max(MAX_NAME),
      action: z.enum(['accept', 'edit', 'drop', 'added']),
      title: z.string().max(MAX_NAME).optional(),
      why: z.string().max(MAX_TEXT).optional(),
      /** The story during which it was found; for `added`, its id in the story file. */
      storyId: z.string().max(MAX_NAME).optional(),
      /** For `added`: the story file, relative to the workspace. */
      storyFile: z.string().max(MAX_TEXT).optional(),
    }),
    /** A window shows the run. `pid` and `startId` identify its process, in case it crashes. */
    z.looseObject({
      type: z.literal('hello'),
      window: z.string().min(1).max(MAX_NAME),
      pid: z.number().int().positive().optional(),
      startId: z.string().max(MAX_NAME).optional(),
    }),
    /** The window is closed or reloaded. */
    z.looseObject({ type: z.literal('goodbye'), window: z.string().min(1).max(MAX_NAME) }),
  ]);
});

/** What a request is about; without both, the whole run. */
export interface PartOfRun {
  readonly storyId?: string | undefined;
  readonly lane?: number | undefined;
}

/** A request, without fields unknown to the reader. */
export type RunRequest =
  | { readonly type: 'stop'; readonly mode: StopMode; readonly storyId?: string | undefined }
  | { readonly type: 'lanes'; readonly lanes: number }
  | {
      readonly type: 'tick';
      readonly storyId: string;
      readonly done: boolean;
      /** What it replaced. */
      readonly was?: TickUndo | undefined;
    }
  | ({ readonly type: 'pause' | 'resume' } & PartOfRun)
  | { readonly type: 'skip'; readonly storyId?: string | undefined }
  | { readonly type: 'reset'; readonly storyId: string }
  | { readonly type: 'settle'; readonly storyId: string; readonly settling: boolean }
  | { readonly type: 'land'; readonly storyId: string; readonly head: string }
  | { readonly type: 'hint'; readonly text: string; readonly storyId?: string | undefined }
  | { readonly type: 'answer'; readonly text: string; readonly storyId?: string | undefined }
  | {
      readonly type: 'discovery';
      readonly id: string;
      readonly action: 'accept' | 'edit' | 'drop' | 'added';
      readonly title?: string | undefined;
      readonly why?: string | undefined;
      readonly storyId?: string | undefined;
      readonly storyFile?: string | undefined;
    }
  | {
      readonly type: 'hello';
      readonly window: string;
      readonly pid?: number | undefined;
      readonly startId?: string | undefined;
    }
  | { readonly type: 'goodbye'; readonly window: string };

/**
 * Appends a request to the run's inbox. It is a single small append, so that two writers do not mix. It is
 * synchronous, because a window that is being closed cannot wait.
 * @throws {HumanError} if the inbox is not a plain file
 */
export function postRequest(files: RunFiles, runId: string, request: RunRequest): void {
  const file = plainInbox(files, runId);
  if (request.type !== 'goodbye') {
    mkdirSync(path.dirname(file), { recursive: true });
  }
  const { O_RDWR, O_APPEND, O_CREAT } = constants;
  const fd = openSync(file, O_RDWR | O_APPEND | O_CREAT | PLAIN, 0o644);
  try {
    const line = lineOf(request);
    // Otherwise the request would become part of an unfinished line.
    appendFileSync(fd, endsInLine(fd) ? `\n${line}` : line);
  } finally {
    closeSync(fd);
  }
}

function lineOf(request: RunRequest): string {
  return `${JSON.stringify({ ...request, at: new Date().toISOString() })}\n`;
}

/**
 * The path of the inbox if it is a plain file: opening a pipe would block without a reader, and a folder or device
 * cannot be appended to.
 */
function plainInbox(files: RunFiles, runId: string): string {
  requirePlainState(files, runId);
  const file = files.inboxFile(runId);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false) {
    throw notPlain(file);
  }
  return file;
}

function endsInLine(fd: number): boolean {
  const last = Buffer.alloc(1);
  const read = readSync(fd, last, 0, 1, Math.max(0, fstatSync(fd).size - 1));
  return read === 1 && last[0] !== LINE_BREAK;
}

/** @returns the current size in bytes; 0 without an inbox */
export async function inboxSize(file: string): Promise<number> {
  const handle = await openPlainFile(file);
  if (handle === undefined) {
    return 0;
  }
  try {
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

/** Reads the requests in order; each is returned once, however large the inbox is. */
export class InboxReader {
  private readonly file: string;
  private offset: number;
  /**
   * The last bytes before `offset`, known after the first look. They tell another file from this one; its inode does
   * not, because file systems give the inode of a removed file to the next one.
   */
  private readLast: Buffer | undefined;
  /** Holds the unfinished line. */
  private splitter = new LineSplitter(MAX_LINE);

  /** @param from offset in bytes at which this loop starts: requests to an earlier loop are not for it */
  constructor(file: string, from = 0) {
    this.file = file;
    this.offset = from;
  }

  /**
   * One call at a time. If there are too many requests, the rest follows in the next calls.
   * @returns the requests in new complete lines; other lines are ignored
   * @throws {HumanError} if the inbox is not a plain file
   */
  async takeNew(): Promise<RunRequest[]> {
    const handle = await openPlainFile(this.file);
    if (handle === undefined) {
      // A plain file was created just now; the next call reads it.
      if (lstatSync(this.file, { throwIfNoEntry: false })?.isFile() === false) {
        throw notPlain(this.file);
      }
      // A new file may get the same inode.
      this.beginAgain();
      return [];
    }
    try {
      const { size } = await handle.stat();
      const before = await this.bytesBefore(handle);
      if (size < this.offset || !before.equals(this.readLast ?? before)) {
        // Another file, or truncated: none of it has been read yet.
        this.beginAgain();
      }
      const requests = size === this.offset ? [] : await this.read(handle);
      this.readLast = await this.bytesBefore(handle);
      return requests;
    } finally {
      await handle.close();
    }
  }

  private beginAgain(): void {
    this.offset = 0;
    this.readLast = undefined;
    this.splitter = new LineSplitter(MAX_LINE);
  }

  private async bytesBefore(handle: FileHandle): Promise<Buffer> {
    const bytes = Buffer.alloc(Math.min(this.offset, COMPARED_BYTES));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, this.offset - bytes.length);
    return bytes.subarray(0, bytesRead);
  }

  private async read(handle: FileHandle): Promise<RunRequest[]> {
    const requests: RunRequest[] = [];
    const end = this.offset + MAX_READ_BYTES;
    const buffer = Buffer.alloc(CHUNK_BYTES);
    while (this.offset < end) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.offset);
      if (bytesRead === 0) {
        break;
      }
      this.offset += bytesRead;
      for (const { text, dropped } of this.splitter.push(buffer.subarray(0, bytesRead))) {
        const request = dropped === 0 ? parseRequest(text) : undefined;
        if (request !== undefined) {
          requests.push(request);
        }
      }
    }
    return requests;
  }
}

function parseRequest(line: string): RunRequest | undefined {
  try {
    return requestSchema().parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function notPlain(file: string): HumanError {
  return new HumanError(
    say('{0} is not a regular file, so no requests can be sent to the run. Remove it.', file),
  );
}
