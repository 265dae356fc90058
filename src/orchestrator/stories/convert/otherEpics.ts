import { groupBy } from '../../../base/groupBy.ts';
import { type Entry, firstText, isDone, isEntry, isVoid, ownId } from '../formats/prdEntry.ts';
import { CHILD_KEYS, epicsOf, listedEpics } from '../formats/prdEpics.ts';
import { normaliseWord, STATE_KEYS, TITLE_KEYS } from '../formats/prdKeys.ts';
import { saysMore } from '../formats/statusWord.ts';
import type { Story } from '../story.ts';
import { isNeedKey, otherNeedKeys } from './otherNeeds.ts';

/**
 * The keys of the epics of a `prd.json` that its stories do not say: their titles are the groups of the stories, and
 * what they wait for, each of their stories waits for. `epics` alone if one of them is no group of its own.
 */
export function otherEpicKeys(root: unknown, stories: readonly Story[]): string[] {
  const groups = groupBy(stories, ({ epic }) => epic);
  const epics = listedEpics(root);
  const names = epics.map(nameOf);
  const isGroup = names.every(name => name !== undefined && groups.has(name));
  if (!isGroup || epics.length === 0 || new Set(names).size < names.length) {
    return ['epics'];
  }
  const keys = epics.flatMap((epic, index) => {
    const own = groups.get(names[index]) ?? [];
    return isEntry(epic)
      ? Object.keys(epic).flatMap(key =>
          isNeedKey(key)
            ? otherNeedKeys(epic, key)
            : isVoid(epic[key]) || isSaid(epic, key, own)
              ? []
              : [key],
        )
      : [];
  });
  return [...new Set(keys)].map(key => `epics.${key}`);
}

/** The ids of listed epics, by title. */
export function epicIds(root: unknown): ReadonlyMap<string, string> {
  return new Map(
    epicsOf(root).flatMap(epic => {
      const [id, name] = [ownId(epic), nameOf(epic)];
      return id === undefined || name === undefined ? [] : [[name, id] as const];
    }),
  );
}

/** What the group of its stories is called. */
function nameOf(epic: unknown): string | undefined {
  return isEntry(epic) ? (firstText(epic, TITLE_KEYS)?.trim() ?? ownId(epic)) : String(epic).trim();
}

/** Whether the stories of an epic say what it has under a key. */
function isSaid(epic: Entry, key: string, own: readonly Story[]): boolean {
  const value = epic[key];
  if (key === 'id') {
    return ownId(epic) === nameOf(epic);
  }
  if (CHILD_KEYS.includes(key)) {
    const ids = new Set(own.map(({ id }) => id));
    return Array.isArray(value) && value.every(child => !isEntry(child) && ids.has(String(child)));
  }
  if (STATE_KEYS.some(one => one === key)) {
    return isStateOfAll(epic, value, own);
  }
  return TITLE_KEYS.includes(key) && String(value).trim() === nameOf(epic);
}

/**
 * Whether the stories of a group say with their own states what it says with its state.
 * @param value of the group, under one of its keys for that
 */
export function isStateOfAll(group: Entry, value: unknown, own: readonly Story[]): boolean {
  if (typeof value !== 'string' && typeof value !== 'boolean') {
    return false;
  }
  const done = isDone(group);
  const isUnderWay =
    typeof value === 'string' && /^(?:in progress|active|started)$/.test(normaliseWord(value));
  if (isUnderWay && own.some(story => story.done) && !own.every(story => story.done)) {
    return true;
  }
  const isMore = typeof value === 'string' && saysMore(value, done);
  return !isMore && done === own.every(story => story.done);
}
