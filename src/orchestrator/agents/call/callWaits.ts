import { type Words, withTexts } from '../../../base/say.ts';
import { waitUntil } from '../../../base/waiting.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RunConfig } from '../../settings/config.ts';
import type { StopSwitch } from '../../workspace/stopSwitch.ts';
import type { RepeatedCall } from './repeatedCall.ts';

/** Interval of the countdown events of a usage limit, in ms. */
const COUNTDOWN_MS = 60_000;
/** Longest delay before a retry, in ms. */
const MAX_RETRY_DELAY_MS = 5 * 60_000;
/** Shortest wait, in ms: a limit with a reset that is always near must not cause too many calls. */
const MIN_LIMIT_WAIT_MS = 5_000;

/** What a wait depends on. */
export interface Waits {
  readonly config: Pick<RunConfig, 'limitRetryMs' | 'retryAttempts' | 'retryDelayMs'>;
  readonly journal: Journal;
  readonly stop: StopSwitch;
  /** Aborted when a person wants to continue now. A new signal each time. */
  readonly resume: () => AbortSignal;
}

type WaitingCall = Pick<RepeatedCall, 'iteration' | 'purpose' | 'skip'>;

/** Waits before a failed call is repeated. */
export async function waitForRetry(
  { config, journal, stop }: Pick<Waits, 'config' | 'journal' | 'stop'>,
  call: WaitingCall,
  error: { readonly kind: string; readonly message: Words },
  attempt: number,
): Promise<'time' | 'stop'> {
  const delayMs = Math.min(MAX_RETRY_DELAY_MS, config.retryDelayMs * 2 ** (attempt - 1));
  journal.append({
    type: 'call.retried',
    iteration: call.iteration,
    ...purposeOf(call),
    attempt,
    maxAttempts: config.retryAttempts,
    delayMs,
    error: { kind: error.kind, message: error.message },
  });
  const signals = [stop.endSignal, ...(call.skip ? [call.skip] : [])];
  const reason = await waitUntil(Date.now() + delayMs, ...signals);
  return reason === 'time' ? 'time' : 'stop';
}

/** Waits until the limit resets, or until a person wants to retry now, with a countdown in the journal. */
export async function waitForLimit(
  { config, journal, resume: newSignal, stop }: Waits,
  call: WaitingCall,
  error: { readonly message: Words; readonly resetsAt?: number },
): Promise<'continue' | 'stop'> {
  const known = error.resetsAt !== undefined && error.resetsAt > Date.now();
  const until =
    known && error.resetsAt
      ? Math.max(error.resetsAt, Date.now() + MIN_LIMIT_WAIT_MS)
      : Date.now() + config.limitRetryMs;
  const resume = newSignal();
  const end = [stop.requestedSignal, ...(call.skip ? [call.skip] : [])];
  const about = { iteration: call.iteration, ...purposeOf(call) };
  for (;;) {
    const remainingMs = Math.max(0, until - Date.now());
    journal.append({
      type: 'limit.waiting',
      ...about,
      until: new Date(until).toISOString(),
      remainingMs,
      known,
      message: withTexts(error.message, text => text.slice(0, 1_000)),
    });
    journal.sync();
    const reason = await waitUntil(
      Date.now() + Math.min(remainingMs, COUNTDOWN_MS),
      resume,
      ...end,
    );
    if (reason === 'time' && Date.now() < until) {
      continue;
    }
    const isOver = end.some(signal => signal.aborted);
    const isStop = stop.requested;
    const by = isStop ? 'stop' : isOver || resume.aborted ? 'person' : 'time';
    journal.append({ type: 'limit.ended', ...about, by });
    return isOver ? 'stop' : 'continue';
  }
}

function purposeOf({ purpose }: WaitingCall): { purpose?: 'plan' | 'review' } {
  return purpose === 'story' ? {} : { purpose };
}
