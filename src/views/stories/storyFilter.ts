import * as z from 'zod';
import { once } from '../../base/once.ts';
import type { Story } from '../../orchestrator/stories/story.ts';
import { STATE_KINDS, type StoryState } from '../../presentation/storyState.ts';

/** Which stories are shown: those in one of these states (any, if empty) that contain these words. */
export interface StoryFilter {
  readonly states: ReadonlySet<StoryState['kind']>;
  /** Searched in id and title, ignoring case; all words must occur, in any order. */
  readonly text: string;
}

/** A filter as a window stores it. */
export interface KeptFilter {
  readonly states: readonly string[];
  readonly text: string;
}

export const NO_FILTER: StoryFilter = { states: new Set(), text: '' };

const keptSchema = once(() => z.object({ states: z.array(z.string()), text: z.string() }));

/** Whether the filter can exclude stories at all: blanks cannot. */
export function isFiltering({ states, text }: StoryFilter): boolean {
  return states.size > 0 || text.trim() !== '';
}

/**
 * Whether a story is shown: its state is chosen, or no state is chosen, and its id and title contain all words,
 * ignoring case and order.
 */
export function matchesFilter(filter: StoryFilter, story: Story, state: StoryState): boolean {
  if (filter.states.size > 0 && !filter.states.has(state.kind)) {
    return false;
  }
  const text = filter.text.trim().toLowerCase();
  if (text === '') {
    return true;
  }
  const saying = `${story.id} ${story.title}`.toLowerCase();
  return text.split(/\s+/).every(word => saying.includes(word));
}

/** @returns the stored form of a filter; `undefined` for none */
export function keptFilter(filter: StoryFilter): KeptFilter | undefined {
  return isFiltering(filter) ? { states: [...filter.states], text: filter.text } : undefined;
}

/** @param kept by this version or another one, which may have other states */
export function parseFilter(kept: unknown): StoryFilter {
  const { data } = kept === undefined ? {} : keptSchema().safeParse(kept);
  return data === undefined
    ? NO_FILTER
    : {
        states: new Set(STATE_KINDS.filter(kind => data.states.includes(kind))),
        text: data.text,
      };
}
