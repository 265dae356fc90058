import {
  misspelledKeys,
  misspelledStatuses,
  repeatedKeys,
  unreadDependencies,
  unreadEntries,
} from '../stories/storyProblems.ts';
import type { Precondition } from './precondition.ts';

/**
 * Everything in the story file that looks like a story is read as one, with its state; otherwise a run would end without it,
 * or do again what is done.
 */
export const unread: Precondition = {
  id: 'unread',
  async judge({ stories }) {
    const found =
      stories &&
      (unreadEntries(stories) ??
        repeatedKeys(stories) ??
        misspelledStatuses(stories) ??
        unreadDependencies(stories) ??
        misspelledKeys(stories));
    return found && { level: 'warns', ...found };
  },
};
