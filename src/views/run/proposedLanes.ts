import { readyStories } from '../../orchestrator/stories/select.ts';
import type { Story } from '../../orchestrator/stories/story.ts';

/** Enough to be worth it; more use up an account quickly, and wait for each other's checks. */
const MAX_PROPOSED = 4;

/**
 * How many agents to propose: as many as have a story to work on now, within reason. Two stories of one chain of
 * dependencies never count as two. Pure.
 */
export function proposedLanes(stories: readonly Story[]): number {
  return Math.max(1, Math.min(readyStories(stories).length, MAX_PROPOSED));
}
