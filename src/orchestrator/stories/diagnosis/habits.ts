import {
  doneKeyOf,
  type Entry,
  firstText,
  isEntry,
  ownId,
  readCriteria,
} from '../formats/prdEntry.ts';
import {
  CRITERIA_KEYS,
  DEPENDENCY_KEYS,
  type DONE_KEYS,
  isStatusKey,
  TITLE_KEYS,
} from '../formats/prdKeys.ts';
import type { PrdDocument } from './prdDocument.ts';

/** What the stories of a file have in common; a missing field is only a mistake if the field is usual. */
export interface Habits {
  readonly hasIds: boolean;
  readonly hasTitles: boolean;
  readonly hasCriteria: boolean;
  /** The boolean done key of most stories; `undefined` if it is `status`. */
  readonly doneKey: (typeof DONE_KEYS)[number] | undefined;
  readonly hasDone: boolean;
  readonly criteriaKey: string;
  readonly dependencyKey: string;
}

/** @returns the habits of the file's stories */
export function habitsOf(document: PrdDocument): Habits {
  const entries = document.entries.filter(isEntry);
  const isCanonical = document.listKey === 'userStories';
  const doneKey = mostUsed(entries.map(doneKeyOf), isCanonical ? 'passes' : undefined);
  return {
    hasIds: isCanonical || entries.some(entry => ownId(entry) !== undefined),
    hasTitles: isCanonical || entries.some(entry => firstText(entry, TITLE_KEYS) !== undefined),
    hasCriteria: isCanonical || entries.some(entry => readCriteria(entry).length > 0),
    doneKey: isStatusKey(doneKey) ? undefined : doneKey,
    hasDone: isCanonical || entries.some(entry => doneKeyOf(entry) !== undefined),
    criteriaKey: usualKey(entries, CRITERIA_KEYS),
    dependencyKey: usualKey(entries, DEPENDENCY_KEYS),
  };
}

function usualKey(entries: readonly Entry[], keys: readonly string[]): string {
  const used = mostUsed(
    entries.map(entry => keys.find(key => entry[key] !== undefined)),
    undefined,
  );
  return used ?? keys[0] ?? '';
}

function mostUsed<T extends string>(
  keys: readonly (T | undefined)[],
  otherwise: T | undefined,
): T | undefined {
  const counts = new Map<T, number>();
  for (const key of keys) {
    if (key !== undefined) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const [best] = [...counts].sort(([, a], [, b]) => b - a);
  return best?.[0] ?? otherwise;
}
