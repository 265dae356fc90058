import { assertNever } from '../../base/assertNever.ts';
import type { RunEvent } from '../journal/events.ts';
import { JournalReader, JournalWriter } from '../journal/journal.ts';
import { postRequest, type RunRequest } from './inbox.ts';
import { livingRun } from './livingRun.ts';
import { addPendingHint } from './pendingHints.ts';
import { requirePlainState } from './plainState.ts';
import { eventsOfRequest } from './requestEvents.ts';
import { readRun } from './runCheckpoint.ts';
import { isRunId, newestRunId, newRunId, type RunFiles } from './runFiles.ts';
import { acquireRunLock } from './runLock.ts';
import { ignoreStateDir } from './stateIgnore.ts';
import { cannotWriteTo } from './takeFileLock.ts';

/** Between two looks at the journal, in ms. */
const LOOK_MS = 50;

/** Where a request went. */
export type Recorded =
  /** Into the inbox of the loop that lives, which alone writes its journal. */
  | { readonly kind: 'posted'; readonly runId: string }
  /** Into the newest journal, by this process in the loop's place. */
  | { readonly kind: 'written'; readonly runId: string; readonly events: readonly RunEvent[] }
  /** A hint: it waits for the next agent that it is for, whichever run that is in. */
  | { readonly kind: 'kept' };

/** What became of a request. */
export type Delivered =
  /** The loop has taken it: `event` is in the journal. */
  | { readonly kind: 'taken'; readonly runId: string; readonly event: RunEvent }
  | Extract<Recorded, { kind: 'written' | 'kept' }>
  /** No loop lives, and the request is only for one that does. */
  | { readonly kind: 'noLoop' };

/**
 * Hands a person's request over: a living loop is asked, since it alone writes; else this process takes the
 * loop's place for a moment. Does not wait until the loop has taken it.
 *
 * @throws {HumanError} when the state folder cannot be written
 */
export async function recordRequest(files: RunFiles, request: RunRequest): Promise<Recorded> {
  const runId = (await livingRun(files))?.runId;
  if (runId !== undefined && isRunId(runId)) {
    return post(files, runId, request);
  }
  if (request.type === 'hint') {
    await addPendingHint(files, request);
    return { kind: 'kept' };
  }
  requirePlainState(files);
  await ignoreStateDir(files);
  const attempt = await acquireRunLock(files).catch((error: unknown) => {
    throw cannotWriteTo(files.stateDir, error);
  });
  if (attempt.kind === 'held') {
    // It has begun just now. A lock without a run is waited for, so this one has it.
    return post(files, attempt.by.runId ?? '', request);
  }
  try {
    return await write(files, request);
  } finally {
    await attempt.lock.release();
  }
}

/**
 * As {@link recordRequest}, and waits until the journal shows that the loop has taken the request. A loop that
 * ends before is no obstacle: the request is written in its place then.
 */
export async function deliverRequest(files: RunFiles, request: RunRequest): Promise<Delivered> {
  for (;;) {
    const runId = (await livingRun(files))?.runId;
    if (runId === undefined && isForLivingLoop(request)) {
      return { kind: 'noLoop' };
    }
    const journal = runId === undefined ? undefined : new JournalReader(files.journalFile(runId));
    // What was there before is no answer.
    await journal?.skip();
    const recorded = await recordRequest(files, request);
    if (recorded.kind !== 'posted') {
      return recorded;
    }
    const reader = recorded.runId === runId ? journal : undefined;
    const event = await answer(
      files,
      recorded.runId,
      request,
      reader ?? new JournalReader(files.journalFile(recorded.runId)),
    );
    if (event) {
      return { kind: 'taken', runId: recorded.runId, event };
    }
  }
}

/** Waits for as long as the loop lives. @returns `undefined` when it has ended without taking the request */
async function answer(
  files: RunFiles,
  runId: string,
  request: RunRequest,
  journal: JournalReader,
): Promise<RunEvent | undefined> {
  for (;;) {
    // Asked first: what the loop wrote before it ended is then sure to be read.
    const lives = (await livingRun(files))?.runId === runId;
    let found: RunEvent | undefined;
    await journal.readNew(event => {
      found ??= isAnswer(event, request) ? event : undefined;
    });
    if (found || !lives) {
      return found;
    }
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

function isAnswer(event: RunEvent, request: RunRequest): boolean {
  switch (request.type) {
    case 'stop':
      return event.type === 'stop.requested';
    case 'tick':
      return event.type === 'story.ticked' && event.storyId === request.storyId;
    case 'pause':
      return event.type === 'pause.requested';
    case 'resume':
      return event.type === 'pause.ended' || event.type === 'limit.ended';
    case 'skip':
      return (
        event.type === 'story.skipped' &&
        (request.storyId === undefined || event.storyId === request.storyId)
      );
    case 'reset':
      return event.type === 'story.reset' && event.storyId === request.storyId;
    case 'hint':
      return event.type === 'hint.given' && event.text === request.text;
    case 'answer':
      return (
        (event.type === 'question.answered' && event.answer === request.text) ||
        (event.type === 'hint.given' && event.text === request.text)
      );
    case 'hello':
    case 'goodbye':
      // Windows only post; the journal shows nothing of it.
      return false;
    default:
      return assertNever(request);
  }
}

function isForLivingLoop({ type }: RunRequest): boolean {
  return ['stop', 'pause', 'resume', 'hello', 'goodbye'].includes(type);
}

function post(files: RunFiles, runId: string, request: RunRequest): Recorded {
  postRequest(files, runId, request);
  return { kind: 'posted', runId };
}

async function write(files: RunFiles, request: RunRequest): Promise<Recorded> {
  const runId = (await newestRunId(files)) ?? newRunId();
  const file = files.journalFile(runId);
  const bodies = eventsOfRequest(request, await readRun(files, runId));
  const journal = await JournalWriter.open(file).catch((error: unknown) => {
    throw cannotWriteTo(files.runDir(runId), error);
  });
  try {
    const events = bodies.map(body => journal.append(body));
    journal.sync();
    return { kind: 'written', runId, events };
  } finally {
    journal.close();
  }
}
