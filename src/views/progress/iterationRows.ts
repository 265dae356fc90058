import type { IterationOutcome, RunEvent } from '../../orchestrator/run/events.ts';

/** One iteration as the journal tells it. */
export interface IterationRow {
  readonly number: number;
  readonly storyId?: string;
  readonly storyTitle?: string;
  /** `interrupted`: it was under way when the loop was killed. */
  readonly outcome: IterationOutcome | 'running' | 'interrupted';
  readonly startedAt: string;
  /** Absent until it has ended. */
  readonly durationMs?: number;
  readonly costUsd?: number;
  /** In the order they were made. */
  readonly commits: readonly { readonly hash: string; readonly subject: string }[];
  readonly reason?: IterationReason;
}

/** Why it came out as it did; codes and data, no sentences. */
export type IterationReason =
  | { readonly kind: 'hardLimit' | 'idleLimit' }
  /** In the system's words: the agent did not start. */
  | { readonly kind: 'notStarted'; readonly message: string }
  /** The agent's call failed. */
  | { readonly kind: 'error'; readonly message: string; readonly exit?: number | string }
  /** In the agent's words. */
  | { readonly kind: 'blocked' | 'needsHuman'; readonly message: string }
  /** It promised to be complete, and the files said otherwise. */
  | { readonly kind: 'refusedPromise' };

/**
 * Tells the iterations of a run, oldest first. Pure and total, like the fold of the run itself: events
 * that are repeated or belong to no iteration change nothing.
 * @param alive the loop's process lives
 */
export function iterationRows(
  events: readonly RunEvent[],
  { alive }: { readonly alive: boolean },
): readonly IterationRow[] {
  let rows = new Map<number, IterationRow>();
  let lastSeq = 0;
  let ended = false;
  const change = (number: number, fields: (row: IterationRow) => Partial<IterationRow>) => {
    const row = rows.get(number);
    if (row) {
      rows.set(number, { ...row, ...fields(row) });
    }
  };
  for (const event of events) {
    if (event.seq <= lastSeq) {
      continue;
    }
    lastSeq = event.seq;
    switch (event.type) {
      case 'run.started':
        rows = new Map();
        ended = false;
        break;
      case 'iteration.started':
        // Removed first: a number that starts again is the newest.
        rows.delete(event.iteration);
        rows.set(event.iteration, {
          number: event.iteration,
          ...(event.storyId !== undefined && { storyId: event.storyId }),
          ...(event.storyTitle !== undefined && { storyTitle: event.storyTitle }),
          outcome: 'running',
          startedAt: event.at,
          commits: [],
        });
        break;
      case 'agent.ended': {
        const reason = reasonOf(event);
        change(event.iteration, () => (reason ? { reason } : {}));
        break;
      }
      case 'commit.recorded': {
        const { hash, subject } = event;
        change(event.iteration, row => ({ commits: [...row.commits, { hash, subject }] }));
        break;
      }
      case 'promise.seen': {
        const { signal, message, accepted } = event;
        if (signal !== 'complete') {
          change(event.iteration, () => ({ reason: { kind: signal, message } }));
        } else if (!accepted) {
          change(event.iteration, () => ({ reason: { kind: 'refusedPromise' } }));
        }
        break;
      }
      case 'iteration.ended': {
        const { outcome, durationMs, costUsd } = event;
        change(event.iteration, () => ({
          outcome,
          durationMs,
          ...(costUsd !== undefined && { costUsd }),
        }));
        break;
      }
      case 'run.ended':
        ended = true;
        break;
      default:
        // The agent's work is not told iteration by iteration.
        break;
    }
  }
  const found = [...rows.values()];
  // Only the newest can be under way; one before it that has no end was cut off, whoever lives now.
  return found.map((row, index) =>
    row.outcome === 'running' && (ended || !alive || index < found.length - 1)
      ? { ...row, outcome: 'interrupted' }
      : row,
  );
}

function reasonOf({
  reason,
  error,
  exitCode,
  signal,
}: Extract<RunEvent, { type: 'agent.ended' }>): IterationReason | undefined {
  switch (reason) {
    case 'hardLimit':
    case 'idleLimit':
      return { kind: reason };
    case 'notStarted':
      return { kind: reason, message: error?.message ?? '' };
    default: {
      const exit = exitCode === 0 ? undefined : (exitCode ?? signal);
      return (
        error && {
          kind: 'error',
          message: error.message,
          ...(exit !== undefined && { exit }),
        }
      );
    }
  }
}
