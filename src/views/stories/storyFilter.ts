import type { Story } from '../../orchestrator/stories/story.ts';
import type { StoryState } from './storyState.ts';

/** Which stories are shown: those in one of these states (any, when it is empty) that have these words. */
export interface StoryFilter {
  readonly states: ReadonlySet<StoryState['kind']>;
  /** In id or title, whatever the case; all of its words, in any order. */
  readonly text: string;
}

export const NO_FILTER: StoryFilter = { states: new Set(), text: '' };

export function isFiltering({ states, text }: StoryFilter): boolean {
  return states.size > 0 || text.trim() !== '';
}

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
