import { isNumberId } from '../../base/numberId.ts';
import type { Story } from './story.ts';

/** What is known of a story from another version of its list. */
export interface KnownStory {
  readonly id: string;
  readonly title?: string | undefined;
  /** 0-based position in that version. */
  readonly position?: number | undefined;
}

/**
 * The same story in this version of the list. One without an id of its own, or whose id is not the only one, is
 * recognized by its title. Pure.
 * @returns `undefined` if it is gone, or it is not certain which one it is
 */
export function storyNow(stories: readonly Story[], known: KnownStory): Story | undefined {
  const { id, position, title } = known;
  const isNumber = isNumberId(id);
  const sameId = stories.filter(story => story.id === id);
  if (title === undefined || (!isNumber && sameId.length < 2)) {
    return sameId.length < 2 ? sameId[0] : sameId.find(story => story.position === position);
  }
  const sameTitle = (isNumber ? stories : sameId).filter(story => story.title === title);
  return sameTitle.length < 2 ? sameTitle[0] : sameTitle.find(story => story.position === position);
}

/**
 * Whether a story is done in this version of the list. Without an id of its own, its number is that of another one if
 * items were added above it; but its agent may also have given it another title. Pure.
 */
export function isDoneNow(stories: readonly Story[], story: Story): boolean {
  const moved = isNumberId(story.id) ? storyNow(stories, story) : undefined;
  if (moved !== undefined) {
    return moved.done;
  }
  // If ids are repeated, only all stories with the id are certain to include the right one.
  const named = stories.filter(({ id }) => id === story.id);
  return named.length > 0 && named.every(({ done }) => done);
}

/** The first id that several stories of a list have. Pure. */
export function repeatedId(stories: readonly Pick<Story, 'id'>[]): string | undefined {
  const seen = new Set<string>();
  return stories.find(({ id }) => seen.size === seen.add(id).size)?.id;
}
