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
import path from 'node:path';
import * as z from 'zod';
import { AppendedLines } from '../../base/appendedLines.ts';
import { assertNever } from '../../base/assertNever.ts';
import { HumanError } from '../../base/humanError.ts';
import { once } from '../../base/once.ts';
import { openPlainFile, PLAIN } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { MAX_LANES, STOP_MODES } from '../journal/eventCodes.ts';
import { tickUndoSchema } from '../journal/eventSchemas/tickUndo.ts';
import type { RunEventBody } from '../journal/events.ts';
import {
  currentOf,
  questionOf,
  type RunState,
  storyNotes,
  storyRecord,
} from '../journal/runState.ts';
import { requirePlainState } from './plainState.ts';
import type { RunFiles } from './runFiles.ts';

/** Longest line, in UTF-16 units; our own requests are much shorter. */
const MAX_LINE = 64 * 1024;
const LINE_BREAK = 0x0a;
/** Longest hint or answer, in UTF-16 units. */
export const MAX_TEXT = 8_000;
/** Longest name of a window, in UTF-16 units. */
const MAX_NAME = 200;

/** Requests of people to the loop; one line of JSON each. Anybody may append, the loop reads. */
const requestSchema = once(() => {
  const ofPart = { storyId: z.string().optional(), lane: z.number().int().positive().optional() };
  return z.discriminatedUnion('type', [
    z.object({
      type: z.literal('stop'),
      mode: z.enum(STOP_MODES),
      /** Only the agent of this story; the run continues. */
      storyId: z.string().optional(),
    }),
    /** This many agents at once. */
    z.object({ type: z.literal('lanes'), lanes: z.number().int().min(1).max(MAX_LANES) }),
    /** A person has ticked (or unticked) the story in its file; the loop records it in the journal. */
    z.object({
      type: z.literal('tick'),
      storyId: z.string(),
      done: z.boolean(),
      was: tickUndoSchema().optional(),
    }),
    /** Wait after this iteration; or start no further agent for a story, or in a lane. */
    z.object({ type: z.literal('pause'), ...ofPart }),
    /**
     * Continue after a pause or a question, or end the wait for the reset of a usage limit; or with a story, or in a
     * lane.
     */
    z.object({ type: z.literal('resume'), ...ofPart }),
    /** Skip a story; the current one if none is named. */
    z.object({ type: z.literal('skip'), storyId: z.string().optional() }),
    /** Give a skipped, failed or blocked story another chance. */
    z.object({ type: z.literal('reset'), storyId: z.string() }),
    /** A person settles the story's conflict by hand, or gives it back to agents. */
    z.object({ type: z.literal('settle'), storyId: z.string(), settling: z.boolean() }),
    /** A person has settled the story's conflict: this commit is to land. */
    z.object({
      type: z.literal('land'),
      storyId: z.string(),
      head: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
    }),
    z.object({
      type: z.literal('hint'),
      text: z.string().min(1).max(MAX_TEXT),
      storyId: z.string().optional(),
    }),
    /** Answers the agent's open question and continues. */
    z.object({
      type: z.literal('answer'),
      text: z.string().min(1).max(MAX_TEXT),
      /** Absent: the newest question. */
      storyId: z.string().optional(),
    }),
    /** What becomes of work that an agent found. */
    z.object({
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
    z.object({
      type: z.literal('hello'),
      window: z.string().min(1).max(MAX_NAME),
      pid: z.number().int().positive().optional(),
      startId: z.string().max(MAX_NAME).optional(),
    }),
    /** The window is closed or reloaded. */
    z.object({ type: z.literal('goodbye'), window: z.string().min(1).max(MAX_NAME) }),
  ]);
});

/** A person's request, without fields unknown to the reader. */
export type RunRequest = Readonly<z.infer<ReturnType<typeof requestSchema>>>;

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
    appendFileSync(fd, isWithinLine(fd) ? `\n${line}` : line);
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

/** Whether the last line of a file is unfinished. Others may append to it meanwhile. */
function isWithinLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== LINE_BREAK;
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
  private readonly lines: AppendedLines;

  /** @param from offset in bytes at which this loop starts: requests to an earlier loop are not for it */
  constructor(file: string, from = 0) {
    this.file = file;
    this.lines = new AppendedLines(file, from, MAX_LINE);
  }

  /**
   * One call at a time. If there are too many requests, the rest follows in the next calls.
   * @returns the requests in new complete lines; other lines are ignored
   * @throws {HumanError} if the inbox is not a plain file
   */
  async takeNew(): Promise<RunRequest[]> {
    const requests: RunRequest[] = [];
    const found = await this.lines.readNew(line => {
      const request = parseRequest(line);
      if (request !== undefined) {
        requests.push(request);
      }
    });
    if (found === 'otherThing') {
      throw notPlain(this.file);
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

/**
 * The journal events for a person's request. They are the same whether a running loop takes the request from its
 * inbox or another process records it while no loop is running. Pure. There are none for `stop` and `resume`, which
 * control the loop and cause events of their own, for windows that open and close, and for a skip of the current
 * story if there is none.
 */
export function eventsOfRequest(request: RunRequest, state: RunState): RunEventBody[] {
  switch (request.type) {
    case 'tick':
      return [
        {
          type: 'story.ticked',
          storyId: request.storyId,
          done: request.done,
          ...(request.was && { was: request.was }),
        },
      ];
    case 'pause':
    case 'resume': {
      const { lane, storyId, type } = request;
      const paused = type === 'pause';
      return storyId !== undefined
        ? [{ type: 'story.paused', storyId, paused }]
        : lane !== undefined
          ? [{ type: 'lane.paused', lane, paused }]
          : paused
            ? [{ type: 'pause.requested' }]
            : [];
    }
    case 'lanes':
      return state.isolated ? [{ type: 'lanes.changed', lanes: request.lanes }] : [];
    case 'skip': {
      const storyId = request.storyId ?? currentOf(state)?.storyId;
      return storyId === undefined || isSkippedByPerson(state, storyId)
        ? []
        : [{ type: 'story.skipped', storyId, by: 'person' }];
    }
    case 'reset':
      return [{ type: 'story.reset', storyId: request.storyId }];
    case 'settle':
      return [settling(request, state)];
    case 'land':
      return [settled(request, state)];
    case 'hint':
      return [{ type: 'hint.given', text: request.text, ...ofStory(request.storyId) }];
    case 'answer':
      return [answered(request, state)];
    case 'discovery':
      return [discovered(request)];
    case 'stop':
      return request.storyId === undefined
        ? []
        : [{ type: 'story.paused', storyId: request.storyId, paused: true }];
    case 'hello':
    case 'goodbye':
      return [];
    default:
      return assertNever(request);
  }
}

/** Another window may have been faster; no agent gets such a story. */
export function isSkippedByPerson(state: RunState, storyId: string | undefined): boolean {
  return storyId !== undefined && storyRecord(state, storyId).skipped === 'person';
}

function discovered({
  action,
  id,
  storyFile,
  storyId,
  title,
  why,
}: Extract<RunRequest, { type: 'discovery' }>): RunEventBody {
  switch (action) {
    case 'accept':
      return { type: 'discovery.accepted', id, title, why, storyId, by: 'person' };
    case 'edit':
      return { type: 'discovery.edited', id, title: title ?? id };
    case 'drop':
      return { type: 'discovery.dropped', id };
    case 'added':
      return { type: 'discovery.added', id, storyId: storyId ?? id, storyFile };
    default:
      return assertNever(action);
  }
}

/** A story whose conflict is over, or whose work is landing already, has nothing to settle. */
function settling(
  { settling: wanted, storyId }: Extract<RunRequest, { type: 'settle' }>,
  state: RunState,
): RunEventBody {
  const { conflict, settling: before } = storyNotes(state, storyId);
  const isLanding = [...state.running, ...state.cutOff].some(
    current => current.storyId === storyId && current.queued,
  );
  const about = before ?? conflict;
  return wanted && about !== undefined && !isLanding
    ? { type: 'story.settling', storyId, settling: true, iteration: about.iteration }
    : { type: 'story.settling', storyId, settling: false };
}

/** Only what a person was known to settle lands; otherwise an agent may be working on the story again. */
function settled(
  { head, storyId }: Extract<RunRequest, { type: 'land' }>,
  state: RunState,
): RunEventBody {
  const { settling: about } = storyNotes(state, storyId);
  if (about === undefined) {
    return { type: 'story.settling', storyId, settling: false };
  }
  const { base, iteration } = about;
  return { type: 'landing.queued', iteration, storyId, base, head, by: 'person' };
}

/** An answer to a question that is no longer open becomes a hint, because the agents can still use it. */
function answered(
  { storyId, text }: Extract<RunRequest, { type: 'answer' }>,
  state: RunState,
): RunEventBody {
  const question = storyId === undefined ? questionOf(state) : storyNotes(state, storyId).question;
  return question === undefined
    ? { type: 'hint.given', text, ...ofStory(storyId) }
    : {
        type: 'question.answered',
        question: question.message,
        answer: text,
        ...ofStory(question.storyId),
      };
}

function ofStory(storyId: string | undefined): { storyId?: string } {
  return storyId === undefined ? {} : { storyId };
}
