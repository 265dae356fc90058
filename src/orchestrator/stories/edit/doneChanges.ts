import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { DONE_KEYS, doneKeyOf, type Entry, isDone } from '../formats/prdKeys.ts';
import { doneWord, openWord, type StatusUse, statusFollows } from '../formats/statusWord.ts';

/** A format's default if a file shows no habit of its own. */
export interface UsualDone {
  readonly key: DoneKey;
  /** The status of a done story; absent: the natural counterpart of the old one. */
  readonly word?: string;
}

type DoneKey = (typeof DONE_KEYS)[number] | 'status';

/**
 * The keys and values to write for an entry that is done or not done: the deciding key, and those that would
 * contradict it.
 *
 * @throws HumanError if the deciding key contains other data.
 */
export function doneChanges(
  entry: Entry,
  others: readonly Entry[],
  done: boolean,
  usual: UsualDone = { key: 'passes' },
): Map<string, boolean | string> {
  const key = doneKeyOf(entry) ?? usualDoneKey(others, usual.key);
  const status = typeof entry.status === 'string' ? entry.status : undefined;
  const statuses = others.flatMap(statusUse);
  const word = () => (done ? doneWord(status, statuses, usual.word) : openWord(status, statuses));
  if (key === 'status') {
    return new Map([['status', word()]]);
  }

  const values = new Map<string, boolean | string>();
  if (typeof entry[key] === 'object' && entry[key] !== null) {
    // A list or an object under a done key is somebody's data. `passes` has precedence over any other key.
    if (key === 'passes') {
      throw new HumanError(
        say('The story has a list or an object under "passes": write true or false there.'),
      );
    }
    values.set('passes', done);
  } else {
    values.set(key, done);
  }
  for (const other of DONE_KEYS) {
    if (entry[other] === !done) {
      values.set(other, done);
    }
  }
  if (status !== undefined && statusFollows(status, done, statuses)) {
    values.set('status', word());
  }
  return values;
}

function statusUse(entry: Entry): StatusUse[] {
  if (typeof entry.status !== 'string') {
    return [];
  }
  const key = doneKeyOf(entry);
  return [
    key === 'status' ? { status: entry.status } : { status: entry.status, done: isDone(entry) },
  ];
}

/** The done key that most stories of the file have; `otherwise` if none has one. */
function usualDoneKey(entries: readonly Entry[], otherwise: DoneKey): DoneKey {
  const keys = entries.map(doneKeyOf);
  let best = otherwise;
  let most = 0;
  for (const key of [...DONE_KEYS, 'status'] as const) {
    const count = keys.filter(other => other === key).length;
    if (count > most) {
      best = key;
      most = count;
    }
  }
  return best;
}
