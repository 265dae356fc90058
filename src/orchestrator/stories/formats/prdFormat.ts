import { numberId } from '../../../base/numberId.ts';
import { once } from '../../../base/once.ts';
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
  findMisnamedNeeds,
  type MisnamedList,
  misnamedList,
  misnamedListMessage,
} from './fieldNames.ts';
import { findInexactIds } from './inexactId.ts';
import { elementsOf, elementsOfMember, membersOf, type Span, skipSpace } from './jsonOutline.ts';
import { jsonParts } from './jsonParts.ts';
import { findRepeatedKeys, readJson } from './jsonText.ts';
import { plainText } from './plainText.ts';
import {
  dependencyId,
  type Entry,
  firstText,
  isDone,
  isEntry,
  ownId,
  readStory,
  titleOf,
} from './prdEntry.ts';
import { DEPENDENCY_KEYS, isParkedWord, LIST_KEYS, STATUS_KEYS, TITLE_KEYS } from './prdKeys.ts';
import { findStoryArray, isListedStory, readHeading, type StoryArray } from './prdRoot.ts';
import { findStatusProblems } from './statusWord.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import { type NamedGroup, StoryNames } from './storyNames.ts';
import { looksLikeStory, nameOf, partLists, partsMessage } from './storyParts.ts';
import type { TextLines } from './textLines.ts';

/** Keys of a story with the id of its epic, and of an epic with the ids of its stories. */
const EPIC_ID_KEYS = ['parentEpic', 'parent_epic', 'epicId', 'epic_id'];
/** The last one may also be the name of a group that is not listed. */
const PARENT_KEYS = [...EPIC_ID_KEYS, 'epic'];
export const CHILD_KEYS = ['children', 'stories', 'userStories', 'tasks', 'storyIds'];

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
  const placeOf = (story: Pick<Story, 'position'>, keys: readonly string[]) => {
    const member = membersOf(text, startOf(story)).find(({ key }) => keys.includes(key));
    return lines.at(member?.name.start ?? startOf(story));
  };
  const problems = findStoryProblems(
    stories,
    (story, fact) => placeOf(story, fact === 'id' ? ['id'] : DEPENDENCY_KEYS),
    [
      ...array.entries.flatMap((entry, position) =>
        isEntry(entry) ? [] : [notAStory(position, lines.at(startOf({ position })))],
      ),
      ...otherLists(text, root, array, stories, lines),
      ...listsInStories(text, array, { stories, startOf }, lines),
      ...unknownEpics(root, array, stories, placeOf),
      ...unknownChildren(text, root, stories, lines),
      ...findMisnamedNeeds(
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
      ...[findChoiceProblems, findInexactIds, findStatusProblems].flatMap(find =>
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

interface Epic extends NamedGroup {
  readonly needs: readonly string[];
}

/**
 * Stories with the titles of their epics, and with dependencies as ids: files also name stories by title or number, and
 * epics for all of their stories.
 * @param root the whole file, which may have a list of epics
 * @param entries of the stories, by position
 */
function withEpics(
  root: unknown,
  entries: readonly unknown[],
  stories: readonly Story[],
): readonly Story[] {
  const listed = epicsOf(root);
  const ids = new Set(stories.map(({ id }) => id));
  const parents = new Map(
    stories.map(story => [story, parentOf(entries[story.position])] as const),
  );
  const isPlain =
    listed.length === 0 &&
    stories.every(
      story =>
        story.dependsOn.every(id => ids.has(id)) &&
        (story.epic !== undefined || parents.get(story) === undefined),
    );
  if (isPlain) {
    return stories;
  }
  const epics = listed.map(epic => readEpic(epic, stories, parents));
  const names = new StoryNames(
    stories,
    epics.map((epic, index) => waitingFor(epic, listed[index] ?? {})),
  );
  return stories.map(story => {
    const epic = epics.find(({ stories: own }) => own.includes(story.id));
    const needs = [
      ...story.dependsOn.flatMap(need => names.meantBy(need)),
      ...(epic?.needs ?? []).flatMap(need => names.meantByGroup(need)),
    ];
    return {
      ...story,
      dependsOn: [...new Set(needs)],
      epic: epic?.name ?? epic?.id ?? story.epic ?? parents.get(story),
    };
  });
}

/** What waits for an epic none of whose stories are read waits for a story that does not exist, unless the epic is done. */
function waitingFor(epic: Epic, entry: Entry): Epic {
  const own = epic.id ?? epic.name;
  return epic.stories.length > 0 || own === undefined || isDone(entry)
    ? epic
    : { ...epic, stories: [own] };
}

function epicsOf(root: unknown): readonly Entry[] {
  return isEntry(root) && Array.isArray(root['epics']) ? root['epics'].filter(isEntry) : [];
}

function readEpic(
  epic: Entry,
  stories: readonly Story[],
  parents: ReadonlyMap<Story, string | undefined>,
): Epic {
  const id = ownId(epic);
  const name = firstText(epic, TITLE_KEYS)?.trim();
  const children = new Set(listOf(epic, CHILD_KEYS));
  return {
    id,
    name,
    stories: stories
      .filter(story => {
        const parent = parents.get(story);
        return children.has(story.id) || (parent !== undefined && [id, name].includes(parent));
      })
      .map(story => story.id),
    needs: listOf(epic, DEPENDENCY_KEYS),
  };
}

function parentOf(entry: unknown): string | undefined {
  return isEntry(entry) ? firstText(entry, PARENT_KEYS)?.trim() : undefined;
}

function listOf(entry: Entry, keys: readonly string[]): readonly string[] {
  return keys
    .flatMap(key => entry[key] ?? [])
    .map(dependencyId)
    .filter(id => id !== undefined);
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

/** Lists next to the one that is read, with stories that it does not have. */
function otherLists(
  text: string,
  root: unknown,
  { key: used }: StoryArray,
  stories: readonly Story[],
  lines: TextLines,
): StoryProblem[] {
  if (!isEntry(root) || used === undefined) {
    return [];
  }
  const start = skipSpace(text, 0);
  const known = new Set(stories.flatMap(({ id, title }) => [id, title]));
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

/** Stories of an epic that the list of epics does not have. */
function unknownEpics(
  root: unknown,
  { entries }: StoryArray,
  stories: readonly Story[],
  placeOf: (story: Story, keys: readonly string[]) => Pick<StoryProblem, 'line' | 'column'>,
): StoryProblem[] {
  const epics = epicsOf(root);
  const names = new Set(epics.flatMap(epic => [ownId(epic), firstText(epic, TITLE_KEYS)?.trim()]));
  return stories.flatMap((story): StoryProblem[] => {
    const entry = entries[story.position];
    const epic = isEntry(entry) ? firstText(entry, EPIC_ID_KEYS)?.trim() : undefined;
    return epics.length === 0 || epic === undefined || names.has(epic)
      ? []
      : [
          {
            code: 'unknownEpic',
            message: say(
              '{0} belongs to the epic {1}, which the list "epics" does not have: correct the id, or add the epic there.',
              plainText(story.id),
              plainText(epic),
            ),
            ...placeOf(story, EPIC_ID_KEYS),
          },
        ];
  });
}

/**
 * Ids that epics list and nothing in the file has. Texts in such a list may be something else, so only what looks like
 * the id of a story counts, or stands next to one. An epic that is done or put aside may have lost its stories.
 */
function unknownChildren(
  text: string,
  root: unknown,
  stories: readonly Story[],
  lines: TextLines,
): StoryProblem[] {
  const ids = new Set(stories.map(({ id }) => id));
  // Finished stories, for example, may be in other lists, as texts or keys.
  const known = once(() => {
    const { epics: own = [], ...others } = isEntry(root) ? (root as { epics?: unknown }) : {};
    const titles = epicsOf(root).flatMap(epic => titleOf(epic) ?? []);
    return new Set([...namesBelow(others, []), ...namesBelow(own, CHILD_KEYS), ...titles]);
  });
  const shapes = once(() => new Set(stories.map(({ id }) => shapeOf(id))));
  const spans = once(() => elementsOfMember(text, skipSpace(text, 0), 'epics'));
  const epics: readonly unknown[] =
    isEntry(root) && Array.isArray(root['epics']) ? root['epics'] : [];
  return epics.flatMap((epic, index): StoryProblem[] => {
    if (
      !isEntry(epic) ||
      isDone(epic) ||
      STATUS_KEYS.some(key => isParkedWord(epic[key])) ||
      stories.length === 0
    ) {
      return [];
    }
    const children = CHILD_KEYS.flatMap(key => {
      const list: readonly unknown[] = Array.isArray(epic[key]) ? epic[key] : [];
      return list.flatMap((child, at) => {
        const id = isEntry(child) || Array.isArray(child) ? undefined : dependencyId(child);
        return id === undefined ? [] : [{ id, key, at }];
      });
    });
    const hasStories = children.some(({ id }) => ids.has(id));
    const unknown = children.filter(
      ({ id }) =>
        !ids.has(id) &&
        !/\s/.test(id) &&
        (hasStories || (/\d/.test(id) && shapes().has(shapeOf(id)))) &&
        !known().has(id),
    );
    const [first] = unknown;
    const place = () => elementsOfMember(text, spans()[index]?.start ?? 0, first?.key ?? '');
    return first === undefined
      ? []
      : [
          {
            code: 'unknownEpic',
            message: say(
              'The epic {0} lists ids that no story has: {1}. Correct or remove them there.',
              plainText(titleOf(epic) ?? ownId(epic) ?? numberId(index)),
              [...new Set(unknown.map(({ id }) => plainText(id)))].slice(0, 5).join(', '),
            ),
            ...lines.at(place()[first.at]?.start ?? 0),
          },
        ];
  });
}

/**
 * What may be an id in a value: those of objects, keys, and the texts of lists. Files that are nested deep are not read.
 * @param others keys of lists whose texts are left out
 */
function* namesBelow(
  value: unknown,
  others: readonly string[],
  withTexts = true,
): Generator<string> {
  if (Array.isArray(value)) {
    for (const inner of value as readonly unknown[]) {
      if (withTexts && typeof inner !== 'object') {
        yield String(inner);
      }
      yield* namesBelow(inner, others);
    }
  } else if (isEntry(value)) {
    const id = ownId(value);
    yield* id === undefined ? [] : [id];
    for (const [key, inner] of Object.entries(value)) {
      yield key;
      yield* namesBelow(inner, others, !others.includes(key));
    }
  }
}

/** What ids of the same kind have in common: `US-001` and `US-12` do. */
function shapeOf(id: string): string {
  return id.replaceAll(/\d+/g, '0').replaceAll(/\p{L}+/gu, 'a');
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
