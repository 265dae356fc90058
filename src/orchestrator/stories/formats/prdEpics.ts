import { numberId } from '../../../base/numberId.ts';
import { once } from '../../../base/once.ts';
import { say } from '../../../base/say.ts';
import type { Story, StoryProblem } from '../story.ts';
import { elementsOfMember, skipSpace } from './jsonOutline.ts';
import { plainText } from './plainText.ts';
import {
  dependencyId,
  type Entry,
  firstText,
  isDone,
  isEntry,
  ownId,
  titleOf,
} from './prdEntry.ts';
import { DEPENDENCY_KEYS, isParkedWord, STATUS_KEYS, TITLE_KEYS } from './prdKeys.ts';
import type { StoryArray } from './prdRoot.ts';
import { type NamedGroup, StoryNames } from './storyNames.ts';
import type { TextLines } from './textLines.ts';

/** Keys of a story with the id of its epic, and of an epic with the ids of its stories. */
const EPIC_ID_KEYS = ['parentEpic', 'parent_epic', 'epicId', 'epic_id'];
/** The last one may also be the name of a group that is not listed. */
const PARENT_KEYS = [...EPIC_ID_KEYS, 'epic'];
export const CHILD_KEYS = ['children', 'stories', 'userStories', 'tasks', 'storyIds'];

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

/** Everything in the list of epics, by position. */
export function listedEpics(root: unknown): readonly unknown[] {
  return isEntry(root) && Array.isArray(root['epics']) ? root['epics'] : [];
}

export function epicsOf(root: unknown): readonly Entry[] {
  return listedEpics(root).filter(isEntry);
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

export function listOf(entry: Entry, keys: readonly string[]): readonly string[] {
  return keys
    .flatMap(key => entry[key] ?? [])
    .map(dependencyId)
    .filter(id => id !== undefined);
}

/** Stories of an epic that the list of epics does not have. */
export function unknownEpics(
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
export function unknownChildren(
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
  return listedEpics(root).flatMap((epic, index): StoryProblem[] => {
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
