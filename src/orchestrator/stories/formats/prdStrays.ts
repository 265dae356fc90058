import { once } from '../../../base/once.ts';
import { say } from '../../../base/say.ts';
import type { Story, StoryProblem } from '../story.ts';
import { otherListMessage } from '../storyProblems.ts';
import { JsonPlaces } from './jsonPlaces.ts';
import { plainText } from './plainText.ts';
import { type Entry, isEntry, itemsOf, ownId, titleOf } from './prdEntry.ts';
import { CHILD_KEYS, listOf } from './prdEpics.ts';
import { LIST_KEYS } from './prdKeys.ts';
import { isListedStory } from './prdRoot.ts';
import { likenessOf } from './strayEntry.ts';
import { type Path, straysIn } from './strays.ts';
import type { TextLines } from './textLines.ts';

/**
 * Stories of a `prd.json` that are not in the list that is read: a list must not become shorter without a word.
 * @param used the key of that list; `undefined` if the file is the list itself
 */
export function findStrays(
  {
    lines,
    root,
    text,
  }: { readonly lines: TextLines; readonly root: unknown; readonly text: string },
  used: string | undefined,
  stories: readonly Story[],
): StoryProblem[] {
  if (!isEntry(root) || used === undefined) {
    return [];
  }
  const known = once(() => new Set(stories.flatMap(({ id, title }) => [id, title])));
  const places = new JsonPlaces(text);
  return straysIn(root, {
    like: likenessOf(() => itemsOf(root[used]), known),
    seen: new Set([root[used]]),
    isGroup: groupsOf(stories, known),
    isItem: isItemOfList,
  }).map(({ count, isObject, name, path }) => ({
    code: 'notAStory',
    message: isObject
      ? say(
          'Stories in "{0}" that are not read, because it is an object: {1}. Write the stories as a list, in "{2}".',
          plainText(name),
          count,
          plainText(used),
        )
      : otherListMessage(name, count, used),
    ...lines.at(places.offsetOf(path)),
  }));
}

/** Whether an item is in a list that would be read if there were no other one. */
function isItemOfList(item: unknown, path: Path): boolean {
  const key = LIST_KEYS.find(one => one === path[0]);
  return path.length === 2 && key !== undefined && isListedStory(key, item);
}

/** Whether an entry is a group of stories: they name it, or it lists their ids. */
function groupsOf(
  stories: readonly Story[],
  known: () => ReadonlySet<string>,
): (entry: Entry) => boolean {
  const groups = once(() => new Set(stories.map(({ epic }) => epic)));
  return entry =>
    [ownId(entry), titleOf(entry)].some(name => name !== undefined && groups().has(name)) ||
    listOf(entry, CHILD_KEYS).some(id => known().has(id));
}
