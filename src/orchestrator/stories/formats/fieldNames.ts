import { isAlmost } from '../../../base/editDistance.ts';
import { once } from '../../../base/once.ts';
import { remembered } from '../../../base/remembered.ts';
import { type Message, say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { plainKey } from './listNames.ts';
import { plainText } from './plainText.ts';
import {
  dependencyId,
  type Entry,
  firstText,
  isDone,
  ownId,
  readDependencies,
  readPriority,
  titleOf,
} from './prdEntry.ts';
import { CRITERIA_KEYS, DEPENDENCY_KEYS, DONE_KEYS, isDoneWord, STATUS_KEYS } from './prdKeys.ts';

/** A field whose key no program reads. */
export interface Misnamed {
  readonly fact: 'done' | 'criteria' | 'dependencies' | 'priority' | 'title';
  readonly key: string;
}

// As `plainKey` has them.
const DONE_NAMES = new Set([
  'passes',
  'passed',
  'passing',
  'pass',
  'done',
  'isdone',
  'tested',
  'complete',
  'completed',
  'iscomplete',
  'iscompleted',
  'finished',
  'isfinished',
  'implemented',
]);
const CRITERIA_NAMES = new Set([
  'acceptancecriteria',
  'acceptancecriterias',
  'acceptancecriterion',
  'donecriteria',
  'successcriteria',
  'exitcriteria',
]);
const DEPENDENCY_NAMES = new Set([
  'dependson',
  'depends',
  'dependency',
  'dependencies',
  'blockedby',
  'requires',
  'prerequisites',
  'waitsfor',
  'waitson',
  'dependsupon',
  'dependsonids',
  'dependencyids',
]);
/** Words that also mean other things: they count if they name stories. */
const OTHER_DEPENDENCY_NAMES = new Set([
  ...['needs', 'after', 'runafter', 'follows', 'upstream', 'blocker', 'blockers', 'deps'],
  ...['prereq', 'prereqs', 'predecessor', 'predecessors', 'requiredstories', 'requiredtasks'],
]);
/** Keys of a title that are nothing else as well. */
const OWN_TITLE_KEYS = ['title', 'name', 'heading', 'summary'];

/**
 * A key that says whether a story is done and is not read, and the one that was probably meant. Only for an entry that
 * has no key of that kind.
 * @param isStatus whether a text is a word for the state of a story
 */
export function misspelledStatus(
  entry: Entry,
  isStatus: (text: string) => boolean,
): { readonly key: string; readonly meant: string } | undefined {
  const [done] = misnamed(entry, { done: true }, new Set());
  if (done !== undefined) {
    const name = plainKey(done.key);
    const meant = DONE_KEYS.find(known => known === name || isAlmost(name, known));
    return { key: done.key, meant: meant ?? 'passes' };
  }
  return Object.entries(entry).flatMap(([key, value]) => {
    const meant = statusMeant(key);
    return meant !== undefined && typeof value === 'string' && isStatus(value)
      ? [{ key, meant }]
      : [];
  })[0];
}

/** What says whether a story is done where only a `status` can say it: that key, or else those that are almost it. */
export function statusFields({ status, ...others }: Entry): Entry {
  return status === undefined
    ? Object.fromEntries(Object.entries(others).filter(([key]) => isNamedLike(key, 'status')))
    : { status };
}

/**
 * Finds the fields that a story lacks and has under another name.
 * @param lacks the fields without any known key
 * @param ids all ids of the file; a key only counts as dependencies if it contains some of these
 */
export function misnamed(
  entry: Entry,
  lacks: Readonly<Partial<Record<Misnamed['fact'], boolean>>>,
  ids: ReadonlySet<string>,
): Misnamed[] {
  const found: Misnamed[] = [];
  for (const key of Object.keys(entry)) {
    const value = entry[key];
    if (lacks.done && isNameOfDone(key) && !isIn(DONE_KEYS, key) && yesOrNo(value) !== undefined) {
      found.push({ fact: 'done', key });
    } else if (lacks.criteria && isNameOfCriteria(key) && !isIn(CRITERIA_KEYS, key)) {
      found.push({ fact: 'criteria', key });
    } else if (
      lacks.dependencies &&
      isNameOfNeeds(key) &&
      !isIn(DEPENDENCY_KEYS, key) &&
      namesIds(value, ids)
    ) {
      found.push({ fact: 'dependencies', key });
    } else if (lacks.priority && isOtherPriority(key) && readPriority(value) !== undefined) {
      found.push({ fact: 'priority', key });
    } else if (lacks.title && isOtherTitle(key) && isText(value)) {
      found.push({ fact: 'title', key });
    }
  }
  // One key per field: with two there is no clear fix.
  return found.filter(({ fact }, index) => found.findIndex(other => other.fact === fact) === index);
}

/** Whether a story has no priority or no title of its own, so that another key may be meant as one. */
export function lacksOf(entry: Entry): { readonly priority: boolean; readonly title: boolean } {
  return {
    priority: !Object.hasOwn(entry, 'priority'),
    title: firstText(entry, OWN_TITLE_KEYS) === undefined,
  };
}

/** What stories are called by those that wait for them. */
export function namesIn(entries: readonly Entry[]): ReadonlySet<string> {
  return new Set(entries.flatMap(entry => [ownId(entry) ?? [], titleOf(entry) ?? []].flat()));
}

/** What to do about a key that is not read. @param meant the right one */
export function misnamedKeyMessage(key: string, meant: string): Message {
  return say('The key "{0}" is ignored: rename it to "{1}".', plainText(key), meant);
}

/** What to do about a value that is not read. */
export function wrongKindMessage(key: string, expected: Message): Message {
  return say('"{0}" must be {1}; the value here is ignored.', key, expected);
}

const isNameOfDone = remembered(key => isAlmostIn(DONE_NAMES, plainKey(key)));
const isNameOfCriteria = remembered(key => isAlmostIn(CRITERIA_NAMES, plainKey(key)));
const isOtherPriority = remembered(key => isOtherSpelling(key, 'priority'));
const isOtherTitle = remembered(key => isOtherSpelling(key, 'title'));
const statusMeant = remembered(key => STATUS_KEYS.find(known => isNamedLike(key, known)));

/** Whether a key is one with what a story waits for, however it is spelled. */
export const isNameOfNeeds = remembered(key => {
  const name = plainKey(key);
  return isAlmostIn(DEPENDENCY_NAMES, name) || OTHER_DEPENDENCY_NAMES.has(name);
});

/** Finds the 1-based line and column of a key of an entry. */
type FindKey = (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>;

/**
 * Stories that say under a key that is not read what they wait for, so that they would be started too early, or what
 * their priority or title is.
 * @param entries of the stories, by position
 * @param usual the key of the format with what a story waits for
 * @param namesOf what stories are called in it
 */
export function findMisnamedKeys(
  entries: readonly Entry[],
  placeOf: FindKey,
  usual: string,
  namesOf = () => namesIn(entries),
): StoryProblem[] {
  // Each key is judged once: entries are many, and their keys few.
  const found = new Set<string>();
  for (const entry of entries) {
    for (const key of Object.keys(entry)) {
      found.add(key);
    }
  }
  const keys = [...found];
  const ofNeeds = new Set(keys.filter(key => isNameOfNeeds(key) && !isIn(DEPENDENCY_KEYS, key)));
  const ofOthers = new Set(keys.filter(key => isOtherPriority(key) || isOtherTitle(key)));
  const names = once(namesOf);
  return ofNeeds.size + ofOthers.size === 0
    ? []
    : entries.flatMap((entry, position): StoryProblem[] => {
        const has = (odd: ReadonlySet<string>) =>
          Object.keys(entry).some(key => odd.has(key)) && !isDone(entry);
        const [needs] =
          has(ofNeeds) && readDependencies(entry).length === 0
            ? misnamed(entry, { dependencies: true }, names())
            : [];
        const others = has(ofOthers) ? misnamed(entry, lacksOf(entry), new Set()) : [];
        const problem = (code: StoryProblem['code'], key: string, meant: string) => ({
          code,
          message: misnamedKeyMessage(key, meant),
          ...placeOf(position, key),
          subject: { position, ids: [key, meant] },
        });
        return [
          ...(needs === undefined ? [] : [problem('misspelledDependency', needs.key, usual)]),
          ...others.map(({ fact, key }) => problem('misspelledKey', key, fact)),
        ];
      });
}

function isAlmostIn(names: ReadonlySet<string>, name: string): boolean {
  return names.has(name) || [...names].some(known => isAlmost(name, known));
}

/** A list of stories under a key that is not read. */
export interface MisnamedList {
  readonly key: string;
  /** The right key. */
  readonly meant: string;
}

/**
 * A list whose key has another spelling than one of the known keys, or a typing error.
 * @param isItem whether something in a list shows that it is one of stories
 */
export function misnamedList(
  root: Entry,
  known: readonly string[],
  isItem: (value: unknown) => boolean,
): MisnamedList | undefined {
  return Object.entries(root).flatMap(([key, list]) => {
    const name = plainKey(key);
    const meant = known.find(one => plainKey(one) === name || isAlmost(name, plainKey(one)));
    // A right key is no typing error, whatever keeps its list from being read.
    const isWrong = meant !== undefined && !known.includes(key);
    return isWrong && Array.isArray(list) && list.some(isItem) ? [{ key, meant }] : [];
  })[0];
}

/** Whether a key is another one, apart from its spelling or a typing error. */
export function isNamedLike(key: string, known: string): boolean {
  return plainKey(key) === plainKey(known) || isAlmost(plainKey(key), plainKey(known));
}

/** Whether a key that is not read is probably meant as this one. */
export function isOtherSpelling(key: string, known: string): boolean {
  return key !== known && isNamedLike(key, known);
}

export function misnamedListMessage({ key, meant }: MisnamedList): Message {
  return say('The list "{0}" is not read: rename it to "{1}".', plainText(key), meant);
}

function isIn(keys: readonly string[], key: string): boolean {
  return keys.includes(key);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

/** Whether a value is an id, or a list of nothing but ids. */
export function namesIds(value: unknown, ids: ReadonlySet<string>): boolean {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.length > 0 && list.every(id => ids.has(dependencyId(id) ?? ''));
}

/** The probable meaning of a value under a done key; `undefined` if unclear. */
export function yesOrNo(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') {
    return value;
  }
  const word = String(value).trim().toLowerCase();
  if (typeof value !== 'string' && typeof value !== 'number') {
    return undefined;
  }
  if (isDoneWord(value) || ['true', 'yes', 'y', '1', 'pass', 'passes'].includes(word)) {
    return true;
  }
  const noWords = [
    'false',
    'no',
    'n',
    '0',
    'todo',
    'pending',
    'open',
    'fail',
    'failed',
    'not done',
  ];
  return noWords.includes(word) ? false : undefined;
}
