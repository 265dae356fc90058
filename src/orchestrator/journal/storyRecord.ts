import { assertNever } from '../../base/assertNever.ts';
import type { IterationOutcome } from './eventCodes.ts';
import type { TickUndo } from './eventSchemas/tickUndo.ts';
import type { RunEvent } from './events.ts';

/** What the journal knows about a story's status beyond the story file. */
export interface StoryRecord {
  /** Who last changed its status; only the file says whether it is done. */
  readonly doneBy?: 'agent' | 'hand' | 'outside';
  /** The checks of the gate passed for the claim. */
  readonly verified?: true;
  /** The reviewer approved the claim. */
  readonly approved?: true;
  /** The gate or the reviewer refused the claim; the file may still say that the story is done. */
  readonly refused?: true;
  /** Its work has landed: it is done, also if its file could not be ticked. */
  readonly landed?: true;
  /** It could not be ticked in its file. */
  readonly tickMissing?: true;
  /** The title it had when an agent last began to work on it: another story may get its id later. */
  readonly title?: string;
  /** Consecutive iterations without progress on it; those that ended with a question do not count. */
  readonly stuckFor: number;
  /**
   * Postponed after the other stories because it made no progress: the `seq` of that event, and `stuckFor` at that
   * time.
   */
  readonly later?: { readonly since: number; readonly stuckFor: number };
  /** Consecutive iterations with a failed call or a refused claim. */
  readonly failures: number;
  /** Consecutive iterations that made progress without claiming that the story is done. */
  readonly unclaimed?: number;
  readonly blocked?: string;
  /** Skipped in this run, and by whom. */
  readonly skipped?: 'person' | 'stuck';
  /** A person has given it another chance, and no iteration of it has ended since. */
  readonly reset?: true;
  /** What the last tick of a person replaced in the file. */
  readonly was?: TickUndo;
  /** A person wants no further agent for it now. */
  readonly paused?: true;
  readonly costUsd: number;
  readonly iterations: number;
}

/** From this many iterations on, it is worth a word that none of them claimed the story: one story may take several. */
export const MANY_UNCLAIMED = 2;

export const NEW_STORY_RECORD: StoryRecord = {
  stuckFor: 0,
  failures: 0,
  iterations: 0,
  costUsd: 0,
};

/** The record after one more iteration, if its outcome says something about the story. */
export function afterIteration(
  record: StoryRecord,
  outcome: IterationOutcome,
  progress: boolean,
): StoryRecord {
  // Who asks is not stuck: the answer may be all that is missing.
  const missed = outcome === 'needsHuman' ? 0 : 1;
  const counted = {
    ...(progress ? notStuck(record) : { ...record, stuckFor: record.stuckFor + missed }),
    iterations: record.iterations + 1,
    unclaimed: outcome === 'progress' ? (record.unclaimed ?? 0) + 1 : undefined,
  };
  switch (outcome) {
    case 'storyDone':
    case 'progress':
    case 'noProgress':
    case 'blocked':
    case 'needsHuman':
      return { ...counted, failures: 0 };
    case 'failed':
    case 'rejected':
      return { ...counted, failures: record.failures + 1 };
    case 'stopped':
    case 'skipped':
      // A person interrupted it, which says nothing about the story.
      return record;
    default:
      return assertNever(outcome);
  }
}

/** A person's change is a new start for the story, whether ticked or unticked. */
export function newStart(record: StoryRecord): StoryRecord {
  return {
    ...withoutProof(anotherChance(record)),
    skipped: undefined,
    reset: undefined,
    unclaimed: undefined,
  };
}

/** When a run continues, old failures no longer count against the story; what was done for it still counts. */
export function anotherChance(record: StoryRecord): StoryRecord {
  return { ...notStuck(record), blocked: undefined, failures: 0, paused: undefined };
}

/** The story makes progress, or gets a new chance to. */
export function notStuck(record: StoryRecord): StoryRecord {
  return { ...record, later: undefined, stuckFor: 0 };
}

/** The gate or the reviewer approved, which overrides an earlier refusal. */
export function notRefused(record: StoryRecord): StoryRecord {
  return { ...record, refused: undefined };
}

/** The story's status in the file changed: by an agent, by somebody else, or by the loop, which reset it. */
export function changed(
  before: StoryRecord,
  { by, done }: Extract<RunEvent, { type: 'story.changed' }>,
): StoryRecord {
  const doneBy = by === 'agent' ? 'agent' : 'outside';
  return { ...withoutProof(before), doneBy: done ? doneBy : undefined };
}

/** What was known of how it was done no longer holds. */
export function withoutProof(record: StoryRecord): StoryRecord {
  return {
    ...record,
    doneBy: undefined,
    verified: undefined,
    approved: undefined,
    refused: undefined,
    landed: undefined,
    tickMissing: undefined,
  };
}
