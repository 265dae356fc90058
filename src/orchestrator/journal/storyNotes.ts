import type { Words } from '../../base/say.ts';
import type { KeptWork } from './currentIteration.ts';
import type { IterationOutcome } from './eventCodes.ts';
import type { RunEvent } from './events.ts';

/** The output of the check that refused the claim. */
export interface FailedCheck {
  readonly iteration: number;
  readonly command: string;
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly output: string;
  /** Why it could not be started. */
  readonly problem?: Words;
}

/** The error of a failed call of an iteration. */
export interface CallError {
  readonly iteration: number;
  readonly kind: string;
  readonly message: Words;
  /** How the loop reacted in the same iteration. */
  readonly recoveryAttempt?: string;
}

/** A question of an agent to a person. */
export interface Question {
  readonly iteration: number;
  readonly message: string;
  readonly storyId?: string;
}

/** Work that conflicts with what had landed. */
export interface ConflictWork extends KeptWork {
  /** The commit that it should have landed on. */
  readonly onto: string;
  /** Relative to the repository's root. */
  readonly files: readonly string[];
}

/** What a story's iterations leave for its next one. */
export interface StoryNotes {
  /** The last iteration of this story that has ended. */
  readonly lastIteration?: { readonly number: number; readonly outcome: IterationOutcome };
  /** The last refusal by the gate, unless a pass followed. */
  readonly failedCheck?: FailedCheck;
  /** The last refusal by the reviewer, unless an approval followed. */
  readonly review?: { readonly iteration: number; readonly objections: readonly Words[] };
  /** The last changes that one of its iterations made without permission. */
  readonly guard?: {
    readonly iteration: number;
    readonly changes: Extract<RunEvent, { type: 'guard.found' }>['changes'];
    readonly restored: boolean;
    /** What the agent did with the id of its story, so that the guard found the story removed. */
    readonly idShared?: Words;
  };
  /** What its iteration wrote into the story file that is not read as it was meant. */
  readonly misread?: { readonly iteration: number; readonly details: readonly Words[] };
  /** The newest unanswered question. */
  readonly question?: Question;
  /** The last promise of completion that contradicted the files. */
  readonly refusedPromise?: { readonly iteration: number; readonly message: string };
  readonly lastError?: CallError;
  /** Why its last work did not land, apart from conflicts and checks: the warning that says so. */
  readonly withheld?: { readonly iteration: number; readonly code: string; readonly detail: Words };
  /** Commits that an iteration made on another branch, which the branch of the run lacks. */
  readonly elsewhere?: {
    readonly iteration: number;
    /** '' for a detached HEAD. */
    readonly branch: string;
    /** Newest first. */
    readonly hashes: readonly string[];
  };
  /** Its newest work that has not landed; the next agent continues with it. */
  readonly kept?: KeptWork;
  /** Its newest work conflicted with what had landed meanwhile; the next agent starts without it. */
  readonly conflict?: ConflictWork;
  /** A person settles this conflict by hand; meanwhile no agent starts. */
  readonly settling?: ConflictWork;
}

export const NO_NOTES: StoryNotes = {};
