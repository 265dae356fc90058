import type { IterationOutcome } from './eventCodes.ts';
import type { RunEvent } from './events.ts';

/** The output of the check that refused a claim. */
export interface FailedCheck {
  readonly iteration: number;
  readonly command: string;
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly output: string;
}

/** A call of an iteration failed. */
export interface CallError {
  readonly iteration: number;
  readonly kind: string;
  readonly message: string;
  /** What the loop did about it in the same iteration. */
  readonly recoveryAttempt?: string;
}

/** What an agent asked a person. */
export interface Question {
  readonly iteration: number;
  readonly message: string;
  readonly storyId?: string;
}

/** What the iterations of a story have left for its next one. */
export interface StoryNotes {
  /** Its last iteration that has ended. */
  readonly lastIteration?: { readonly number: number; readonly outcome: IterationOutcome };
  /** The last refusal of the gate that no green one has followed. */
  readonly failedCheck?: FailedCheck;
  /** The last refusal of the reviewer that no approval has followed. */
  readonly review?: { readonly iteration: number; readonly objections: readonly string[] };
  /** What its last iteration that did so changed without being allowed to. */
  readonly guard?: {
    readonly iteration: number;
    readonly changes: Extract<RunEvent, { type: 'guard.found' }>['changes'];
    readonly restored: boolean;
  };
  /** Its newest question that nobody has answered yet. */
  readonly question?: Question;
  /** The last complete promise that the files contradicted. */
  readonly refusedPromise?: { readonly iteration: number; readonly message: string };
  readonly lastError?: CallError;
}

export const NO_NOTES: StoryNotes = {};
