import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { doneKeyOf, type Entry, isDone } from '../formats/prdEntry.ts';
import {
  DONE_KEYS,
  type DoneKey,
  isStatusKey,
  STATE_KEYS,
  STATUS_KEYS,
  type StatusKey,
} from '../formats/prdKeys.ts';
import {
  doneWord,
  meaningOf,
  openWord,
  type StatusUse,
  statusFollows,
} from '../formats/statusWord.ts';

/** A format's default if a file shows no habit of its own. */
export interface UsualDone {
  readonly key: DoneKey;
  /** The status of a done story; absent: the natural counterpart of the old one. */
  readonly word?: string;
  /** The status of a story that is not done, if no other story of the file shows one. */
  readonly openWord?: string;
}

type DoneValue = boolean | string;

/** The counterparts of words that stand in the place of true and false. */
const VERDICTS = [
  ['passing', 'failing'],
  ['pass', 'fail'],
  ['passed', 'failed'],
] as const;

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
): Map<string, DoneValue> {
  const key = writableKey(entry, doneKeyOf(entry) ?? usualDoneKey(others, usual.key), usual.key);
  const values = new Map<string, DoneValue>();
  if (!isStatusKey(key)) {
    const deciding = key;
    values.set(deciding, doneValue(entry[deciding], valuesOf(others, deciding), done));
    for (const other of DONE_KEYS) {
      if (meaningOf(entry[other]) === !done) {
        values.set(other, doneValue(entry[other], valuesOf(others, other), done));
      }
    }
  }
  for (const statusKey of STATUS_KEYS) {
    const status = entry[statusKey];
    const current = typeof status === 'string' ? status : undefined;
    const uses = others.flatMap(other => statusUse(other, statusKey));
    const follows = current !== undefined && statusFollows(current, done, uses);
    if (statusKey === key || follows) {
      values.set(
        statusKey,
        done ? doneWord(current, uses, usual.word) : openWord(current, uses, usual.openWord),
      );
    }
  }
  return values;
}

/**
 * A list or an object under a done key is somebody's data. `passes` has precedence over any other key, but where a tool
 * only knows a status, it would mean nothing.
 */
function writableKey(entry: Entry, key: DoneKey, usual: DoneKey): DoneKey {
  if (typeof entry[key] !== 'object' || entry[key] === null) {
    return key;
  }
  if (key === 'passes') {
    throw new HumanError(
      say('The story has a list or an object under "passes": write true or false there.'),
    );
  }
  if (isStatusKey(key) && isStatusKey(usual)) {
    throw new HumanError(
      say(
        'The story has a list or an object under "{0}": write a word there, such as "done".',
        key,
      ),
    );
  }
  return 'passes';
}

/** What the other stories of the file have under a done key. */
function valuesOf(others: readonly Entry[], key: string): DoneValue[] {
  return others
    .map(other => other[key])
    .filter((value): value is DoneValue => meaningOf(value) !== undefined);
}

/** The value that the file's other stories use; otherwise the counterpart of a word; otherwise true or false. */
function doneValue(current: unknown, used: readonly DoneValue[], done: boolean): DoneValue {
  const same = used.filter(value => meaningOf(value) === done);
  if (same.includes(done)) {
    return done;
  }
  const words = same.filter(value => typeof value === 'string').map(status => ({ status }));
  const word =
    typeof current === 'string' && meaningOf(current) !== undefined ? current : undefined;
  if (words.length > 0) {
    return done ? doneWord(word, words) : openWord(word, words);
  }
  const pair = VERDICTS.find(verdicts => verdicts.some(verdict => verdict === word));
  if (pair !== undefined) {
    return pair[done ? 0 : 1];
  }
  return word === undefined ? done : done ? doneWord(word, []) : openWord(word, []);
}

function statusUse(entry: Entry, statusKey: StatusKey): StatusUse[] {
  const status = entry[statusKey];
  if (typeof status !== 'string') {
    return [];
  }
  return [isStatusKey(doneKeyOf(entry)) ? { status } : { status, done: isDone(entry) }];
}

/** The deciding key that most stories of the file have; `otherwise` if none has one. */
function usualDoneKey(entries: readonly Entry[], otherwise: DoneKey): DoneKey {
  const keys = entries.map(doneKeyOf);
  let best = otherwise;
  let most = 0;
  for (const key of STATE_KEYS) {
    const count = keys.filter(other => other === key).length;
    if (count > most) {
      best = key;
      most = count;
    }
  }
  return best;
}
