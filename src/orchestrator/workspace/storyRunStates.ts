import { type RunState, storyNotes } from '../journal/runState.ts';
import type { StoryRecord } from '../journal/storyRecord.ts';
import type { Story } from '../stories/story.ts';
import type { RunPhase } from './runPhase.ts';

/** What runs know of a story beyond its file; one word each, since programs read them. */
export type StoryRunState =
  | 'running'
  /** Its agent says so; no check and no reviewer has confirmed it. */
  | 'claimed'
  /** The checks were green on the claim. */
  | 'verified'
  /** The reviewer agreed. */
  | 'approved'
  /** Its last call failed, or its last claim was refused. */
  | 'failed'
  /** Its agent said that it cannot go on, or has asked a question that nobody has answered. */
  | 'blocked'
  /** A run leaves it alone, by a person's wish or since it was stuck. */
  | 'skipped';

/**
 * Tells what runs know of a story, the file first: a story that is done there has not failed. Pure.
 * @param phase of the newest run
 * @param states all runs of the workspace, oldest first; the newest one that knows the story tells of it
 * @returns `undefined` when they know no more than its file
 */
export function storyRunState(
  story: Story,
  phase: RunPhase,
  states: readonly RunState[],
): StoryRunState | undefined {
  const newest = states.at(-1);
  const lives = phase === 'running' || phase === 'stopping';
  if (lives && newest?.running.some(({ storyId }) => storyId === story.id)) {
    return 'running';
  }
  const record = states
    .findLast(state => state.storyRecords.has(story.id))
    ?.storyRecords.get(story.id);
  if (story.done) {
    return record && doneState(record);
  }
  if (newest && storyNotes(newest, story.id).question !== undefined) {
    return 'blocked';
  }
  return record && openState(record);
}

/** A person's tick counts most, then whoever looked last: reviewer, checks, the agent itself. */
function doneState({ approved, doneBy, verified }: StoryRecord): StoryRunState | undefined {
  if (doneBy === 'hand') {
    return undefined;
  }
  return approved ? 'approved' : verified ? 'verified' : doneBy === 'agent' ? 'claimed' : undefined;
}

function openState({ blocked, failures, skipped }: StoryRecord): StoryRunState | undefined {
  if (skipped !== undefined) {
    return 'skipped';
  }
  if (blocked !== undefined) {
    return 'blocked';
  }
  return failures > 0 ? 'failed' : undefined;
}
