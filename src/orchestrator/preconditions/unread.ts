import { unreadEntries } from '../stories/storyProblems.ts';
import type { Precondition } from './precondition.ts';

/** Everything in the story file that looks like a story is read as one; otherwise a run would end without it. */
export const unread: Precondition = {
  id: 'unread',
  async judge({ stories }) {
    const found = stories && unreadEntries(stories);
    return found && { level: 'warns', ...found };
  },
};
