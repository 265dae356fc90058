import {
  CRITERION_DONE_KEYS,
  type Entry,
  isEntry,
  isVoid,
  readCriteria,
} from '../formats/prdEntry.ts';
import { CRITERIA_KEYS, STATUS_KEYS } from '../formats/prdKeys.ts';
import { saysMore } from '../formats/statusWord.ts';
import type { Criterion } from '../story.ts';

/** Keys of an object with a criterion that say whether it is done. */
const CRITERION_STATE_KEYS: readonly string[] = [...CRITERION_DONE_KEYS, ...STATUS_KEYS];
/** A number in their order says no more than the order. */
const COUNT_KEYS: ReadonlySet<string> = new Set(['id', 'step', 'number', 'index', 'order']);

/**
 * What the criteria of a story have in its file and the model has not: `acceptanceCriteria.verify` for a key of an
 * object, `acceptanceCriteria` for a criterion that is not read.
 * @param key whose value is the criteria of the story
 */
export function otherCriterionKeys(entry: Entry, key: string): string[] {
  const lost = [entry[key]].flat().flatMap((item, index) => {
    const criterion = criterionOf(item);
    return criterion === undefined
      ? !isVoid(item)
        ? [key]
        : []
      : unsaidKeys(item, criterion, index).map(own => `${key}.${own}`);
  });
  return [...new Set(lost)];
}

function criterionOf(item: unknown): Criterion | undefined {
  const [key = ''] = CRITERIA_KEYS;
  return readCriteria({ [key]: [item] })[0];
}

function unsaidKeys(item: unknown, criterion: Criterion, index: number): string[] {
  const isText = (value: unknown) => isWord(value) && String(value) === criterion.text;
  if (!isEntry(item)) {
    return [];
  }
  // A text that is no value of the object was made of all of them, except for what says whether it is done.
  const isMade = !Object.values(item).some(isText);
  return Object.keys(item).filter(key => {
    const value = item[key];
    const isCount = COUNT_KEYS.has(key) && isWord(value) && numberIn(value) === index + 1;
    const isSaid = isMade
      ? !CRITERION_DONE_KEYS.includes(key)
      : isVoid(value) || isText(value) || isCount;
    return !isSaid && !isVoid(value) && !isState(key, value, criterion);
  });
}

function isState(key: string, value: unknown, { done = false }: Criterion): boolean {
  return (
    CRITERION_STATE_KEYS.includes(key) &&
    (typeof value === 'string' ? !saysMore(value, done) : value === done)
  );
}

/** Of `AC-3` it is 3. */
function numberIn(value: string | number): number {
  return Number(/^(?:[A-Za-z]{1,9}[-_ ]?)?(\d{1,9})$/.exec(String(value).trim())?.[1]);
}

function isWord(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
