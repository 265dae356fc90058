import { isDoneWord } from './prdKeys.ts';

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

// Words that mean that a story was deferred; a resumed story must not keep them either.
const PARKED_WORDS = new Set([
  'skipped',
  'cancelled',
  'canceled',
  'deferred',
  'tombstone',
  'archived',
]);

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
  const word = normalise(current ?? '');
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
 * `pending`.
 */
export function openWord(current: string | undefined, others: readonly StatusUse[]): string {
  const words = others
    .map(other => other.status)
    .filter(word => word.trim() !== '' && !isDoneWord(word));
  const idle = words.filter(
    word => !BUSY_WORDS.has(normalise(word)) && !PARKED_WORDS.has(normalise(word)),
  );
  return mostUsed(idle) ?? inCaseOf('pending', current);
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
  const same = (word: string) => normalise(word) === normalise(status);
  if (
    isDoneWord(status) === done ||
    others.some(other => other.done === done && same(other.status))
  ) {
    return false;
  }
  if (!done) {
    return true;
  }
  const word = normalise(status);
  return (
    OPEN_WORDS.has(word) ||
    BUSY_WORDS.has(word) ||
    others.some(other => other.done === true && isDoneWord(other.status))
  );
}

function normalise(word: string): string {
  return word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ');
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
