import type { Words } from '../../base/say.ts';
import type { IterationOutcome, ReturnReason } from './eventCodes.ts';
import type { RunEvent } from './events.ts';

/** One iteration, as recorded in the journal. */
export interface IterationRow {
  readonly number: number;
  readonly storyId?: string;
  readonly storyTitle?: string;
  /** `interrupted`: it was running when the loop was killed. */
  readonly outcome: IterationOutcome | 'running' | 'interrupted';
  readonly startedAt: string;
  /** Absent until the iteration has ended. */
  readonly durationMs?: number;
  readonly costUsd?: number;
  /** A part of the cost is an estimate. */
  readonly costEstimated?: true;
  /** In the order in which they were made. */
  readonly commits: readonly { readonly hash: string; readonly subject: string }[];
  readonly reason?: IterationReason;
  /** Its agent has finished, and its work waits to land or is landing. */
  readonly isLanding?: true;
  /** A person has settled its conflict by hand. */
  readonly settled?: true;
  /** Its work did not land. */
  readonly returned?: ReturnReason;
  /**
   * What is to land, or did not, and the commit that it is compared with; absent if it has landed: then it is among the
   * commits.
   */
  readonly landing?: { readonly onto: string; readonly commit: string };
}

/** The reason for the outcome; codes and data, no sentences. */
export type IterationReason =
  | { readonly kind: 'hardLimit' | 'idleLimit' }
  /** The agent did not start; this is the system's message. */
  | { readonly kind: 'notStarted'; readonly message: Words }
  /** The agent's call failed. */
  | { readonly kind: 'error'; readonly message: Words; readonly exit?: number | string }
  /** The agent's words. */
  | { readonly kind: 'blocked' | 'needsHuman'; readonly message: string }
  /** It promised completion, but the files contradicted it. */
  | { readonly kind: 'refusedPromise' }
  /** A check refused its claim. */
  | {
      readonly kind: 'failedCheck';
      readonly command: string;
      readonly exitCode?: number;
      readonly timedOut: boolean;
    }
  /** The reviewer did not approve its claim. */
  | { readonly kind: 'objections'; readonly objections: readonly Words[] }
  /** It and what has landed meanwhile change the same lines of these files. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** It changed stories that were not assigned to it. */
  | { readonly kind: 'guard'; readonly restored: boolean };

/**
 * Lists the iterations of a run, oldest first. Pure and total, like the fold of the run: events that are repeated
 * or belong to no iteration change nothing.
 * @param alive the loop's process is running
 */
export function iterationRows(
  events: readonly RunEvent[],
  { alive }: { readonly alive: boolean },
): readonly IterationRow[] {
  let rows = new Map<number, IterationRow>();
  let lastSeq = 0;
  let ended = false;
  let isolated = false;
  const change = (number: number, changed: (row: IterationRow) => IterationRow) => {
    const row = rows.get(number);
    if (row) {
      rows.set(number, changed(row));
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
        isolated = event.isolated === true;
        break;
      case 'iteration.started':
        // Removed first, so that a number that starts again becomes the newest row.
        rows.delete(event.iteration);
        rows.set(event.iteration, {
          number: event.iteration,
          storyId: event.storyId,
          storyTitle: event.storyTitle,
          outcome: 'running',
          startedAt: event.at,
          commits: [],
        });
        break;
      case 'run.resumed':
        ended = false;
        isolated = event.isolated === true;
        break;
      case 'agent.ended': {
        // A reviewer's end is not the end of the agent's work.
        if (event.purpose === undefined || event.purpose === 'story') {
          const reason = reasonOf(event);
          change(event.iteration, row => ({ ...row, reason }));
        }
        break;
      }
      case 'guard.found':
        change(event.iteration, row => ({
          ...row,
          reason: { kind: 'guard', restored: event.restored },
        }));
        break;
      case 'check.ended':
        if (!event.ok) {
          const { command, exitCode, timedOut } = event;
          change(event.iteration, row => ({
            ...row,
            reason: {
              kind: 'failedCheck',
              command,
              exitCode,
              timedOut,
            },
          }));
        }
        break;
      case 'review.ended':
        if (!event.approved) {
          const { objections } = event;
          change(event.iteration, row => ({ ...row, reason: { kind: 'objections', objections } }));
        }
        break;
      case 'landing.queued': {
        const { base: onto, by, head: commit } = event;
        const landing = { isLanding: true, landing: { onto, commit } } as const;
        change(event.iteration, row =>
          by === 'person'
            ? {
                ...row,
                ...landing,
                ...{ outcome: 'running', settled: true },
                ...{ reason: undefined, returned: undefined },
              }
            : { ...row, ...landing },
        );
        break;
      }
      case 'landing.candidate': {
        const { commit, onto } = event;
        if (commit !== onto) {
          change(event.iteration, row => ({ ...row, landing: { onto, commit } }));
        }
        break;
      }
      case 'landing.landed':
        change(event.iteration, ({ landing: _isOnBranch, ...row }) => row);
        break;
      case 'landing.returned': {
        const { files = [], reason: returned } = event;
        change(event.iteration, row => ({
          ...row,
          returned,
          reason: returned === 'conflict' ? { kind: 'conflict', files } : row.reason,
        }));
        break;
      }
      case 'commit.recorded': {
        const { hash, subject } = event;
        change(event.iteration, row => ({
          ...row,
          commits: [...row.commits, { hash, subject }],
        }));
        break;
      }
      case 'promise.seen': {
        const { signal, message, accepted } = event;
        if (signal !== 'complete') {
          change(event.iteration, row => ({ ...row, reason: { kind: signal, message } }));
        } else if (!accepted) {
          // This event comes last. If a check, the reviewer or the guard objected, that is why the stories are
          // open.
          change(event.iteration, row =>
            row.reason === undefined ? { ...row, reason: { kind: 'refusedPromise' } } : row,
          );
        }
        break;
      }
      case 'iteration.ended': {
        const { outcome, durationMs, costEstimated, costUsd } = event;
        change(event.iteration, ({ isLanding: _isOver, ...row }) => ({
          ...row,
          outcome,
          // What a person has settled ends a second time. 0: nobody knows how long it worked.
          durationMs: row.durationMs ?? (durationMs > 0 ? durationMs : undefined),
          costUsd: costUsd ?? row.costUsd,
          costEstimated: costEstimated || row.costEstimated,
        }));
        break;
      }
      case 'run.ended':
        ended = true;
        break;
      default:
        // Events without a row of their own.
        break;
    }
  }
  const begun = [...rows.values()];
  // With lanes, iterations do not begin in the order of their numbers.
  const found = isolated ? begun.sort((a, b) => a.number - b.number) : begun;
  // Without lanes, only the newest iteration can be running. An earlier one without an end was interrupted, even if
  // the loop is alive now.
  return found.map((row, index) =>
    row.outcome === 'running' && (ended || !alive || (!isolated && index < found.length - 1))
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
          exit,
        }
      );
    }
  }
}
