import type { Message } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { findChoiceProblems } from './callChoice.ts';
import { findInexactIds } from './inexactId.ts';
import type { Entry } from './prdEntry.ts';
import { findStatusProblems, type UsualWords } from './statusWord.ts';
import { findUnreadNeeds } from './unreadNeeds.ts';
import { findUnreadPriorities } from './unreadPriority.ts';

/**
 * Values of stories that are not read as they are meant.
 * @param entries of the stories, by position; `undefined` for what is no story
 * @param placeOf finds the key of an entry
 * @param priorityMessage says what to write in the place of a priority; by default a number
 */
export function findEntryProblems(
  entries: readonly (Entry | undefined)[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
  usual?: UsualWords,
  priorityMessage?: (value: unknown) => Message,
): StoryProblem[] {
  return [
    ...findChoiceProblems(entries, placeOf),
    ...findInexactIds(entries, placeOf),
    ...findStatusProblems(entries, placeOf, usual),
    ...findUnreadNeeds(entries, placeOf),
    ...findUnreadPriorities(entries, placeOf, priorityMessage),
  ];
}
