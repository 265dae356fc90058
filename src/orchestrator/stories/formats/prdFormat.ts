import { type Message, say } from '../../../base/say.ts';
import { doneChanges } from '../edit/doneChanges.ts';
import { appendEntry, listStart, newEntry, nextNumberId } from '../edit/entryAddition.ts';
import { moveEntry } from '../edit/entryMove.ts';
import { setMembers } from '../edit/jsonEdit.ts';
import { requireSameGroup } from '../edit/workOrder.ts';
import { rootAsRead } from '../outsiderTexts.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems } from '../storyProblems.ts';
import { findEntryProblems } from './entryProblems.ts';
import {
  findMisnamedKeys,
  type MisnamedList,
  misnamedList,
  misnamedListMessage,
} from './fieldNames.ts';
import { findInnerStories } from './innerStories.ts';
import { isIssueCopy } from './issueCopy.ts';
import { elementsOf, elementsOfMember, membersOf, type Span, skipSpace } from './jsonOutline.ts';
import { jsonParts } from './jsonParts.ts';
import { findRepeatedKeys, readJson } from './jsonText.ts';
import { plainText } from './plainText.ts';
import { type Entry, isEntry, readStory } from './prdEntry.ts';
import { epicNeeds, findEpicProblems } from './prdEpicProblems.ts';
import { withEpics } from './prdEpics.ts';
import { DEPENDENCY_KEYS, GROUP_KEYS, LIST_KEYS } from './prdKeys.ts';
import { findStoryArray, readHeading, type StoryArray } from './prdRoot.ts';
import { findStrays } from './prdStrays.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import { looksLikeStory } from './storyParts.ts';
import type { TextLines } from './textLines.ts';

/** What says that a story is not done, if no other one does. */
const USUAL = { key: 'passes', word: 'pending' } as const;

/** `prd.json` in any of its dialects. */
export const prd: StoryFormat = { name: 'prd', read };

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const parsed = readJson(text, lines);
  if ('code' in parsed) {
    return parsed;
  }
  const root = rootAsRead(parsed.root);
  const array = findStoryArray(root);
  const objects = isEntry(root) ? [{ entry: root, start: skipSpace(text, 0) }] : [];
  if (array === undefined) {
    const start = skipSpace(text, 0);
    const isList = (key: string) => LIST_KEYS.some(list => list === key);
    const [lost] = findRepeatedKeys(text, objects, lines, isList);
    if (lost !== undefined) {
      return { ...lost, code: 'noStories' };
    }
    const misnamed = isEntry(root) ? misnamedList(root, LIST_KEYS, looksLikeStory) : undefined;
    const member = misnamed && membersOf(text, start).find(({ key }) => key === misnamed.key);
    return {
      code: 'noStories',
      message: noStoriesMessage(root, misnamed),
      ...lines.at(member?.name.start ?? start),
    };
  }

  const spans = findEntries(text, array.key);
  const startOf = (story: Pick<Story, 'position'>) => spans[story.position]?.start ?? 0;
  const stories = withEpics(
    root,
    array.entries,
    array.entries.flatMap((entry, position) =>
      isEntry(entry)
        ? [withParked(readStory(entry, position, lines.at(startOf({ position })).line), entry)]
        : [],
    ),
  );
  const needsOfEpic = epicNeeds(text, root, array, stories);
  const placeOf = (story: Pick<Story, 'position'>, keys: readonly string[]) => {
    const member = membersOf(text, startOf(story)).find(({ key }) => keys.includes(key));
    return lines.at(member?.name.start ?? startOf(story));
  };
  const problems = findStoryProblems(
    stories,
    (story, fact, names) => {
      const ofEpic = fact === 'id' ? undefined : needsOfEpic(story, names);
      return ofEpic === undefined
        ? placeOf(story, fact === 'id' ? ['id'] : DEPENDENCY_KEYS)
        : lines.at(ofEpic);
    },
    [
      ...array.entries.flatMap((entry, position) =>
        isEntry(entry) ? [] : [notAStory(position, lines.at(startOf({ position })))],
      ),
      ...findStrays({ text, root, lines }, array.key, stories),
      ...findInnerStories(text, lines, stories, position => {
        const entry = array.entries[position];
        return isEntry(entry) ? { entry, start: startOf({ position }) } : undefined;
      }),
      ...findEpicProblems({ text, root, lines }, array, stories, placeOf),
      ...findMisnamedKeys(
        array.entries.map(entry => (isEntry(entry) ? entry : {})),
        (position, key) => placeOf({ position }, [key]),
        'dependsOn',
      ),
      ...findRepeatedKeys(
        text,
        [
          ...objects,
          ...array.entries.flatMap((entry, position) =>
            isEntry(entry) ? [{ entry, start: startOf({ position }) }] : [],
          ),
        ],
        lines,
      ),
      ...findEntryProblems(
        array.entries.map(entry => (isEntry(entry) ? entry : undefined)),
        (position, key) => placeOf({ position }, [key]),
      ),
    ],
  );
  return {
    heading: { ...readHeading(root), ...(isIssueCopy(root) && { isIssueCopy: true }) },
    stories,
    problems,
    edits: (story, done) =>
      setMembers(text, startOf(story), changesOf(array, story.position, done)),
    nextId: () => nextNumberId(array.entries, USUAL),
    add: story => [
      appendEntry(
        text,
        spans,
        listStart(text, skipSpace(text, 0), array.key),
        newEntry(story, array.entries, USUAL),
      ),
    ],
    parts: jsonParts(text, position => spans[position]?.start),
    spanOf: position => spans[position] ?? { start: 0, end: 0 },
    move: (...move) => {
      requireSameGroup(move[0], move[1]);
      return moveEntry({ text, stories, spansOf: found => findEntries(found, array.key) }, move);
    },
  };
}

/** The copy of issues on GitHub marks those that are not to be worked on. */
function withParked(story: Story, { parked }: Entry): Story {
  return parked === true && !story.done ? { ...story, parked } : story;
}

/** The positions of a list's entries: those of the file itself, or those under `key` of its object. */
export function findEntries(text: string, key: string | undefined): readonly Span[] {
  const start = skipSpace(text, 0);
  return key === undefined ? elementsOf(text, start) : elementsOfMember(text, start, key);
}

/** An entry that looks like a story and is not read: a list must not become shorter without a word. */
function notAStory(position: number, place: Pick<StoryProblem, 'line' | 'column'>): StoryProblem {
  return {
    code: 'notAStory',
    message: notAStoryMessage(),
    ...place,
    subject: { position, ids: [] },
  };
}

/** Shared by the reader and the editor, which has a fix for it. */
export function notAStoryMessage(): Message {
  return say(
    'This entry is not an object, so it is ignored: write the story as {…}, or remove the entry.',
  );
}

function changesOf(
  { entries }: StoryArray,
  position: number,
  done: boolean,
): ReadonlyMap<string, boolean | string> {
  const entry = entries[position];
  const others = entries.filter((_, index) => index !== position).filter(isEntry);
  return isEntry(entry) ? doneChanges(entry, others, done) : new Map();
}

function noStoriesMessage(root: unknown, misnamed: MisnamedList | undefined): Message {
  const fix = say('Put the stories into a list "userStories", each with id, title and passes.');
  if (!isEntry(root)) {
    return Array.isArray(root)
      ? say(
          'The entries of this list do not look like stories (no passes, status, or id with title). {0}',
          fix,
        )
      : say('The file contains a single value, not stories. {0}', fix);
  }
  if (typeof root.$schema === 'string' && isEntry(root.items ?? root.properties)) {
    return say('This is a JSON schema, not a list of stories. {0}', fix);
  }
  const nested =
    GROUP_KEYS.find(key => Array.isArray(root[key])) ??
    Object.keys(root).find(key => hasStoryList(root[key]));
  if (misnamed !== undefined) {
    return misnamedListMessage(misnamed);
  }
  return nested === undefined
    ? say('The file has no list of stories. {0}', fix)
    : say(
        'The stories are nested in "{0}", which this program does not run. {1}',
        plainText(nested),
        fix,
      );
}

function hasStoryList(value: unknown): boolean {
  return isEntry(value) && (findStoryArray(value)?.entries.length ?? 0) > 0;
}
