import type { RunEvent } from '../../orchestrator/journal/events.ts';

/** How a claim was judged in one iteration, and what the iteration cost. */
export interface IterationProofs {
  /** The checks of the gate, in order; a running one has no `ended`. */
  readonly checks: readonly {
    readonly command: string;
    readonly ended?: { readonly ok: boolean; readonly timedOut: boolean; readonly ms: number };
  }[];
  readonly approved?: boolean;
  /** All tokens, input and output. */
  readonly tokens?: number;
  readonly costEstimated?: true;
  /** Its agent was started, so there is a transcript. */
  readonly hasAgent?: true;
}

const NONE: IterationProofs = { checks: [] };

/** Collects the proofs by iteration. Pure and total, like the fold of the run itself. */
export function iterationProofs(events: readonly RunEvent[]): ReadonlyMap<number, IterationProofs> {
  const found = new Map<number, IterationProofs>();
  const change = (iteration: number, more: Partial<IterationProofs>) => {
    found.set(iteration, { ...(found.get(iteration) ?? NONE), ...more });
  };
  const checksOf = (iteration: number) => found.get(iteration)?.checks ?? [];
  for (const event of events) {
    switch (event.type) {
      case 'run.started':
        found.clear();
        break;
      case 'iteration.started':
        found.set(event.iteration, NONE);
        break;
      case 'agent.started':
        change(event.iteration, { hasAgent: true });
        break;
      case 'gate.started':
        // If a claim is checked again, only the last time counts.
        change(event.iteration, { checks: [] });
        break;
      case 'check.started':
        change(event.iteration, {
          checks: [...checksOf(event.iteration), { command: event.command }],
        });
        break;
      case 'check.ended': {
        const { command, ok, timedOut, durationMs: ms } = event;
        const checks = checksOf(event.iteration);
        const ended = { command, ended: { ok, timedOut, ms } };
        // Journals of 0.1 contain the ends of all checks after the last check.
        const running = checks.findIndex(
          check => check.ended === undefined && check.command === command,
        );
        change(event.iteration, {
          checks: running === -1 ? [...checks, ended] : checks.with(running, ended),
        });
        break;
      }
      case 'review.ended':
        change(event.iteration, { approved: event.approved });
        break;
      case 'iteration.ended': {
        const { costEstimated, usage } = event;
        change(event.iteration, {
          costEstimated: costEstimated === true ? costEstimated : undefined,
          tokens: usage
            ? usage.input + usage.output + usage.cacheRead + usage.cacheWrite
            : undefined,
        });
        break;
      }
      default:
        // The rows contain the rest.
        break;
    }
  }
  return found;
}
