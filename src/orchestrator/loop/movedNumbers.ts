import { isNumberId } from '../../base/numberId.ts';
import type { RunState } from '../journal/runState.ts';
import type { Story } from '../stories/story.ts';
import type { Start } from './policy.ts';

/**
 * Whether stories without ids of their own have other numbers than those by which the journal and the agents at work know them. Pure.
 * @param stories as the file has them now
 */
export function haveMoved(
  stories: readonly Story[],
  { storyRecords }: Pick<RunState, 'storyRecords'>,
  working: readonly Start[] = [],
): boolean {
  // One whose place is being prepared is not in the journal yet.
  const starting = new Map(working.map(({ story }) => [story?.id, story?.title]));
  return stories.some(({ id, title }) => {
    const known = isNumberId(id) ? [storyRecords.get(id)?.title, starting.get(id)] : [];
    return known.some(other => other !== undefined && other !== title);
  });
}
