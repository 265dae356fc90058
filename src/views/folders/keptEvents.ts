import { isChatter } from '../../orchestrator/journal/chatter.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';

/** Maximum number of events that are kept; above it, agents' older messages and tool calls are dropped. */
const MAX_EVENTS = 20_000;

/** The events of one run, for views that open later. */
export class KeptEvents {
  readonly runId: string;
  private readonly max: number;
  private kept: RunEvent[] = [];
  /** Number of events above which some are dropped. */
  private limit: number;
  private lastDropped = 0;

  constructor(runId: string, max = MAX_EVENTS) {
    this.runId = runId;
    this.max = max;
    this.limit = max;
  }

  get all(): readonly RunEvent[] {
    return this.kept;
  }

  /** `seq` of the last event that was dropped; later ones are complete. 0 if none was. */
  get droppedUpTo(): number {
    return this.lastDropped;
  }

  add(events: readonly RunEvent[]): void {
    for (const event of events) {
      this.kept.push(event);
    }
    if (this.kept.length > this.limit) {
      this.shorten();
    }
  }

  /** Keeps the newer half, and of the older one what happened: chatter alone is dropped. */
  private shorten(): void {
    const old = this.kept.length - this.max / 2;
    const denied = new Set<string>();
    const kept: RunEvent[] = [];
    for (const [index, event] of this.kept.entries()) {
      if (index >= old || !isChatter(event) || isFirstDenial(event, denied)) {
        kept.push(event);
      } else {
        this.lastDropped = event.seq;
      }
    }
    this.kept = kept;
    // What happened may itself be that much; then not every further event is a reason to look at all of them.
    this.limit = Math.max(this.max, kept.length + this.max / 2);
  }
}

/** A tool that was not allowed is offered as long as the run is shown, and told once. */
function isFirstDenial(event: RunEvent, denied: Set<string>): boolean {
  if (event.type !== 'agent.denied' || denied.has(event.tool)) {
    return false;
  }
  denied.add(event.tool);
  return true;
}
