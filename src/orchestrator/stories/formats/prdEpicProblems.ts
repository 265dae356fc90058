import { numberId } from '../../../base/numberId.ts';
import { once } from '../../../base/once.ts';
import { say } from '../../../base/say.ts';
import type { Story, StoryProblem } from '../story.ts';
import { elementsOfMember, memberOf, membersOf, skipSpace } from './jsonOutline.ts';
import { plainText } from './plainText.ts';
import { dependencyId, firstText, isDone, isEntry, ownId, titleOf } from './prdEntry.ts';
import {
  CHILD_KEYS,
  EPIC_ID_KEYS,
  epicPositions,
  epicsOf,
  listedEpics,
  listOf,
} from './prdEpics.ts';
import { DEPENDENCY_KEYS, isParkedWord, STATUS_KEYS, TITLE_KEYS } from './prdKeys.ts';
import type { StoryArray } from './prdRoot.ts';
import type { TextLines } from './textLines.ts';

interface FileText {
  readonly text: string;
  readonly root: unknown;
  readonly lines: TextLines;
}

type Place = Pick<StoryProblem, 'line' | 'column'>;
type FindPlace = (story: Pick<Story, 'position'>, keys: readonly string[]) => Place;

/** Epics of a `prd.json` that cannot be read as they are meant, and ids that nothing in the file has. */
export function findEpicProblems(
  file: FileText,
  array: StoryArray,
  stories: readonly Story[],
  placeOf: FindPlace,
): StoryProblem[] {
  return [
    ...oddEpics(file, array, stories, placeOf),
    ...unknownEpics(file.root, array, stories, placeOf),
    ...unknownChildren(file, stories),
  ];
}

/**
 * Where the epic of a story says what it waits for, and so the story.
 * @returns for a story, and the names that are looked for if it may have others: the offset of the key; `undefined` if
 *   the story itself names one of them, or neither does
 */
export function epicNeeds(
  text: string,
  root: unknown,
  { entries }: StoryArray,
  stories: readonly Story[],
): (story: Story, names?: readonly string[]) => number | undefined {
  const positions = once(() => epicPositions(root, entries, stories));
  const spans = once(() => elementsOfMember(text, skipSpace(text, 0), 'epics'));
  return ({ id, position }, names) => {
    const isMeant = (name: string) => names === undefined || names.includes(name);
    const says = (entry: unknown, keys: readonly string[]) =>
      isEntry(entry) && listOf(entry, keys).some(isMeant);
    if (listedEpics(root).length === 0 || says(entries[position], DEPENDENCY_KEYS)) {
      return undefined;
    }
    const at = positions().get(id) ?? -1;
    const key = DEPENDENCY_KEYS.find(one => says(listedEpics(root)[at], [one]));
    const span = key === undefined ? undefined : spans()[at];
    return key && span && memberOf(membersOf(text, span.start), key)?.name.start;
  };
}

/**
 * Epics that cannot be read as they are meant: no list, one id for several of them, or a story whose epic is no text.
 */
function oddEpics(
  { lines, root, text }: FileText,
  { entries }: StoryArray,
  stories: readonly Story[],
  placeOf: FindPlace,
): StoryProblem[] {
  const code = 'unknownEpic';
  const found: StoryProblem[] = [];
  if (isEntry(root) && isEntry(root['epics']) && Object.values(root['epics']).some(isEntry)) {
    const key = memberOf(membersOf(text, skipSpace(text, 0)), 'epics');
    found.push({
      code,
      message: say('Epics are only read from a list: "epics": [{"id": "…", "title": "…"}].'),
      ...lines.at(key?.name.start ?? 0),
    });
  }
  const spans = once(() => elementsOfMember(text, skipSpace(text, 0), 'epics'));
  const seen = new Set<string>();
  listedEpics(root).forEach((epic, index) => {
    const id = isEntry(epic) ? ownId(epic) : undefined;
    if (id !== undefined && seen.size === seen.add(id).size) {
      found.push({
        code,
        message: say(
          'The id {0} is that of another epic above, too, so what waits for it waits for that one: give this epic an id of its own.',
          plainText(id),
        ),
        ...lines.at(spans()[index]?.start ?? 0),
      });
    }
  });
  for (const { epic, position } of stories) {
    const entry = entries[position];
    const key = isEntry(entry) ? EPIC_ID_KEYS.find(one => isOddEpic(entry[one])) : undefined;
    if (key !== undefined && epic === undefined) {
      found.push({
        code,
        message: say('The value of "{0}" is not read: write the id of one epic, in quotes.', key),
        ...placeOf({ position }, [key]),
      });
    }
  }
  return found;
}

/** A value that says something, and not which epic. */
function isOddEpic(value: unknown): boolean {
  const isNothing =
    value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  return !isNothing && typeof value !== 'string' && typeof value !== 'number';
}

/** Stories of an epic that the list of epics does not have. */
function unknownEpics(
  root: unknown,
  { entries }: StoryArray,
  stories: readonly Story[],
  placeOf: FindPlace,
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
  { lines, root, text }: FileText,
  stories: readonly Story[],
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
