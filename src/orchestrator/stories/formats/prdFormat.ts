import { type Message, say } from '../../../base/say.ts';
import { doneChanges } from '../edit/doneChanges.ts';
import { appendEntry, listStart, newEntry, nextNumberId } from '../edit/entryAddition.ts';
import { moveEntry } from '../edit/entryMove.ts';
import { setMembers } from '../edit/jsonEdit.ts';
import { requireSameGroup } from '../edit/workOrder.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems, otherListMessage } from '../storyProblems.ts';
import { findChoiceProblems } from './callChoice.ts';
import {
  findMisnamedKeys,
  type MisnamedList,
  misnamedList,
  misnamedListMessage,
} from './fieldNames.ts';
import { findInexactIds } from './inexactId.ts';
import { elementsOf, elementsOfMember, membersOf, type Span, skipSpace } from './jsonOutline.ts';
import { jsonParts } from './jsonParts.ts';
import { findRepeatedKeys, readJson } from './jsonText.ts';
import { plainText } from './plainText.ts';
import { doneKeyOf, type Entry, isDone, isEntry, ownId, readStory, titleOf } from './prdEntry.ts';
import { epicNeeds, findEpicProblems } from './prdEpicProblems.ts';
import { CHILD_KEYS, listOf, withEpics } from './prdEpics.ts';
import { DEPENDENCY_KEYS, LIST_KEYS } from './prdKeys.ts';
import { findStoryArray, isListedStory, readHeading, type StoryArray } from './prdRoot.ts';
import { findStatusProblems } from './statusWord.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import { looksLikeStory, nameOf, partLists, partsMessage } from './storyParts.ts';
import type { TextLines } from './textLines.ts';
import { findUnreadNeeds } from './unreadNeeds.ts';

/** Keys of lists of groups, each of which may have stories. */
const GROUP_KEYS = ['phases', 'sprints', 'epics', 'milestones'];

/** What says that a story is not done, if no other one does. */
const USUAL = { key: 'passes', word: 'pending' } as const;

/** `prd.json` in any of its dialects. */
export const prd: StoryFormat = { name: 'prd', read };

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const parsed = readJson(text, lines);
  if ('code' in parsed) {
    return parsed;
  }
  const { root } = parsed;
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
      ...unreadStories(text, root, array, stories, lines),
      ...listsInStories(text, array, { stories, startOf }, lines),
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
      ...[findChoiceProblems, findInexactIds, findStatusProblems, findUnreadNeeds].flatMap(find =>
        find(
          array.entries.map(entry => (isEntry(entry) ? entry : undefined)),
          (position, key) => placeOf({ position }, [key]),
        ),
      ),
    ],
  );
  return {
    heading: readHeading(root),
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

/** Stories next to the list that is read, which it does not have. */
function unreadStories(
  text: string,
  root: unknown,
  { key: used }: StoryArray,
  stories: readonly Story[],
  lines: TextLines,
): StoryProblem[] {
  if (!isEntry(root) || used === undefined) {
    return [];
  }
  const known = new Set(stories.flatMap(({ id, title }) => [id, title]));
  const around = { text, root, used, known, lines };
  return [...otherLists(around, stories), ...storiesInObjects(around)];
}

/** A file, with the key of the list that is read, and the ids and titles of its stories. */
interface Around {
  readonly text: string;
  readonly root: Entry;
  readonly used: string;
  readonly known: ReadonlySet<string>;
  readonly lines: TextLines;
}

/** Lists next to the one that is read. */
function otherLists(
  { known, lines, root, text, used }: Around,
  stories: readonly Story[],
): StoryProblem[] {
  const start = skipSpace(text, 0);
  const unreadIn = (holder: Entry, from: number, key: (typeof LIST_KEYS)[number]): Span[] => {
    const list = holder[key];
    const isUnread = (item: unknown) => isListedStory(key, item) && !known.has(nameOf(item));
    return Array.isArray(list) && list.some(isUnread)
      ? elementsOfMember(text, from, key).filter((_, index) => isUnread(list[index]))
      : [];
  };
  const own = LIST_KEYS.filter(key => key !== used).map(key => ({
    key,
    spans: unreadIn(root, start, key),
  }));
  const isGroup = groupsOf(stories, known);
  const isLeft = (item: unknown) =>
    looksLikeStory(item) && !isGroup(item) && !known.has(nameOf(item));
  const others = Object.entries(root).flatMap(([key, list]) => {
    const isOther = ![...LIST_KEYS, ...GROUP_KEYS].some(name => name === key);
    const items: readonly unknown[] = isOther && Array.isArray(list) ? list : [];
    // A list with nothing but finished work is an archive.
    return items.some(item => isLeft(item) && !isDone(item as Entry))
      ? [{ key, spans: elementsOfMember(text, start, key).filter((_, i) => isLeft(items[i])) }]
      : [];
  });
  const nested = GROUP_KEYS.map(key => {
    const groups: unknown = root[key];
    const places = Array.isArray(groups) ? elementsOfMember(text, start, key) : [];
    const spans = places.flatMap((place, index) => {
      const group: unknown = Array.isArray(groups) ? groups[index] : undefined;
      return isEntry(group) ? LIST_KEYS.flatMap(list => unreadIn(group, place.start, list)) : [];
    });
    return { key, spans };
  });
  return [...own, ...others, ...nested].flatMap(({ key, spans }): StoryProblem[] => {
    const [first] = spans;
    return first === undefined
      ? []
      : [
          {
            code: 'notAStory',
            message: otherListMessage(key, spans.length, used),
            ...lines.at(first.start),
          },
        ];
  });
}

/** Objects in the place of a list, whose keys are the ids of stories, or which are a story themselves. */
function storiesInObjects({ known, lines, root, text, used }: Around): StoryProblem[] {
  const unreadIn = (list: (typeof LIST_KEYS)[number], holder: Entry): number =>
    looksLikeStory(holder) && !hasCounts(holder)
      ? Number(!known.has(nameOf(holder)))
      : Object.entries(holder).filter(
          ([id, item]) =>
            isListedStory(list, item) && ![id, nameOf(item)].some(name => known.has(name)),
        ).length;
  return membersOf(text, skipSpace(text, 0)).flatMap(({ key, name }): StoryProblem[] => {
    const list = LIST_KEYS.find(one => one === key);
    const holder = root[key];
    const count = list !== undefined && isEntry(holder) ? unreadIn(list, holder) : 0;
    const message = say(
      'Stories in "{0}" that are not read, because it is an object: {1}. Write the stories as a list, in "{2}".',
      plainText(key),
      count,
      plainText(used),
    );
    return count === 0 ? [] : [{ code: 'notAStory', message, ...lines.at(name.start) }];
  });
}

/** Whether an object counts stories, as in `{"total": 12, "completed": 5}`. */
function hasCounts(entry: Entry): boolean {
  const key = doneKeyOf(entry);
  return key !== undefined && typeof entry[key] === 'number';
}

/** Whether an entry is a group of stories: they name it, or it lists their ids. */
function groupsOf(
  stories: readonly Story[],
  known: ReadonlySet<string>,
): (entry: Entry) => boolean {
  const groups = new Set(stories.map(({ epic }) => epic));
  return entry =>
    [ownId(entry), titleOf(entry)].some(name => name !== undefined && groups.has(name)) ||
    listOf(entry, CHILD_KEYS).some(id => known.has(id));
}

/** Lists in stories with parts that look like stories. */
function listsInStories(
  text: string,
  { entries }: StoryArray,
  read: {
    readonly stories: readonly Story[];
    readonly startOf: (story: Pick<Story, 'position'>) => number;
  },
  lines: TextLines,
): StoryProblem[] {
  const known = new Set(read.stories.flatMap(({ id, title }) => [id, title]));
  return read.stories.flatMap(story => {
    const entry = entries[story.position];
    return (isEntry(entry) ? partLists(entry, known) : []).map(parts => {
      const spans = elementsOfMember(text, read.startOf(story), parts.key);
      return {
        code: 'notAStory' as const,
        ...(parts.isCriteria && { severity: 'info' as const }),
        message: partsMessage(parts, story.id),
        ...lines.at(spans[parts.unread[0] ?? 0]?.start ?? 0),
      };
    });
  });
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
  const nested = GROUP_KEYS.find(key => Array.isArray(root[key]));
  if (misnamed !== undefined) {
    return misnamedListMessage(misnamed);
  }
  return nested === undefined
    ? say('The file has no list of stories. {0}', fix)
    : say('The stories are nested in "{0}", which this program does not run. {1}', nested, fix);
}
