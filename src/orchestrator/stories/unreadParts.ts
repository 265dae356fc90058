import path from 'node:path';
import { groupBy } from '../../base/groupBy.ts';
import { type Message, say, type Words } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { StoryList, StoryProblem } from './story.ts';

/** Maximum number of named places of one kind. */
const MAX_PLACES = 5;

type Code = StoryProblem['code'];

/** A finding about a story file and the next step, as sentences. */
export interface UnreadPart {
  readonly message: Message;
  readonly next: Message;
}

/** What is said together: problems by which a run would leave stories out, do them again, or take them in a wrong order. */
const KINDS: readonly {
  readonly codes: readonly Code[];
  readonly words: (places: Words, count: number) => Message;
}[] = [
  {
    codes: ['notAStory'],
    words: (places, count) =>
      count === 1
        ? say(
            'No agent works on an entry of the story file that is not read as a story: {0}.',
            places,
          )
        : say(
            'No agent works on entries of the story file that are not read as stories: {0}.',
            places,
          ),
  },
  {
    codes: ['unclosedBlock'],
    words: places =>
      say(
        'No agent works on items of the story file that an open code fence or comment hides: {0}.',
        places,
      ),
  },
  {
    codes: ['repeatedKey'],
    words: places =>
      say('A part of the story file is not read, because its key is there twice: {0}.', places),
  },
  {
    codes: ['misspelledStatus'],
    words: places =>
      say('The state of stories is not read, because its key is not known: {0}.', places),
  },
  {
    codes: ['unknownStatus'],
    words: places =>
      say('The state of stories is not known, so they count as not done: {0}.', places),
  },
  {
    codes: ['duplicateId'],
    words: places => say('Stories have the id of another story: {0}.', places),
  },
  {
    codes: ['misspelledDependency', 'unreadDependency'],
    words: places => say('What stories wait for is not read: {0}.', places),
  },
  {
    codes: ['misspelledKey'],
    words: places =>
      say(
        'The priority or title of stories is not read, because its key is not known: {0}.',
        places,
      ),
  },
  {
    codes: ['priorityNotNumber'],
    words: places =>
      say('The priority of stories is not known, so they come after others: {0}.', places),
  },
];

/** Their problems are told by {@link unreadParts}, each kind together. */
export const UNREAD_CODES: ReadonlySet<string> = new Set(KINDS.flatMap(({ codes }) => codes));

/**
 * What of a story file is not read as it was probably meant: each kind once, in the order in which a person should correct
 * them. Otherwise a run would end without a story, or do again what is done.
 */
export function unreadParts({ path: list, problems }: StoryList): readonly UnreadPart[] {
  const byCode = groupBy(
    problems.filter(({ severity }) => severity !== 'info'),
    ({ code }) => code,
  );
  return KINDS.flatMap(({ codes, words }): readonly UnreadPart[] => {
    const found = codes.flatMap(code => byCode.get(code) ?? []);
    const [first, ...rest] = found;
    if (first === undefined) {
      return [];
    }
    // What to do about this one may be wrong for others.
    const next = rest.every(({ message }) => message.key === first.message.key)
      ? first.message
      : say('Line {0}: {1}', first.line, first.message);
    return [{ message: words(placesIn(list, found), found.length), next }];
  });
}

/** The ids that several stories have. */
export function sharedIdsIn({ problems }: StoryList): readonly string[] {
  const shared = problems.filter(({ code }) => code === 'duplicateId');
  return [...new Set(shared.flatMap(({ subject }) => subject?.ids ?? []))];
}

/** That no agent works on entries of a list that are not read as stories; `undefined` if every entry is read. */
export function unreadEntries(list: StoryList): UnreadPart | undefined {
  const problems = list.problems.filter(({ code }) => code === 'notAStory');
  return unreadParts({ ...list, problems })[0];
}

function placesIn(list: string, problems: readonly StoryProblem[]): Words {
  const named = [
    ...new Set(problems.map(({ file, line }) => `${file ?? path.basename(list)}:${line}`)),
  ];
  const shown = shorten(named.slice(0, MAX_PLACES).join(', '), 300);
  const more = named.length - MAX_PLACES;
  return more > 0 ? say('{0} and {1} more', shown, more) : shown;
}
