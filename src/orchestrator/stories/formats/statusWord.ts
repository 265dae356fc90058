import { isDoneWord } from './prdKeys.ts';

/** A status as the stories around the edited one use it. */
export interface StatusUse {
  readonly status: string;
  /** What the story's other done key says, where it has one. */
  readonly done?: boolean;
}

// Words that say no more than "not begun or not finished", and so are wrong beside a done story.
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

// Words that say that something has happened to the story; a story put back to not done must not claim that.
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

// Words that say a story was put aside; a story taken up again must not carry them either.
const PARKED_WORDS = new Set([
  'skipped',
  'cancelled',
  'canceled',
  'deferred',
  'tombstone',
  'archived',
]);

/**
 * The done word to write instead of `current`: the one the file's other stories use most, else `usual`, else the
 * natural pair of `current`.
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

/** The not-done word to write instead of `current`: the one the file's other stories use most, else `pending`. */
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
 * Whether a status beside a boolean done key has to change with it. It follows when it would contradict the key,
 * but not where the file shows that its statuses are about something else: `active` on every story, done or not.
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
