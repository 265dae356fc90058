import { type Message, say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { misnamedKeyMessage, misspelledStatus } from './fieldNames.ts';
import { quoted } from './plainText.ts';
import { doneKeyOf, type Entry, isPutAside } from './prdEntry.ts';
import {
  type DoneKey,
  isDoneWord,
  isParkedWord,
  isStatusKey,
  normaliseWord,
  PARKED_WORDS,
} from './prdKeys.ts';

/** How another story of the file uses its status. */
export interface StatusUse {
  readonly status: string;
  /** The value of the story's other done key, if it has one. */
  readonly done?: boolean;
}

// Words that only mean "not started or not finished", and so are wrong next to a done story.
const OPEN_WORDS = new Set([
  'pending',
  'todo',
  'to do',
  'open',
  'new',
  'backlog',
  'planned',
  'ready',
  'queued',
  'waiting',
  'not started',
  'not done',
  'incomplete',
]);

// Words that mean that work has been done on the story; a story that is reset to not done must not keep them.
const BUSY_WORDS = new Set([
  'active',
  'in progress',
  'inprogress',
  'doing',
  'started',
  'wip',
  'working',
  'running',
  'blocked',
  'failed',
  'error',
  'review',
  'in review',
  'waiting approval',
]);

// Other words that say that there is work left.
const OTHER_OPEN_WORDS = new Set([
  ...['', 'draft', 'drafted', 'proposed', 'triage', 'assigned', 'selected'],
  ...['to-do', 'not passed', 'not passing', 'failing', 'fail', 'incomplete', 'partial', 'unknown'],
  ...['ready for dev', 'ready for review', 'ready for agent', 'in development', 'in testing'],
  ...['testing', 'qa', 'planning', 'design', 'designing', 'executing', 'paused', 'on hold', 'hold'],
  ...['stuck', 'needs review', 'needs work', 'needs human', 'reopened', 'returned'],
  ...['hooked', 'pinned', 'icebox'],
  ...['later', 'someday', 'scheduled', 'upcoming', 'next', 'current', 'idle'],
]);

/** What to write for a story in a format, unless the file shows a habit of its own. */
export interface UsualWords {
  readonly open: string;
  readonly done: string;
}

/**
 * Stories that say with a word that is not known, or with another value, whether they are done: they count as not done,
 * and that may be wrong.
 * @param entries of the stories, by position
 */
export function findStatusProblems(
  entries: readonly (Entry | undefined)[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
  usual: UsualWords = { open: 'pending', done: 'done' },
): StoryProblem[] {
  return entries.flatMap((entry, position): StoryProblem[] => {
    const key = entry && doneKeyOf(entry);
    const value = key && entry?.[key];
    const misspelled =
      entry === undefined || key !== undefined ? undefined : misspelledStatus(entry, isKnownStatus);
    if (misspelled !== undefined) {
      const { key: wrong, meant } = misspelled;
      return [
        {
          code: 'misspelledStatus',
          message: misnamedKeyMessage(wrong, meant),
          ...placeOf(position, wrong),
          subject: { position, ids: [wrong, meant] },
        },
      ];
    }
    return key === undefined || value === null || value === undefined || isClear(key, value)
      ? []
      : [
          {
            code: 'unknownStatus',
            message: isStatusKey(key)
              ? unknownStatusMessage(value, usual)
              : notBooleanMessage(value, entry ?? {}),
            ...placeOf(position, key),
            subject: { position, ids: [key] },
          },
        ];
  });
}

function unknownStatusMessage(status: unknown, { done, open }: UsualWords): Message {
  return say(
    'The status {0} is not a word that is known here, so the story counts as not done. Write "{1}" if it is done, and "{2}" if it is not.',
    quoted(status),
    done,
    open,
  );
}

/** What to write instead of a value in the place of true or false that is neither. @param entry the story with it */
export function notBooleanMessage(value: unknown, entry: Entry): Message {
  if (isParkedWord(value) && !isPutAside(entry)) {
    return say(
      '{0} is neither true nor false, so the story counts as not done, and agents work on it: write false, and {0} as its "status" if they should not.',
      quoted(value),
    );
  }
  return typeof value === 'string'
    ? say(
        '{0} is neither true nor false, so the story counts as not done: write true or false without quotes.',
        quoted(value),
      )
    : say(
        '{0} is neither true nor false, so the story counts as not done: write true or false.',
        quoted(value),
      );
}

function isClear(key: DoneKey, value: unknown): boolean {
  return isStatusKey(key)
    ? typeof value === 'string' && isKnownStatus(value)
    : meaningOf(value) !== undefined;
}

/** Whether a word in the place of true or false says that the story is done; `undefined` if that is unclear. */
export function meaningOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') {
    return value;
  }
  if (typeof value !== 'string' || !isKnownStatus(value) || value.trim() === '') {
    return undefined;
  }
  return isParkedWord(value) ? undefined : isDoneWord(value);
}

/** Whether a word is known in the place of a status. */
export function isKnownStatus(status: string): boolean {
  const word = normaliseWord(status);
  return (
    isDoneWord(status) ||
    [OPEN_WORDS, BUSY_WORDS, OTHER_OPEN_WORDS, PARKED_WORDS].some(words => words.has(word))
  );
}

/**
 * The word for done to write instead of `current`: the most frequent one in the file's other stories; otherwise
 * `usual`; otherwise the natural counterpart of `current`.
 */
export function doneWord(
  current: string | undefined,
  others: readonly StatusUse[],
  usual?: string,
): string {
  const used = mostUsed(others.map(other => other.status).filter(isDoneWord));
  if (used !== undefined) {
    return used;
  }
  const word = normaliseWord(current ?? '');
  const pair =
    word === 'open'
      ? 'closed'
      : word === 'pending' || word === 'not started'
        ? 'completed'
        : 'done';
  return inCaseOf(usual ?? pair, current);
}

/**
 * The word for not done to write instead of `current`: the most frequent one in the file's other stories; otherwise
 * `usual`.
 */
export function openWord(
  current: string | undefined,
  others: readonly StatusUse[],
  usual = 'pending',
): string {
  const words = others
    .map(other => other.status)
    .filter(word => word.trim() !== '' && !isDoneWord(word));
  // A word that is not known here may mean anything, also that a story is put aside.
  const idle = words.filter(
    word => isKnownStatus(word) && !BUSY_WORDS.has(normaliseWord(word)) && !isParkedWord(word),
  );
  return mostUsed(idle) ?? inCaseOf(usual, current);
}

/**
 * Whether a status must change together with a boolean done key. It must if it would contradict the key, but not if
 * statuses mean something else in this file: for example, `active` on every story, done or not.
 */
export function statusFollows(
  status: string,
  done: boolean,
  others: readonly StatusUse[],
): boolean {
  const same = (word: string) => normaliseWord(word) === normaliseWord(status);
  if (
    isDoneWord(status) === done ||
    others.some(other => other.done === done && same(other.status))
  ) {
    return false;
  }
  if (!done) {
    return true;
  }
  const word = normaliseWord(status);
  return (
    OPEN_WORDS.has(word) ||
    BUSY_WORDS.has(word) ||
    isParkedWord(status) ||
    others.some(other => other.done === true && isDoneWord(other.status))
  );
}

/** Whether a word says more than whether the story is done: that it is in progress, blocked or put aside. */
export function saysMore(status: string, done: boolean): boolean {
  return done
    ? !isDoneWord(status)
    : status.trim() !== '' && (isDoneWord(status) || !OPEN_WORDS.has(normaliseWord(status)));
}

function mostUsed(words: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  let best: string | undefined;
  for (const word of words) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  for (const [word, count] of counts) {
    if (best === undefined || count > (counts.get(best) ?? 0)) {
      best = word;
    }
  }
  return best;
}

function inCaseOf(word: string, sample: string | undefined): string {
  if (sample === undefined || !/\p{Lu}/u.test(sample)) {
    return word;
  }
  return sample === sample.toUpperCase()
    ? word.toUpperCase()
    : `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`;
}
