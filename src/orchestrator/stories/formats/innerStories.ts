import type { Story, StoryProblem } from '../story.ts';
import { elementsOf, memberOf, membersOf } from './jsonOutline.ts';
import type { Entry } from './prdEntry.ts';
import { type PartList, partLists, partsMessage } from './storyParts.ts';
import type { TextLines } from './textLines.ts';

/** A story of a file in JSON or JSON Lines. */
interface Place {
  readonly entry: Entry;
  readonly start: number;
}

/**
 * What is inside of stories in JSON and looks like stories: a list must not become shorter without a word.
 * @param placeOf finds a story by its position
 */
export function findInnerStories(
  text: string,
  lines: TextLines,
  stories: readonly Story[],
  placeOf: (position: number) => Place | undefined,
): StoryProblem[] {
  const known = new Set(stories.flatMap(({ id, title }) => [id, title]));
  return stories.flatMap(({ id, position }) => {
    const place = placeOf(position);
    return place === undefined
      ? []
      : partLists(place.entry, known).map(parts => ({
          code: 'notAStory' as const,
          ...(parts.isCriteria && { severity: 'info' as const }),
          message: partsMessage(parts, id),
          ...lines.at(offsetOf(text, place.start, parts)),
        }));
  });
}

/** Where the first of them begins: in an object, its key. */
function offsetOf(text: string, start: number, { first, key }: PartList): number {
  const holder = memberOf(membersOf(text, start), key);
  if (holder === undefined || first === undefined) {
    return holder?.name.start ?? start;
  }
  const { start: inside } = holder.value;
  return (
    (typeof first === 'number'
      ? elementsOf(text, inside)[first]?.start
      : memberOf(membersOf(text, inside), first)?.name.start) ?? inside
  );
}
