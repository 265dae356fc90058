import { numberId } from '../../../base/numberId.ts';
import { say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';

/** Whether a number is too large to be told from the next one, so that it cannot be an id. */
export function isInexact(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/**
 * Ids that are no ids, because they are such numbers.
 * @param entries by position; `undefined` for what is no story
 * @param placeOf finds the key of an entry
 */
export function findInexactIds(
  entries: readonly ({ readonly id?: unknown } | undefined)[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
): StoryProblem[] {
  return entries.flatMap((entry, position) =>
    isInexact(entry?.id)
      ? [
          {
            code: 'inexactId',
            message: say(
              'The id is a number too large to be read exactly, so this story is called {0}: write its id in quotes.',
              numberId(position),
            ),
            ...placeOf(position, 'id'),
          },
        ]
      : [],
  );
}
