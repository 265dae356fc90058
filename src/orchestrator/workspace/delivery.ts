import { assertNever } from '../../base/assertNever.ts';
import type { RunEvent } from '../journal/events.ts';
import { readRunState } from '../journal/foldJournal.ts';
import { JournalReader, JournalWriter } from '../journal/journal.ts';
import { type NamedStory, namedByRun, requireKnownId } from './knownStories.ts';
import { livingRun } from './livingRun.ts';
import { addPendingHint } from './pendingHints.ts';
import { requirePlainState } from './plainState.ts';
import { eventsOfRequest, isSkippedByPerson, postRequest, type RunRequest } from './request.ts';
import { readRun } from './runCheckpoint.ts';
import { isRunId, newRunId, type RunFiles } from './runFiles.ts';
import { newestRunId } from './runIds.ts';
import { acquireRunLock, type LockOwner } from './runLock.ts';
import { ignoreStateDir } from './stateIgnore.ts';
import { isStopEnough } from './stopSwitch.ts';
import { cannotWriteTo } from './takeFileLock.ts';

/** Interval between two looks at the journal, in ms. */
const LOOK_MS = 50;

/** Where a request was written. */
export type Recorded =
  /** To the inbox of the running loop, the only process that writes its journal. `request`: as the loop gets it. */
  | { readonly kind: 'posted'; readonly runId: string; readonly request: RunRequest }
  /** To the newest journal, by this process instead of a loop. */
  | { readonly kind: 'written'; readonly runId: string; readonly events: readonly RunEvent[] }
  /** A hint: it waits for the next agent it applies to, in any run. */
  | { readonly kind: 'kept' };

/** The result of a request. */
export type Delivered =
  /** The loop has processed it: `event` is in the journal. */
  | { readonly kind: 'taken'; readonly runId: string; readonly event: RunEvent }
  | Extract<Recorded, { kind: 'written' | 'kept' }>
  /** Somebody else was faster: it is so already, and nothing was sent. */
  | { readonly kind: 'already' }
  /** No loop is running, and the request needs one; also if its loop has ended, and another one has begun. */
  | { readonly kind: 'noLoop' };

/**
 * Records a person's request. If a loop is running, the request goes to its inbox, because only the loop writes the
 * journal. Otherwise this process writes the journal while it holds the run lock. Does not wait until the loop has
 * processed it.
 *
 * @param story what the person sees of the request's story, whose number the run may know differently
 * @throws {HumanError} if the state folder cannot be written
 */
export async function recordRequest(
  files: RunFiles,
  asked: RunRequest,
  story?: NamedStory,
): Promise<Recorded> {
  const living = (await livingRun(files))?.runId;
  const isLiving = living !== undefined && isRunId(living);
  const runId = living ?? (await newestRunId(files));
  if (asked.type === 'hint' && !isLiving) {
    const { storyId } = asked;
    // A number without a story is from the newest run.
    const isOfRun = story === undefined && storyId !== undefined && runId !== undefined;
    const seen = isOfRun ? await namedByRun(files, runId, storyId) : story;
    await addPendingHint(files, { ...asked, story: seen });
    return { kind: 'kept' };
  }
  const request = await asKnown(files, runId, asked, story);
  if (isLiving) {
    return post(files, living, request);
  }
  requirePlainState(files);
  await ignoreStateDir(files);
  const attempt = await acquireRunLock(files).catch((error: unknown) => {
    throw cannotWriteTo(files.stateDir, error);
  });
  if (attempt.kind === 'held') {
    // A loop has just started. Locks without a run id are waited for, so this one has an id.
    return post(files, attempt.by.runId ?? '', request);
  }
  try {
    return await write(files, request);
  } finally {
    await attempt.lock.release();
  }
}

/**
 * Like {@link recordRequest}, and waits until the journal shows that the loop has processed the request. If the
 * loop ends before that, the request is written to the journal by this process.
 */
export async function deliverRequest(
  files: RunFiles,
  asked: RunRequest,
  story?: NamedStory,
): Promise<Delivered> {
  let first: LockOwner | undefined;
  for (;;) {
    const loop = await livingRun(files);
    const runId = loop?.runId;
    first ??= loop;
    // A stop is for the loop that the person saw, not for one that was started since.
    if (isForLivingLoop(asked) && (runId === undefined || !isSameLoop(loop, first))) {
      return { kind: 'noLoop' };
    }
    const journal = runId === undefined ? undefined : new JournalReader(files.journalFile(runId));
    // Earlier events are not an answer.
    await journal?.skip();
    if (await isSoAlready(files, loop, asked, story)) {
      return { kind: 'already' };
    }
    const recorded = await recordRequest(files, asked, story);
    if (recorded.kind !== 'posted') {
      return recorded;
    }
    const reader = recorded.runId === runId ? journal : undefined;
    const event = await answer(
      files,
      loop?.runId === recorded.runId ? loop : recorded,
      recorded.request,
      reader ?? new JournalReader(files.journalFile(recorded.runId)),
    );
    if (event) {
      return { kind: 'taken', runId: recorded.runId, event };
    }
  }
}

/**
 * The request with the id by which the run's journal knows its story.
 * @throws {HumanError} if that is not certain
 */
async function asKnown<R extends RunRequest>(
  files: RunFiles,
  runId: string | undefined,
  request: R,
  story: NamedStory | undefined,
): Promise<R> {
  const id = 'storyId' in request ? request.storyId : undefined;
  if (id === undefined || story === undefined || runId === undefined || !isRunId(runId)) {
    return request;
  }
  const storyId = await requireKnownId(files, runId, { ...story, id });
  return { ...request, storyId };
}

/** Whether another window or command line has had the same effect just before. */
async function isSoAlready(
  files: RunFiles,
  loop: LockOwner | undefined,
  asked: RunRequest,
  story: NamedStory | undefined,
): Promise<boolean> {
  if (!((asked.type === 'skip' || asked.type === 'stop') && isOnce(asked))) {
    return false;
  }
  const runId = loop?.runId ?? (await newestRunId(files));
  if (runId === undefined) {
    return false;
  }
  const request = await asKnown(files, runId, asked, story);
  const state = await readRunState(files.journalFile(runId));
  if (request.type === 'skip') {
    return isSkippedByPerson(state, request.storyId);
  }
  // A loop that has just begun has not yet written that its run continues; until then, the journal has an earlier stop.
  return isSameLoop(loop, state) && isStopEnough(state.stopMode, request.mode);
}

/** A stop of one story, and a skip of whatever is current, can be repeated. */
function isOnce(request: Extract<RunRequest, { type: 'skip' | 'stop' }>): boolean {
  return request.type === 'skip' ? request.storyId !== undefined : request.storyId === undefined;
}

function isSameLoop(one: LockOwner | undefined, other: Partial<LockOwner> | undefined): boolean {
  return one?.pid === other?.pid && one?.startId === other?.startId;
}

/**
 * Waits as long as the loop is running.
 * @param loop its process, as far as it is known
 * @returns `undefined` if it ended without processing the request
 */
async function answer(
  files: RunFiles,
  loop: Partial<LockOwner>,
  request: RunRequest,
  journal: JournalReader,
): Promise<RunEvent | undefined> {
  for (;;) {
    // Checked first, so that everything the loop wrote before it ended is read.
    const now = await livingRun(files);
    const lives = now?.runId === loop.runId && (loop.pid === undefined || isSameLoop(now, loop));
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
      return request.storyId === undefined
        ? event.type === 'stop.requested'
        : event.type === 'story.paused' && event.storyId === request.storyId;
    case 'lanes':
      return event.type === 'lanes.changed' && event.lanes === request.lanes;
    case 'tick':
      return event.type === 'story.ticked' && event.storyId === request.storyId;
    case 'pause':
    case 'resume': {
      const { lane, storyId, type } = request;
      const paused = type === 'pause';
      if (storyId !== undefined || lane !== undefined) {
        return (
          (event.type === 'story.paused' && event.storyId === storyId && event.paused === paused) ||
          (event.type === 'lane.paused' && event.lane === lane && event.paused === paused)
        );
      }
      return paused
        ? event.type === 'pause.requested'
        : event.type === 'pause.ended' || event.type === 'limit.ended';
    }
    case 'skip':
      return (
        event.type === 'story.skipped' &&
        (request.storyId === undefined || event.storyId === request.storyId)
      );
    case 'reset':
      return event.type === 'story.reset' && event.storyId === request.storyId;
    case 'settle':
      // One that says the opposite is the answer as well: there was nothing to settle.
      return event.type === 'story.settling' && event.storyId === request.storyId;
    case 'land':
      return (
        (event.type === 'landing.queued' && event.by === 'person' && event.head === request.head) ||
        (event.type === 'story.settling' && event.storyId === request.storyId)
      );
    case 'discovery':
      return event.type.startsWith('discovery.') && 'id' in event && event.id === request.id;
    case 'hint':
      return event.type === 'hint.given' && event.text === request.text;
    case 'answer':
      return (
        (event.type === 'question.answered' && event.answer === request.text) ||
        (event.type === 'hint.given' && event.text === request.text)
      );
    case 'hello':
    case 'goodbye':
      // Only windows send these, without waiting; they leave no event in the journal.
      return false;
    default:
      return assertNever(request);
  }
}

function isForLivingLoop({ type }: RunRequest): boolean {
  return ['stop', 'pause', 'resume', 'lanes', 'hello', 'goodbye'].includes(type);
}

function post(files: RunFiles, runId: string, request: RunRequest): Recorded {
  postRequest(files, runId, request);
  return { kind: 'posted', runId, request };
}

async function write(files: RunFiles, request: RunRequest): Promise<Recorded> {
  const runId = (await newestRunId(files)) ?? newRunId();
  const file = files.journalFile(runId);
  const state = await readRun(files, runId);
  const journal = await JournalWriter.open(file, state).catch((error: unknown) => {
    throw cannotWriteTo(files.runDir(runId), error);
  });
  try {
    const events = eventsOfRequest(request, state).map(body => journal.append(body));
    journal.sync();
    return { kind: 'written', runId, events };
  } finally {
    journal.close();
  }
}
