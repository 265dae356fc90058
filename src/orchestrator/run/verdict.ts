import type { RunOutcome } from '../journal/eventCodes.ts';

/** What an iteration said or suffered that ends the run. */
export type Verdict =
  /** The agent's `complete` promise, with green checks; asked only where there are no stories. */
  | { readonly kind: 'complete' }
  /** Nothing is left to pay with for what must still be looked at. */
  | { readonly kind: 'budget' }
  /** Nothing that another try can mend: billing, log-in, agent not startable. */
  | { readonly kind: 'fatal'; readonly message: string }
  /** The work is not on the run's branch, so nothing of it counts as done. */
  | { readonly kind: 'astray'; readonly message: string };

/** How a run ends. */
export interface RunEnd {
  readonly kind: 'end';
  readonly outcome: RunOutcome;
  readonly detail?: string;
  /** Ids of the stories that are left, of which none is ready. */
  readonly open?: readonly string[];
  /** Ids of open stories that wait for each other, the first one again at the end. */
  readonly circle?: readonly string[];
}
