import { isDeepStrictEqual } from 'node:util';
import { CHOICE_KEYS, readCallChoice } from '../formats/callChoice.ts';
import { yesOrNo } from '../formats/fieldNames.ts';
import {
  type Entry,
  firstText,
  isVoid,
  ownId,
  readCriteria,
  readPriority,
} from '../formats/prdEntry.ts';
import { PARENT_KEYS } from '../formats/prdEpics.ts';
import {
  CRITERIA_KEYS,
  DESCRIPTION_KEYS,
  DISCOVERED_KEYS,
  EPIC_KEYS,
  STATE_KEYS,
  TITLE_KEYS,
} from '../formats/prdKeys.ts';
import { saysMore } from '../formats/statusWord.ts';
import type { Story, StoryFormatName } from '../story.ts';
import type { ParsedStoryFile } from '../storyFile.ts';
import { otherCriterionKeys } from './otherCriteria.ts';
import {
  isNeedKey,
  type KnownStories,
  leavesOut,
  otherNeedKeys,
  otherRelationKeys,
} from './otherNeeds.ts';
import { entryOf } from './sourceEntry.ts';

/** A story, and the key of it in its file that is asked for. */
interface Place {
  readonly format: StoryFormatName;
  readonly entry: Entry;
  readonly key: string;
  readonly story: Story;
  /** The ids of listed epics by title. */
  readonly epics: ReadonlyMap<string, string>;
}

/** What a story is read from: which keys, and whether the value of one was read. */
const FACTS: readonly {
  readonly keys: readonly string[];
  readonly isRead: (value: unknown, place: Place) => boolean;
}[] = [
  { keys: ['id'], isRead: isId },
  { keys: [...TITLE_KEYS, ...DESCRIPTION_KEYS, ...EPIC_KEYS], isRead: isText },
  { keys: PARENT_KEYS, isRead: isEpic },
  { keys: STATE_KEYS, isRead: isState },
  { keys: ['parked'], isRead: isParked },
  { keys: ['priority', 'ordinal'], isRead: isPriority },
  { keys: DISCOVERED_KEYS, isRead: isOrigin },
  { keys: Object.values(CHOICE_KEYS).flat(), isRead: isChoice },
  // They are stories of their own.
  { keys: ['subtasks'], isRead: (value, { format }) => format === 'taskMaster' && isList(value) },
  { keys: ['details', 'description', 'design'], isRead: isPartOfDescription },
];

/**
 * The keys of a story that have a value which was not read as anything, in the order of the file: those that no story
 * has here, and those with a value that says nothing here.
 * @param known the ids of listed epics by title, and the stories of the file
 */
export function otherKeys(
  parsed: ParsedStoryFile,
  story: Story,
  { epics, ...known }: Pick<Place, 'epics'> & KnownStories,
): string[] {
  const entry = entryOf(parsed, story);
  if (entry === undefined) {
    return [];
  }
  const { format } = parsed.file;
  return Object.keys(entry).flatMap(key => {
    const value = entry[key];
    if (isVoid(value)) {
      return [];
    }
    if (isCriteria(value, key, story)) {
      return otherCriterionKeys(entry, key);
    }
    if (format === 'bmad' && key !== 'status') {
      return [key];
    }
    if (isNeedKey(key)) {
      return otherNeeds(entry, key, { ...known, format, story });
    }
    const place = { entry, epics, format, key, story };
    return FACTS.some(({ isRead, keys }) => keys.includes(key) && isRead(value, place))
      ? []
      : [key];
  });
}

/** Whether a story of another file has the same value under a key. */
export function hasSameKey(
  [parsed, story]: readonly [ParsedStoryFile, Story],
  [other, same]: readonly [ParsedStoryFile, Story],
  key: string,
): boolean {
  const [value, kept] = [entryOf(parsed, story)?.[key], entryOf(other, same)?.[key]];
  return value !== undefined && isDeepStrictEqual(value, kept);
}

/** One that cannot be read in a task of Backlog.md does not count: the name of the file says it. */
function isId(_: unknown, { entry, format, story }: Place): boolean {
  const id = ownId(entry);
  return format === 'backlog' ? id === story.id : id !== undefined;
}

function isText(value: unknown, { story }: Place): boolean {
  const texts = [story.title, story.epic ?? '', story.description.trim()];
  return texts.includes(String(value).trim());
}

/** Whether a key says which epic the story belongs to, by its title or id. */
function isEpic(value: unknown, { epics, story: { epic = '' } }: Place): boolean {
  return [epic, epics.get(epic)].includes(String(value).trim());
}

/** Also a word or a value that says no more than the one that decides. */
function isState(value: unknown, { story: { done, status = '' } }: Place): boolean {
  return (
    yesOrNo(value) === done ||
    (typeof value === 'string' && (value.trim() === status.trim() || !saysMore(value, done)))
  );
}

/** Of a done story it says nothing. */
function isParked(value: unknown, { story: { done, parked } }: Place): boolean {
  return value === false || (value === true && (done || parked === true));
}

/** In a folder of Backlog.md, the place on the board is the priority. */
function isPriority(value: unknown, { format, key, story: { priority } }: Place): boolean {
  return (
    priority !== undefined &&
    (key === 'priority' || format === 'backlog') &&
    readPriority(value) === priority
  );
}

function otherNeeds(
  entry: Entry,
  key: string,
  { format, story, ...known }: Pick<Place, 'format' | 'story'> & KnownStories,
): string[] {
  if (format !== 'beads' && format !== 'backlog') {
    const isDropped = leavesOut(entry[key], story, {
      ...known,
      isTaskMaster: format === 'taskMaster',
    });
    return isDropped ? [key] : otherNeedKeys(entry, key);
  }
  // Other keys say nothing there.
  const isOther = key !== 'dependencies';
  return isOther ? [key] : format === 'beads' ? otherRelationKeys(entry, story) : [];
}

function isOrigin(value: unknown, { story: { discoveredFrom } }: Place): boolean {
  return discoveredFrom !== undefined && String(value).trim() === discoveredFrom;
}

function isChoice(value: unknown, { key, story }: Place): boolean {
  const choice = readCallChoice({ [key]: value });
  return (['model', 'effort', 'maxTurns'] as const).some(
    fact => choice[fact] !== undefined && choice[fact] === story[fact],
  );
}

function isList(value: unknown): boolean {
  return Array.isArray(value);
}

/** The description of a task of Task Master, and that of an issue of Beads, have two parts. */
function isPartOfDescription(_: unknown, { entry, format, key }: Place): boolean {
  const isPart =
    format === 'taskMaster' ? key !== 'design' : format === 'beads' && key !== 'details';
  return isPart && firstText(entry, [key]) !== undefined;
}

function isCriteria(value: unknown, key: string, { criteria }: Story): boolean {
  // The one of Task Master.
  const isKnown = key === 'testStrategy' || CRITERIA_KEYS.includes(key);
  return (
    isKnown &&
    criteria.length > 0 &&
    isDeepStrictEqual(readCriteria({ [CRITERIA_KEYS[0] ?? '']: value }), criteria)
  );
}
