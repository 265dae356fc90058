import type { Message, Words } from '../../base/say.ts';
import type { RunOutcome } from '../journal/eventCodes.ts';
import type { WaitsAside } from '../stories/asideReason.ts';
import type { WaitsUnknown } from '../stories/unknownNeeds.ts';

/** A result of an iteration that ends the run. */
export type Verdict =
  /** The agent's `complete` promise, with passed checks; only used if there are no stories. */
  | { readonly kind: 'complete' }
  /** A budget is used up before everything could be judged; a message if it is the iteration's, not the run's. */
  | { readonly kind: 'budget'; readonly message?: Message }
  /** An error that a retry cannot fix: billing, login, agent cannot be started. */
  | { readonly kind: 'fatal'; readonly message: Words }
  /** The work is not on the run's branch, so nothing of it counts as done. */
  | { readonly kind: 'astray'; readonly message: Words };

/** How a run ends. */
export interface RunEnd {
  readonly kind: 'end';
  readonly outcome: RunOutcome;
  readonly detail?: Words;
  /** Ids of the remaining stories, none of which is ready. */
  readonly open?: readonly string[];
  /** Ids of open stories that form a cycle; the first one is repeated at the end. */
  readonly circle?: readonly string[];
  /** How many stories the file has put aside; absent if there are none. */
  readonly putAside?: number | undefined;
  /** Open stories that wait for one that is put aside; absent if there are none. */
  readonly aside?: readonly WaitsAside[];
  /** Open stories that wait for one that the file does not have; absent if there are none. */
  readonly unknown?: readonly WaitsUnknown[];
  /** Open stories that were removed from the file; absent if there are none. */
  readonly gone?: readonly string[];
}
