import { unreadParts } from '../stories/unreadParts.ts';
import type { Precondition } from './precondition.ts';

/**
 * Everything in the story file that looks like a story is read as one, with its state; otherwise a run would end without it,
 * or do again what is done.
 */
export const unread: Precondition = {
  id: 'unread',
  async judge({ stories }) {
    return stories && unreadParts(stories).map(part => ({ level: 'warns', ...part }));
  },
};
