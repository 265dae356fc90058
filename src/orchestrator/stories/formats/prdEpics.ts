import type { Story } from '../story.ts';
import {
  DEPENDENCY_KEYS,
  dependencyId,
  type Entry,
  firstText,
  isEntry,
  ownId,
  TITLE_KEYS,
} from './prdKeys.ts';
import { type NamedGroup, StoryNames } from './storyNames.ts';

/** Keys of a story with the id of its epic, and of an epic with the ids of its stories. */
const PARENT_KEYS = ['parentEpic', 'parent_epic', 'epicId', 'epic_id', 'epic'];
const CHILD_KEYS = ['children', 'stories', 'userStories', 'tasks', 'storyIds'];

interface Epic extends NamedGroup {
  readonly needs: readonly string[];
}

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
  const listed = isEntry(root) && Array.isArray(root['epics']) ? root['epics'].filter(isEntry) : [];
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
  const names = new StoryNames(stories, epics);
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
