import { groupBy } from '../../../base/groupBy.ts';
import type { Story } from '../story.ts';
import { dependencyId, type Entry, firstText, isDone, isEntry, ownId } from './prdEntry.ts';
import { DEPENDENCY_KEYS, TITLE_KEYS } from './prdKeys.ts';
import { type NamedGroup, StoryNames } from './storyNames.ts';

/** Keys of a story with the id of its epic, and of an epic with the ids of its stories. */
export const EPIC_ID_KEYS = ['parentEpic', 'parent_epic', 'epicId', 'epic_id'];
/** The last one may also be the name of a group that is not listed. */
export const PARENT_KEYS = [...EPIC_ID_KEYS, 'epic'];
export const CHILD_KEYS = ['children', 'stories', 'userStories', 'tasks', 'storyIds'];

interface Epic extends NamedGroup {
  readonly needs: readonly string[];
  readonly entry: Entry;
  /** In the list of epics. */
  readonly position: number;
}

type Parents = ReadonlyMap<Story, string | undefined>;

/**
 * Stories with the titles of their epics, and with dependencies as ids: files also name stories by title or number, and
 * epics for all of their stories.
 * @param root the whole file, which may have a list of epics
 * @param entries of the stories, by position
 */
export function withEpics(
  root: unknown,
  entries: readonly unknown[],
  stories: readonly Story[],
): readonly Story[] {
  const ids = new Set(stories.map(({ id }) => id));
  const parents = parentsOf(entries, stories);
  const isPlain =
    epicsOf(root).length === 0 &&
    stories.every(
      story =>
        story.dependsOn.every(id => ids.has(id)) &&
        (story.epic !== undefined || parents.get(story) === undefined),
    );
  if (isPlain) {
    return stories;
  }
  const epics = readEpics(root, stories, parents);
  const names = new StoryNames(stories, epics.map(waitingFor));
  // Found once, not for each of its stories.
  const needsOf = new Map(
    epics.map((epic, position) => [
      epic,
      [...new Set(epic.needs.flatMap(need => names.meantByGroup(need, position)))],
    ]),
  );
  const positionOf = new Map(epics.map((epic, position) => [epic, position]));
  const epicOf = epicByStory(epics);
  return stories.map(story => {
    const epic = epicOf.get(story.id);
    const from = epic && positionOf.get(epic);
    const own = story.dependsOn.flatMap(need => names.meantBy(need, from));
    const needs = (epic && needsOf.get(epic)) ?? [];
    return {
      ...story,
      dependsOn: own.length === 0 ? needs : [...new Set([...own, ...needs])],
      epic: epic?.name ?? epic?.id ?? story.epic ?? parents.get(story),
    };
  });
}

/** What waits for an epic none of whose stories are read waits for a story that does not exist, unless the epic is done. */
function waitingFor(epic: Epic): Epic {
  const own = epic.id ?? epic.name;
  return epic.stories.length > 0 || own === undefined || isDone(epic.entry)
    ? epic
    : { ...epic, stories: [own] };
}

/** Everything in the list of epics, by position. */
export function listedEpics(root: unknown): readonly unknown[] {
  return isEntry(root) && Array.isArray(root['epics']) ? root['epics'] : [];
}

export function epicsOf(root: unknown): readonly Entry[] {
  return listedEpics(root).filter(isEntry);
}

/** The position, in the list of epics, of the one that each story belongs to, by the id of the story. */
export function epicPositions(
  root: unknown,
  entries: readonly unknown[],
  stories: readonly Story[],
): ReadonlyMap<string, number> {
  const epics = readEpics(root, stories, parentsOf(entries, stories));
  return new Map([...epicByStory(epics)].map(([id, { position }]) => [id, position]));
}

/** The epic of each story that has one, by the id of the story: the first one that lists it. */
function epicByStory(epics: readonly Epic[]): ReadonlyMap<string, Epic> {
  return new Map(epics.toReversed().flatMap(epic => epic.stories.map(id => [id, epic] as const)));
}

function readEpics(root: unknown, stories: readonly Story[], parents: Parents): readonly Epic[] {
  const members = membersOf(stories, parents);
  return listedEpics(root).flatMap((entry, position) =>
    isEntry(entry) ? [readEpic(entry, position, members)] : [],
  );
}

function parentsOf(entries: readonly unknown[], stories: readonly Story[]): Parents {
  return new Map(stories.map(story => [story, parentOf(entries[story.position])] as const));
}

/** Finds the stories with these ids or parents, in the order of the file: thousands of epics may have thousands. */
function membersOf(
  stories: readonly Story[],
  parents: Parents,
): (ids: readonly string[], names: readonly string[]) => readonly string[] {
  const places = [...stories.keys()];
  const byId = groupBy(places, place => stories[place]?.id ?? '');
  const byParent = groupBy(places, place => parents.get(stories[place] as Story) ?? '');
  return (ids, names) => {
    const found = new Set([
      ...ids.flatMap(id => byId.get(id) ?? []),
      ...names.flatMap(name => (name === '' ? [] : (byParent.get(name) ?? []))),
    ]);
    return [...found].toSorted((one, other) => one - other).flatMap(at => stories[at]?.id ?? []);
  };
}

function readEpic(epic: Entry, position: number, members: ReturnType<typeof membersOf>): Epic {
  const id = ownId(epic);
  const name = firstText(epic, TITLE_KEYS)?.trim();
  return {
    ...{ id, name, entry: epic, position },
    stories: members(
      listOf(epic, CHILD_KEYS),
      [id, name].filter(own => own !== undefined),
    ),
    needs: listOf(epic, DEPENDENCY_KEYS),
  };
}

function parentOf(entry: unknown): string | undefined {
  return isEntry(entry) ? firstText(entry, PARENT_KEYS)?.trim() : undefined;
}

export function listOf(entry: Entry, keys: readonly string[]): readonly string[] {
  return keys
    .flatMap(key => entry[key] ?? [])
    .map(dependencyId)
    .filter(id => id !== undefined);
}
