import { readyStories } from '../../orchestrator/stories/select.ts';
import type { Story } from '../../orchestrator/stories/story.ts';
import type { StoryState } from '../../presentation/storyState.ts';

/** What a person knows when they choose a number of agents. */
export interface LaneSituation {
  /** Stories that can be worked on at the same time now. */
  readonly ready: number;
  readonly proposed: number;
  /** The number that was chosen last. */
  readonly last?: number | undefined;
  /** The number that the active run uses now. */
  readonly inUse?: number;
  /** The smallest number to choose from. */
  readonly from: number;
}

/** Numbers of agents to choose from; every number between them can be set. */
const CHOICES: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16];

/** Enough to be worth it; more use up an account quickly, and wait for each other's checks. */
const MAX_PROPOSED = 4;

/** A run starts no agent for a story in such a state, as long as the person does nothing. */
const LEFT_ALONE: ReadonlySet<StoryState['kind']> = new Set([
  'needsYou',
  'paused',
  'skipped',
  'landing',
  'queued',
]);

/**
 * How many stories can be worked on at the same time now: those that wait for a person or have only to land do not
 * count, those that have an agent do. Two stories of one chain of dependencies never count as two. Pure.
 * @param states by story; one that is absent has no trouble
 */
export function readyCount(
  stories: readonly Story[],
  states: ReadonlyMap<Story, StoryState>,
): number {
  return readyStories(stories).filter(story => {
    const state = states.get(story);
    return state === undefined || !LEFT_ALONE.has(state.kind);
  }).length;
}

/** How many agents to propose: as many as have a story to work on now, within reason. Pure. */
export function proposedLanes(ready: number): number {
  return Math.max(1, Math.min(ready, MAX_PROPOSED));
}

/**
 * The numbers of agents to choose from, and the one to begin with: the number in use or the last choice, which may be
 * any number, or else the proposed one. Pure.
 */
export function laneChoices({ from, inUse, last: chosen, proposed }: LaneSituation): {
  readonly choices: readonly number[];
  readonly wanted: number;
} {
  const last = inUse ?? chosen;
  const wanted = last !== undefined && last >= from ? last : Math.max(proposed, from);
  const choices = [...new Set([...CHOICES, wanted])].filter(lanes => lanes >= from);
  return { choices: choices.sort((a, b) => a - b), wanted };
}
