/** Maximum delay of a timer, in ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits until a point in time or for one of the signals, whichever comes first.
 * @param at ms since the epoch; the clock is read again after a long sleep of the machine
 */
export async function waitUntil(
  at: number,
  ...signals: readonly AbortSignal[]
): Promise<'time' | 'signal'> {
  while (!signals.some(({ aborted }) => aborted)) {
    const ms = at - Date.now();
    if (ms <= 0) {
      return 'time';
    }
    await sleep(Math.min(ms, MAX_TIMER_MS), signals);
  }
  return 'signal';
}

/** Keeps the process alive. */
function sleep(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise(resolve => {
    const listeners = new AbortController();
    const done = () => {
      clearTimeout(timer);
      listeners.abort();
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const signal of signals) {
      signal.addEventListener('abort', done, { once: true, signal: listeners.signal });
    }
  });
}
