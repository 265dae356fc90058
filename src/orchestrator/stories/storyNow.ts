import { isNumberId } from '../../base/numberId.ts';
import type { Story } from './story.ts';

/** What is known of a story from another version of its list. */
export interface KnownStory {
  readonly id: string;
  readonly title?: string | undefined;
  /** Its group, if it has one; `undefined` also if that is not known. */
  readonly epic?: string | undefined;
  /** 0-based position in that version. */
  readonly position?: number | undefined;
}

/**
 * The same story in this version of the list. One without an id of its own, or whose id is not the only one, is
 * recognized by its title. Pure.
 * @returns `undefined` if it is gone, or it is not certain which one it is
 */
export function storyNow(stories: readonly Story[], known: KnownStory): Story | undefined {
  const { epic, id, position, title } = known;
  const isNumber = isNumberId(id);
  const sameId = stories.filter(story => story.id === id);
  if (title === undefined || (!isNumber && sameId.length < 2)) {
    return sameId.length < 2 ? sameId[0] : sameId.find(story => story.position === position);
  }
  const sameTitle = (isNumber ? stories : sameId).filter(story => story.title === title);
  if (sameTitle.length < 2) {
    return sameTitle[0];
  }
  const sameEpic = epic === undefined ? sameTitle : sameTitle.filter(story => story.epic === epic);
  return sameEpic.length < 2 ? sameEpic[0] : sameEpic.find(story => story.position === position);
}

/** The first id that several stories of a list have. Pure. */
export function repeatedId(stories: readonly Pick<Story, 'id'>[]): string | undefined {
  const seen = new Set<string>();
  return stories.find(({ id }) => seen.size === seen.add(id).size)?.id;
}
