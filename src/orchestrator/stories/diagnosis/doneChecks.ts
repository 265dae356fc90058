import { say } from '../../../base/say.ts';
import { yesOrNo } from '../formats/fieldNames.ts';
import { doneKeyOf, type Entry, isDone, isEntry } from '../formats/prdEntry.ts';
import { isDoneWord, isStatusKey } from '../formats/prdKeys.ts';
import {
  meaningOf,
  notBooleanMessage,
  type StatusUse,
  statusFollows,
} from '../formats/statusWord.ts';
import type { Complaint, Surroundings } from './complaint.ts';
import { addField, replaceKey, setValue } from './entryFixes.ts';
import type { PrdDocument } from './prdDocument.ts';

/** Checks whether a story states in the file's usual way if it is done. */
export function* checkDone(
  document: PrdDocument,
  position: number,
  entry: Entry,
  { habits, statuses }: Surroundings,
  hasOtherKey: boolean,
): Generator<Complaint> {
  const key = doneKeyOf(entry);
  const { doneKey } = habits;
  if (key === undefined) {
    if (!hasOtherKey && habits.hasDone && doneKey !== undefined) {
      yield {
        code: 'missingDone',
        severity: 'info',
        message: say('This story does not say whether it is done: add "{0}": false.', doneKey),
        fixes: () => [addField(document, position, doneKey, false, false)],
      };
    }
  } else if (isStatusKey(key)) {
    const isWord = typeof entry[key] === 'string' || entry[key] === null;
    if (doneKey !== undefined && isWord && !Object.hasOwn(entry, doneKey)) {
      const done = isDoneWord(entry[key]);
      yield {
        code: 'statusForPasses',
        severity: 'warning',
        key,
        message: say(
          'The other stories of this file use "{0}" to say whether they are done: write "{0}": {1} instead of the status.',
          doneKey,
          done,
        ),
        fixes: () => replaceKey(document, position, key, doneKey, done),
      };
    }
  } else if (typeof entry[key] !== 'boolean') {
    const value = entry[key];
    if (value !== null && meaningOf(value) === undefined) {
      yield notBoolean(document, position, key, entry);
    }
  } else {
    yield* contradiction(document, position, entry, statuses);
  }
}

function notBoolean(document: PrdDocument, position: number, key: string, entry: Entry): Complaint {
  const meant = yesOrNo(entry[key]);
  return {
    code: 'doneNotBoolean',
    severity: 'warning',
    key,
    message: notBooleanMessage(entry[key], entry),
    fixes: () => (meant === undefined ? [] : [setValue(document, position, key, meant, true)]),
  };
}

/** A status that contradicts the deciding key, in a file in which they usually agree. */
function* contradiction(
  document: PrdDocument,
  position: number,
  entry: Entry,
  statuses: readonly (StatusUse | undefined)[],
): Generator<Complaint> {
  const done = isDone(entry);
  const key = doneKeyOf(entry);
  if (done || key === undefined || isStatusKey(key) || !isDoneWord(entry.status)) {
    return;
  }
  const others = statuses.flatMap((use, index) =>
    use === undefined || index === position ? [] : [use],
  );
  if (statusFollows(String(entry.status), done, others)) {
    yield {
      code: 'statusContradicts',
      severity: 'info',
      key: 'status',
      message: say(
        'The status says that the story is done, but "{0}": false says that it is not, and this counts: correct one of them.',
        key,
      ),
      fixes: () => [setValue(document, position, key, true, false)],
    };
  }
}

/** The status of each entry, with the value of its done key. */
export function statusUses(document: PrdDocument): (StatusUse | undefined)[] {
  return document.entries.map(entry => {
    if (!isEntry(entry) || typeof entry.status !== 'string') {
      return undefined;
    }
    const { status } = entry;
    return isStatusKey(doneKeyOf(entry)) ? { status } : { status, done: isDone(entry) };
  });
}
