import { groupBy } from '../../../base/groupBy.ts';
import { epicKeysIn } from '../formats/bmadFormat.ts';
import { LIST } from '../formats/bmadStrays.ts';
import { type Entry, isEntry, isVoid } from '../formats/prdEntry.ts';
import type { StoryList } from '../story.ts';
import { isStateOfAll } from './otherEpics.ts';
import { otherHeadingKeys } from './otherHeading.ts';

/**
 * The keys of a sprint of BMAD that its stories do not say: settings, retrospectives, and epics with another state than
 * their stories, or without any.
 */
export function otherSprintKeys(root: unknown, file: StoryList): string[] {
  const list = isEntry(root) ? root[LIST] : undefined;
  const groups = groupBy(file.stories, ({ epic }) => epic);
  const ids = new Set(file.stories.map(({ id }) => id));
  const states = isEntry(list) ? list : {};
  const lost = epicKeysIn(Object.keys(states)).filter(key => {
    const own = groups.get(key) ?? [];
    const epic = sprintEntry(states[key]);
    const isSaid =
      own.length > 0 &&
      Object.keys(epic).every(
        part => isVoid(epic[part]) || (part === 'status' && isStateOfAll(epic, epic[part], own)),
      );
    return !ids.has(key) && !isVoid(states[key]) && !isSaid;
  });
  return [...otherHeadingKeys(root, file, LIST), ...lost.map(key => `${LIST}.${key}`)];
}

/** What a sprint of BMAD says of one story or epic: its status, or a map with it. */
export function sprintEntry(value: unknown): Entry {
  const entry: Entry = isEntry(value) ? value : { status: value };
  const { status } = entry;
  // A word that YAML reads as a number is a word here.
  return typeof status === 'object' ? entry : { ...entry, status: String(status ?? '').trim() };
}
