import { type RunState, storyNotes } from '../journal/runState.ts';
import type { StoryRecord } from '../journal/storyRecord.ts';
import type { Story } from '../stories/story.ts';
import type { RunPhase } from './runPhase.ts';

/** What runs know about a story beyond its file; one word each, because programs read them. */
export type StoryRunState =
  | 'running'
  /** Its agent says that it is done; no check and no reviewer has confirmed it. */
  | 'claimed'
  /** The checks passed for the claim. */
  | 'verified'
  /** The reviewer approved. */
  | 'approved'
  /** Its last call failed, or its last claim was refused. */
  | 'failed'
  /** Its agent reported that it cannot continue, or asked a question that is still open. */
  | 'blocked'
  /** A run skips it, because a person asked for it or it was stuck. */
  | 'skipped';

/**
 * What runs know about a story. The file takes precedence: a story that is done there has not failed. Pure.
 * @param phase of the newest run
 * @param states of all runs of the workspace, oldest first; the newest run that knows the story is used
 * @returns `undefined` if they know no more than the file
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

/** A person's tick takes precedence, then the last judge: reviewer, checks, the agent itself. */
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
