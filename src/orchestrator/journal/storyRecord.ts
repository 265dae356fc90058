import { assertNever } from '../../base/assertNever.ts';
import type { IterationOutcome } from './eventCodes.ts';
import type { RunEvent } from './events.ts';

/** Which kind of done (or not yet done) the journal knows of a story, beyond what its file says. */
export interface StoryRecord {
  /** Who made it what it is now; the file alone says whether it is done. */
  readonly doneBy?: 'agent' | 'hand' | 'outside';
  /** The checks of the gate were green on the claim. */
  readonly verified?: true;
  /** The reviewer approved the claim. */
  readonly approved?: true;
  /** The gate or the reviewer said no to the claim, and its file may still say that it is done. */
  readonly refused?: true;
  /** Iterations in a row without progress on it. */
  readonly stuckFor: number;
  /** The others have their turn first, since it did not get on: the event that said so, and `stuckFor` then. */
  readonly later?: { readonly since: number; readonly stuckFor: number };
  /** Iterations in a row whose call failed, or whose claim was refused. */
  readonly failures: number;
  readonly blocked?: string;
  /** Left alone in this run, and by whom. */
  readonly skipped?: 'person' | 'stuck';
  readonly costUsd: number;
  readonly iterations: number;
}

export const NEW_STORY_RECORD: StoryRecord = {
  stuckFor: 0,
  failures: 0,
  iterations: 0,
  costUsd: 0,
};

/** Its record with one more iteration, whose outcome may say something about the story. */
export function afterIteration(
  record: StoryRecord,
  outcome: IterationOutcome,
  progress: boolean,
): StoryRecord {
  const counted = {
    ...(progress ? notStuck(record) : { ...record, stuckFor: record.stuckFor + 1 }),
    iterations: record.iterations + 1,
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
      // A person cut it off; that says nothing about the story.
      return record;
    default:
      return assertNever(outcome);
  }
}

/** A person's touch is a new start for the story, whichever way it went. */
export function newStart({
  doneBy: _doneBy,
  verified: _verified,
  approved: _approved,
  refused: _refused,
  blocked: _blocked,
  skipped: _skipped,
  ...record
}: StoryRecord): StoryRecord {
  return { ...notStuck(record), failures: 0 };
}

/** What was settled between two ends of a run no longer counts against the story; what was done for it does. */
export function anotherChance({ blocked: _blocked, ...record }: StoryRecord): StoryRecord {
  return { ...notStuck(record), failures: 0 };
}

/** It gets on, or may be taken to do so from here. */
export function notStuck({ later: _later, ...record }: StoryRecord): StoryRecord {
  return { ...record, stuckFor: 0 };
}

/** The gate or the reviewer says yes, whatever one said before. */
export function notRefused({ refused: _refused, ...record }: StoryRecord): StoryRecord {
  return record;
}

/** Its file says something else of it now; by an agent, by somebody else, or by the loop, which put it back. */
export function changed(
  before: StoryRecord,
  { by, done }: Extract<RunEvent, { type: 'story.changed' }>,
): StoryRecord {
  const {
    doneBy: _doneBy,
    verified: _verified,
    approved: _approved,
    refused: _refused,
    ...record
  } = before;
  return done ? { ...record, doneBy: by === 'agent' ? 'agent' : 'outside' } : record;
}
