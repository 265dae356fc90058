import { type RunState, storyNotes, storyRecord } from '../journal/runState.ts';
import type { RunConfig } from '../settings/config.ts';
import type { Story } from '../stories/story.ts';

/** The state that determines which stories still get an agent. */
interface Turn {
  readonly state: RunState;
  /** As last read; absent in free-form and plan mode. */
  readonly stories?: readonly Story[];
  readonly config: Pick<RunConfig, 'failThreshold'>;
}

/** A refused claim does not count as done, and what has landed does, whatever the file says. */
export function asProven(story: Story, state: RunState): Story {
  const { landed, refused } = storyRecord(state, story.id);
  const done = story.done ? refused !== true : landed === true;
  return done === story.done ? story : { ...story, done };
}

/**
 * Ids of stories that get no more iterations in this run, or not now: skipped, blocked, paused, settled by a
 * person, or failed too often.
 */
export function leftAlone({ config, state, stories }: Turn): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const story of stories ?? []) {
    const record = storyRecord(state, story.id);
    if (
      record.skipped !== undefined ||
      record.blocked !== undefined ||
      record.paused === true ||
      storyNotes(state, story.id).settling !== undefined ||
      record.failures >= config.failThreshold
    ) {
      ids.add(story.id);
    }
  }
  return ids;
}

/**
 * Whether a story may still get an agent in this run: it exists, is not verified as done, and is not left alone.
 * Dependencies and order are only checked between two iterations.
 */
export function isStillToDo(storyId: string, situation: Turn): boolean {
  const named = (situation.stories ?? []).filter(({ id }) => id === storyId);
  return (
    named.some(story => !asProven(story, situation.state).done) &&
    !leftAlone(situation).has(storyId)
  );
}
