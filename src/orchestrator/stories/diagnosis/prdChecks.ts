import { numberId } from '../../../base/numberId.ts';
import { type Message, say } from '../../../base/say.ts';
import { type JsonValue, literal, memberSpan, removePart } from '../edit/jsonEdit.ts';
import {
  lacksOf,
  type Misnamed,
  misnamed,
  misnamedKeyMessage,
  misspelledStatus,
  namesIn,
  wrongKindMessage,
  yesOrNo,
} from '../formats/fieldNames.ts';
import { isInexact } from '../formats/inexactId.ts';
import { skipSpace } from '../formats/jsonOutline.ts';
import { plainText } from '../formats/plainText.ts';
import {
  doneKeyOf,
  type Entry,
  firstText,
  isDone,
  isEntry,
  isVoid,
  ownId,
  readCriteria,
  readDependencies,
} from '../formats/prdEntry.ts';
import { notAStoryMessage } from '../formats/prdFormat.ts';
import {
  CRITERIA_KEYS,
  DEPENDENCY_KEYS,
  DESCRIPTION_KEYS,
  DONE_KEYS,
  TITLE_KEYS,
} from '../formats/prdKeys.ts';
import { isKnownStatus } from '../formats/statusWord.ts';
import { unreadNeeds, unreadNeedsMessage } from '../formats/unreadNeeds.ts';
import { hasUnreadPriority, unreadPriorityMessage } from '../formats/unreadPriority.ts';
import type { Complaint, Surroundings } from './complaint.ts';
import { checkDone, statusUses } from './doneChecks.ts';
import { addField, replaceKey, setValue } from './entryFixes.ts';
import { type Habits, habitsOf } from './habits.ts';
import { takeFreeId } from './ids.ts';
import type { PrdDocument } from './prdDocument.ts';
import type { StoryDiagnosis } from './storyDiagnosis.ts';

/** Of a number in a text that may be meant as a priority. */
const MAX_DIGITS = 6;

const EXAMPLE_TITLE = 'One small step that a single agent can finish';
const EXAMPLE_CRITERIA = ['Something that can be checked', 'The tests pass'];
const FIRST_ID = 'US-001';
const WRITTEN_KEYS: Readonly<Record<Misnamed['fact'], readonly string[]>> = {
  done: DONE_KEYS,
  criteria: CRITERIA_KEYS,
  dependencies: DEPENDENCY_KEYS,
  priority: ['priority'],
  title: ['title'],
};

/**
 * Checks each entry of a `prd.json` on its own: missing and misnamed fields, values of the wrong type, words
 * instead of true or false. In the order of the file, lazily.
 * @param taken ids that are in use; grows by those that the fixes assign
 */
export function* checkEntries(
  document: PrdDocument,
  taken: Set<string>,
): Generator<StoryDiagnosis> {
  if (document.entries.length === 0) {
    yield emptyList(document);
    return;
  }
  const habits = habitsOf(document);
  const ids = namesIn(document.entries.filter(isEntry));
  const statuses = statusUses(document);
  for (const position of document.entries.keys()) {
    for (const complaint of checkEntry(document, position, { habits, ids, statuses, taken })) {
      const { key, fixes, ...facts } = complaint;
      const member = key === undefined ? undefined : document.member(position, key);
      const place = member === undefined ? head(document, position) : memberSpan(member);
      yield { ...facts, ...place, fixes: fixes ?? (() => []) };
    }
  }
}

function* checkEntry(
  document: PrdDocument,
  position: number,
  around: Surroundings,
): Generator<Complaint> {
  const entry = document.entry(position);
  if (entry === undefined) {
    yield notAStory(document, position, around);
    return;
  }
  const isEmpty =
    firstText(entry, [...TITLE_KEYS, ...DESCRIPTION_KEYS]) === undefined &&
    readCriteria(entry).length === 0;
  if (isEmpty && Object.keys(entry).every(key => key === 'id' || key === 'passes')) {
    yield {
      code: 'emptyStory',
      severity: 'warning',
      message: say(
        'This story does not say what to do: give it a title and criteria, or remove it.',
      ),
      fixes: () => [
        {
          kind: 'removeEntry',
          values: [],
          edits: [removePart(document.spans, position)],
          isClear: false,
        },
      ],
    };
    return;
  }
  const { habits } = around;
  const misnamedFacts = misnamed(
    entry,
    {
      done: doneKeyOf(entry) === undefined,
      criteria: readCriteria(entry).length === 0,
      dependencies: readDependencies(entry).length === 0,
      ...(!isDone(entry) && lacksOf(entry)),
    },
    around.ids,
  );
  for (const { fact, key } of misnamedFacts) {
    yield misnamedKey(document, position, { fact, key }, habits);
  }
  const isMisnamed = (fact: Misnamed['fact']) => misnamedFacts.some(found => found.fact === fact);
  yield* checkTexts(document, position, entry, around, isMisnamed);
  const hasOtherKey = misspelledStatus(entry, isKnownStatus) !== undefined;
  yield* checkDone(document, position, entry, around, hasOtherKey);
  yield* checkParked(document, position, entry);
  yield* checkNumbers(document, position, entry);
}

/** Only `true` puts a story aside: with a text, agents work on it. */
function* checkParked(
  document: PrdDocument,
  position: number,
  { parked }: Entry,
): Generator<Complaint> {
  if (typeof parked !== 'boolean' && !isVoid(parked)) {
    const meant = yesOrNo(parked);
    yield {
      ...wrongKind('parked', say('true or false')),
      fixes: () =>
        meant === undefined ? [] : [setValue(document, position, 'parked', meant, true)],
    };
  }
}

function* checkTexts(
  document: PrdDocument,
  position: number,
  entry: Entry,
  { habits, taken }: Surroundings,
  isMisnamed: (fact: Misnamed['fact']) => boolean,
): Generator<Complaint> {
  const missing = (field: string, words: Message, value: () => JsonValue): Complaint => {
    const isPresent = entry[field] !== undefined;
    return {
      code: `missing${field[0]?.toUpperCase()}${field.slice(1)}`,
      severity: 'info',
      message: words,
      key: isPresent ? field : undefined,
      fixes: () =>
        isPresent && !isVoid(entry[field])
          ? []
          : [addField(document, position, field, value(), field === 'id')],
    };
  };
  if (ownId(entry) === undefined && !isInexact(entry.id) && habits.hasIds) {
    const free = takeFreeId(taken, document.ids().at(-1) ?? FIRST_ID);
    yield missing(
      'id',
      say('This story has no id, so nothing can refer to it: give it one.'),
      () => free,
    );
  }
  const id = ownId(entry) ?? numberId(position);
  if (firstText(entry, TITLE_KEYS) === undefined && habits.hasTitles && !isMisnamed('title')) {
    yield missing(
      'title',
      say('{0} has no title: say in one line what to do.', plainText(id)),
      () => EXAMPLE_TITLE,
    );
  }
  // Nobody has to tell of a done story when it is done.
  const needsCriteria = habits.hasCriteria && !isMisnamed('criteria') && !isDone(entry);
  if (needsCriteria && readCriteria(entry).length === 0) {
    yield missing(
      habits.criteriaKey,
      say(
        '{0} has no acceptance criteria, so nobody can tell when it is done: add what can be checked.',
        plainText(id),
      ),
      () => EXAMPLE_CRITERIA,
    );
  }
  for (const key of ['title', 'description']) {
    const value = entry[key];
    if (value !== undefined && value !== null && typeof value === 'object') {
      yield wrongKind(key, say('a text'));
    }
  }
}

function* checkNumbers(
  document: PrdDocument,
  position: number,
  entry: Entry,
): Generator<Complaint> {
  const { priority } = entry;
  if (hasUnreadPriority(entry)) {
    const written = document.member(position, 'priority')?.value;
    const [digits] = typeof priority === 'string' ? (/\d+/.exec(priority) ?? []) : [];
    yield {
      code: 'priorityNotNumber',
      severity: 'warning',
      key: 'priority',
      message: unreadPriorityMessage(
        priority,
        written && document.text.slice(written.start, written.end),
      ),
      fixes: () =>
        digits === undefined || digits.length > MAX_DIGITS
          ? []
          : [setValue(document, position, 'priority', Number(digits), true)],
    };
  }
  for (const key of unreadNeeds(entry)) {
    yield { code: 'wrongType', severity: 'warning', key, message: unreadNeedsMessage(key) };
  }
}

function notAStory(
  document: PrdDocument,
  position: number,
  { habits, taken }: Surroundings,
): Complaint {
  const value = document.entries[position];
  const title = typeof value === 'string' ? value.trim() : '';
  const { start, end } = document.span(position);
  return {
    code: 'notAStory',
    severity: 'warning',
    message: notAStoryMessage(),
    fixes: () => {
      if (title === '') {
        return [
          {
            kind: 'removeEntry',
            values: [],
            edits: [removePart(document.spans, position)],
            isClear: false,
          },
        ];
      }
      const id = takeFreeId(taken, document.ids().at(-1) ?? FIRST_ID);
      const content = `{ "id": ${literal(id)}, "title": ${literal(title)}, "${habits.doneKey ?? 'passes'}": false }`;
      return [
        {
          kind: 'makeStory',
          values: [id],
          edits: [{ offset: start, length: end - start, content }],
          isClear: false,
        },
      ];
    },
  };
}

function misnamedKey(
  document: PrdDocument,
  position: number,
  { fact, key }: Misnamed,
  habits: Habits,
): Complaint {
  const known = WRITTEN_KEYS[fact];
  const usual =
    fact === 'done'
      ? (habits.doneKey ?? 'passes')
      : fact === 'criteria'
        ? habits.criteriaKey
        : fact === 'dependencies'
          ? habits.dependencyKey
          : fact;
  const others = known.filter(name => name !== usual).slice(0, 2);
  return {
    code: 'unknownKey',
    severity: 'warning',
    key,
    message:
      others.length === 0
        ? misnamedKeyMessage(key, usual)
        : say(
            'The key "{0}" is ignored: rename it to "{1}" (or {2}).',
            plainText(key),
            usual,
            others.join(', '),
          ),
    fixes: () => {
      const done = fact === 'done' ? yesOrNo(document.entry(position)?.[key]) : undefined;
      return replaceKey(document, position, key, usual, done);
    },
  };
}

function wrongKind(key: string, expected: Message): Complaint {
  return {
    code: 'wrongType',
    severity: 'warning',
    key,
    message: wrongKindMessage(key, expected),
  };
}

/** The list has no entries yet. */
function emptyList(document: PrdDocument): StoryDiagnosis {
  const start = skipSpace(document.text, 0);
  const place = document.listSpan();
  const story = `{ "id": "${FIRST_ID}", "title": ${literal(EXAMPLE_TITLE)}, "acceptanceCriteria": ${literal(EXAMPLE_CRITERIA)}, "passes": false }`;
  return {
    code: 'noStoriesYet',
    severity: 'info',
    message: say(
      'There are no stories yet: add one with id, title, acceptanceCriteria and "passes": false.',
    ),
    start: place?.start ?? start,
    end: place?.end ?? start + 1,
    fixes: () =>
      place === undefined
        ? []
        : [
            {
              kind: 'addFirstStory',
              values: [],
              edits: [
                { offset: place.start, length: place.end - place.start, content: `[${story}]` },
              ],
              isClear: false,
            },
          ],
  };
}

/** The bracket or first line of an entry, so that not the whole story is underlined. */
function head(
  document: PrdDocument,
  position: number,
): { readonly start: number; readonly end: number } {
  const { start, end } = document.span(position);
  const isObject = document.entry(position) !== undefined;
  const [first] = isObject ? document.members(position) : [];
  return { start, end: first === undefined ? end : first.value.end };
}
