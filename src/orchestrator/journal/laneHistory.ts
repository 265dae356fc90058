import type { ReturnReason } from './eventCodes.ts';
import type { RunEvent } from './events.ts';

/** From one moment to another, in ms since the epoch; without `to`, it lasts. */
export interface Stretch {
  readonly from: number;
  readonly to?: number;
}

/** One agent in its lane, and how its work landed. Times in ms since the epoch. */
export interface LaneWork {
  readonly lane: number;
  readonly iteration: number;
  readonly storyId?: string;
  readonly storyTitle?: string;
  readonly from: number;
  /** Its agent is done, and the lane is free; absent while it works. */
  readonly to?: number;
  /** Its waits for a usage limit. */
  readonly limits: readonly Stretch[];
  /** Its work began to wait for the landing. */
  readonly queuedAt?: number;
  /** The commit that is to land, and the one that it lands on; the last ones, if there were several. */
  readonly candidate?: { readonly commit: string; readonly onto: string };
  /** The times in which it was checked, and landed or not. */
  readonly landings: readonly Stretch[];
  readonly landedAt?: number;
  readonly returned?: {
    readonly at: number;
    readonly reason: ReturnReason;
    readonly files: readonly string[];
  };
}

/** Work that waits to land. */
export interface QueuedWork {
  readonly work: LaneWork;
  /** It is checked now: the first one, or several on top of each other. */
  readonly isLanding: boolean;
  /** A reviewer looks at it. */
  readonly isReviewed: boolean;
}

export interface LaneHistory {
  /** In the order in which they began. */
  readonly works: readonly LaneWork[];
  /** In the order in which they land. */
  readonly queue: readonly QueuedWork[];
  /** When no loop was active, between the end of the run and its continuation. */
  readonly breaks: readonly Required<Stretch>[];
  /** Time of the last event; `undefined` before the first. */
  readonly lastAt?: number;
}

type Draft = { -readonly [K in keyof LaneWork]: LaneWork[K] } & {
  limits: Stretch[];
  landings: Stretch[];
};

/**
 * What the lanes of a run have done, and what waits to land. Without lanes there is nothing. Pure and total, like the
 * fold of the run.
 */
export function laneHistory(events: Iterable<RunEvent>): LaneHistory {
  let works = new Map<number, Draft>();
  /** Iterations, in the order in which they land. */
  let queue: number[] = [];
  /** Those that are checked together now, each on top of the one before. */
  let stack: number[] = [];
  const reviewed = new Set<number>();
  let breaks: Required<Stretch>[] = [];
  let lastAt: number | undefined;
  let lastSeq = 0;

  const unstack = (iteration: number, at: number) => {
    endLast(works.get(iteration)?.landings, at);
    reviewed.delete(iteration);
    stack = stack.filter(other => other !== iteration);
  };
  const settle = (iteration: number, at: number) => {
    unstack(iteration, at);
    queue = queue.filter(other => other !== iteration);
    const work = works.get(iteration);
    endLast(work?.limits, at);
    return work;
  };

  for (const event of events) {
    const at = Date.parse(event.at);
    if (event.seq <= lastSeq || Number.isNaN(at)) {
      continue;
    }
    lastSeq = event.seq;
    const before = lastAt;
    lastAt = at;
    switch (event.type) {
      case 'run.started':
        works = new Map();
        queue = [];
        stack = [];
        breaks = [];
        break;
      case 'run.resumed': {
        const end = before ?? at;
        if (at > end) {
          breaks.push({ from: end, to: at });
        }
        for (const work of works.values()) {
          // What the end of the loop interrupted.
          work.to ??= end;
          endLast(work.limits, end);
          unstack(work.iteration, end);
        }
        // They are taken up in the order in which they began.
        queue = [...works.keys()].filter(iteration => queue.includes(iteration));
        break;
      }
      case 'iteration.started':
        // Removed first, so that a number that starts again becomes the newest.
        settle(event.iteration, at);
        works.delete(event.iteration);
        if (event.lane !== undefined) {
          const { iteration, lane, storyId, storyTitle } = event;
          const about = { iteration, lane, storyId, storyTitle };
          works.set(iteration, { ...about, from: at, limits: [], landings: [] });
        }
        break;
      case 'limit.waiting': {
        const limits = works.get(event.iteration)?.limits;
        // It is repeated once a minute.
        if (limits !== undefined && (limits.length === 0 || limits.at(-1)?.to !== undefined)) {
          limits.push({ from: at });
        }
        break;
      }
      case 'limit.ended':
        endLast(works.get(event.iteration)?.limits, at);
        break;
      case 'work.kept': {
        const work = works.get(event.iteration);
        if (work !== undefined) {
          work.to ??= at;
        }
        break;
      }
      case 'landing.queued': {
        const work = works.get(event.iteration);
        if (work !== undefined) {
          work.to ??= at;
          work.queuedAt = at;
          queue = [...queue.filter(other => other !== event.iteration), event.iteration];
        }
        break;
      }
      case 'landing.candidate': {
        const { commit, iteration, onto } = event;
        const isOnTop = stack.some(
          other => other !== iteration && works.get(other)?.candidate?.commit === onto,
        );
        for (const other of isOnTop ? [iteration] : [...stack, iteration]) {
          unstack(other, at);
        }
        const work = works.get(iteration);
        if (work !== undefined) {
          work.candidate = { commit, onto };
          work.landings.push({ from: at });
          stack.push(iteration);
        }
        break;
      }
      case 'stack.checked':
        if (event.failed !== undefined) {
          // Each half is tried again later.
          for (const iteration of stack) {
            unstack(iteration, at);
          }
        }
        break;
      case 'gate.started':
        reviewed.delete(event.iteration);
        break;
      case 'agent.started':
        if (event.purpose === 'review') {
          reviewed.add(event.iteration);
        }
        break;
      case 'landing.landed':
      case 'landing.returned': {
        const wasLanding = stack.includes(event.iteration);
        const work = settle(event.iteration, at);
        if (work !== undefined && !wasLanding) {
          // A conflict is found before there is anything to check.
          work.landings.push({ from: at, to: at });
        }
        if (work !== undefined && event.type === 'landing.landed') {
          work.landedAt = at;
        } else if (work !== undefined && event.type === 'landing.returned') {
          work.returned = { at, reason: event.reason, files: event.files ?? [] };
        }
        break;
      }
      case 'iteration.ended': {
        const work = settle(event.iteration, at);
        if (work !== undefined) {
          work.to ??= at;
        }
        break;
      }
      default:
        // Says nothing of lanes.
        break;
    }
  }
  return {
    works: [...works.values()],
    queue: queue.flatMap(iteration => {
      const work = works.get(iteration);
      const isLanding = stack.includes(iteration);
      return work === undefined
        ? []
        : { work, isLanding, isReviewed: isLanding && reviewed.has(iteration) };
    }),
    breaks,
    lastAt,
  };
}

/** Ends a stretch that lasts. */
function endLast(stretches: Stretch[] | undefined, to: number): void {
  const last = stretches?.at(-1);
  if (stretches !== undefined && last !== undefined && last.to === undefined) {
    stretches[stretches.length - 1] = { ...last, to };
  }
}
