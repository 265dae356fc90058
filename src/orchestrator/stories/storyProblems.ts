import { groupBy } from '../../base/groupBy.ts';
import { once } from '../../base/once.ts';
import { onceEach } from '../../base/onceEach.ts';
import { type Message, say } from '../../base/say.ts';
import { plainText } from './formats/plainText.ts';
import { StoryNames } from './formats/storyNames.ts';
import { idsByName, joinedIds, listOfIds } from './joinedIds.ts';
import type { Story, StoryProblem } from './story.ts';
import { addTo } from './storyMatching.ts';
import { writtenNeed } from './unknownNeeds.ts';

/** Finds the 1-based line and column of a story's field. @param names of dependencies, if only some are meant */
export type FindPlace = (
  story: Story,
  fact: 'id' | 'dependencies',
  names?: readonly string[],
) => Pick<StoryProblem, 'line' | 'column'>;

/**
 * Problems between the stories of a list that do not hide any of them, in file order.
 * @param others further problems of the list
 */
export function findStoryProblems(
  stories: readonly Story[],
  placeOf: FindPlace,
  others: readonly StoryProblem[] = [],
): StoryProblem[] {
  const byId = groupBy(stories, ({ id }) => id);
  const problems = [
    ...duplicateIds(byId, placeOf),
    ...unknownDependencies(stories, byId, placeOf),
    ...circularDependencies(byId, placeOf),
    ...others,
  ];
  return problems.sort((a, b) => a.line - b.line || a.column - b.column);
}

/** Stories whose id another one before them has. */
export function* duplicateIds(
  byId: ReadonlyMap<string, readonly Story[]>,
  placeOf: FindPlace,
): Generator<StoryProblem> {
  for (const [id, [first, ...others]] of byId) {
    for (const other of others) {
      yield {
        code: 'duplicateId',
        message: say(
          'The id {0} is already used on line {1}: give this story an id of its own.',
          plainText(id),
          first === undefined ? 1 : placeOf(first, 'id').line,
        ),
        ...placeOf(other, 'id'),
        subject: { position: other.position, ids: [id] },
      };
    }
  }
}

function* unknownDependencies(
  stories: readonly Story[],
  byId: ReadonlyMap<string, unknown>,
  placeOf: FindPlace,
): Generator<StoryProblem> {
  const names = once(() => new StoryNames(stories));
  const known: KnownNames = {
    idOf: idsByName(stories),
    isShared: name => names().isSharedTitle(name),
  };
  const unknownOf = onceEach((ids: readonly string[]) => ids.filter(id => !byId.has(id)));
  // What is done waits for nothing: its list may have lost what it waited for.
  for (const story of stories.filter(({ done }) => !done)) {
    const unknown = unknownOf(story.dependsOn);
    for (const { ids, message } of unknownDependencyMessages(story, unknown, known)) {
      yield {
        code: 'unknownDependency',
        message,
        ...placeOf(story, 'dependencies', ids),
        subject: { position: story.position, ids },
      };
    }
  }
}

/** What the stories of a list are called. */
export interface KnownNames {
  /** The id that a name means. */
  readonly idOf: (name: string) => string | undefined;
  /** Whether several stories have this title. */
  readonly isShared: (name: string) => boolean;
}

/**
 * Shared by the reader and the editor, which find the problem in different ways.
 * @param unknown ids that a story depends on; up to five are named
 */
export function unknownDependencyMessages(
  story: Pick<Story, 'asWritten' | 'file' | 'id'>,
  unknown: readonly string[],
  { idOf, isShared }: KnownNames,
): { readonly ids: readonly string[]; readonly message: Message }[] {
  if (unknown.length === 0) {
    return [];
  }
  const shared = unknown.filter(isShared);
  const others = unknown.filter(name => !isShared(name));
  const joined = others.flatMap(name => {
    const ids = joinedIds(name, idOf);
    return ids === undefined ? [] : [{ name, ids }];
  });
  const missing = others.filter(name => joined.every(one => one.name !== name));
  const { file, id } = story;
  const written = (need: string) => plainText(writtenNeed(story, need));
  const words = [plainText(id), missing.slice(0, 5).map(written).join(', ')] as const;
  return [
    ...shared.map(name => ({
      ids: [name],
      message: say(
        '{0} waits for "{1}", which is the title of several stories: write the id of the one that is meant.',
        plainText(id),
        plainText(name),
      ),
    })),
    ...joined.map(({ ids, name }) => ({
      ids: [name],
      message: say(
        '{0} waits for "{1}", which is one text with several ids. Write a list: {2}',
        plainText(id),
        written(name),
        listOfIds(ids, file !== undefined),
      ),
    })),
    ...(missing.length === 0
      ? []
      : [
          {
            ids: missing,
            message:
              file === undefined
                ? say(
                    '{0} waits for {1}, which this file does not have: correct the id, or remove it when that story is done elsewhere.',
                    ...words,
                  )
                : say(
                    '{0} waits for {1}, which this folder does not have: correct the id, or remove it when that story is done elsewhere.',
                    ...words,
                  ),
          },
        ]),
  ];
}

/**
 * Stories in a second list: a list must not become shorter without a word.
 * @param count how many entries of it are not read
 * @param used the key of the list that is read
 */
export function otherListMessage(key: string, count: number, used: string): Message {
  return say(
    'Entries in "{0}" that are not read: {1}. Only the stories in "{2}" are. Move the others there, or remove them.',
    plainText(key),
    count,
    plainText(used),
  );
}

/**
 * The first cycle of open stories that depend on each other, so that none of them can start.
 * @returns their ids, the first one repeated at the end; `undefined` if there is none
 */
export function openCircle(stories: readonly Story[]): readonly string[] | undefined {
  const open = groupBy(
    stories.filter(({ done }) => !done),
    ({ id }) => id,
  );
  const [circle] = circlesOf(open);
  return circle?.ids;
}

/** One problem per cycle. */
function* circularDependencies(
  byId: ReadonlyMap<string, readonly Story[]>,
  placeOf: FindPlace,
): Generator<StoryProblem> {
  for (const { first, ids } of circlesOf(byId)) {
    yield {
      code: 'circularDependency',
      message: say(
        'These stories wait for each other and none can start: {0}. Remove one of these dependencies.',
        circleWords(ids),
      ),
      ...placeOf(first, 'dependencies'),
      subject: { position: first.position, ids: ids.slice(0, -1) },
    };
  }
}

/** The ids of a cycle, for people: `A → B → A`. */
export function circleWords(ids: readonly string[]): string {
  const shown = ids.length > 8 ? [...ids.slice(0, 7), '…', ...ids.slice(-1)] : ids;
  return shown.map(plainText).join(' → ');
}

interface Circle {
  /** Its first story in the file. */
  readonly first: Story;
  /** From its id through the cycle back to its id. */
  readonly ids: readonly string[];
}

/** Stories with the same id count as one, because a dependency cannot distinguish them. */
function* circlesOf(byId: ReadonlyMap<string, readonly Story[]>): Generator<Circle> {
  if (!hasForwardDependency(byId)) {
    return;
  }
  for (const circle of circles(byId)) {
    const within = new Set(circle);
    const first = circle
      .flatMap(id => byId.get(id) ?? [])
      .filter(story => story.dependsOn.some(id => within.has(id)))
      .reduce<Story | undefined>(
        (best, story) => (best === undefined || story.position < best.position ? story : best),
        undefined,
      );
    if (first !== undefined) {
      const start = circle.indexOf(first.id);
      yield { first, ids: [...circle.slice(start), ...circle.slice(0, start), first.id] };
    }
  }
}

/** In most files, dependencies only name earlier stories; those cannot form a cycle, so no search is needed. */
function hasForwardDependency(byId: ReadonlyMap<string, readonly Story[]>): boolean {
  const furthest = onceEach((ids: readonly string[]) =>
    ids.reduce((most, id) => Math.max(most, byId.get(id)?.at(-1)?.position ?? -1), -1),
  );
  return [...byId.values()].some(same =>
    same.some(({ dependsOn, position }) => furthest(dependsOn) >= position),
  );
}

/** Each cycle among the ids that cannot be done in any order. Not recursive. */
function* circles(byId: ReadonlyMap<string, readonly Story[]>): Generator<string[]> {
  const unmet = unmetIn(byId);
  const firstUnmet = onceEach((ids: readonly string[]) => ids.find(id => unmet.has(id)));
  const next = (id: string) =>
    byId
      .get(id)
      ?.map(({ dependsOn }) => firstUnmet(dependsOn))
      .find(need => need !== undefined);
  const seen = new Set<string>();
  for (const start of unmet) {
    const steps = new Map<string, number>();
    const path: string[] = [];
    let id: string | undefined = start;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      steps.set(id, path.length);
      path.push(id);
      id = next(id);
    }
    const from = id === undefined ? undefined : steps.get(id);
    if (from !== undefined) {
      yield path.slice(from);
    }
  }
}

/**
 * Removes everything that can be done in some order; the rest is a cycle or depends on one. A list of dependencies that
 * stories share is looked at once.
 */
function unmetIn(byId: ReadonlyMap<string, readonly Story[]>): ReadonlySet<string> {
  const unmet = new Set(byId.keys());
  const listsOf = new Map(
    [...byId].map(([id, same]) => [id, new Set(same.map(({ dependsOn }) => dependsOn))]),
  );
  const idsWith = new Map<readonly string[], string[]>();
  for (const [id, lists] of listsOf) {
    for (const list of lists) {
      addTo(idsWith, list, id);
    }
  }
  const openIn = new Map<readonly string[], number>();
  const listsNaming = new Map<string, (readonly string[])[]>();
  for (const list of idsWith.keys()) {
    const needs = [...new Set(list)].filter(id => byId.has(id));
    openIn.set(list, needs.length);
    for (const need of needs) {
      addTo(listsNaming, need, list);
    }
  }
  const met = [...openIn].flatMap(([list, count]) => (count === 0 ? [list] : []));
  for (let list = met.pop(); list !== undefined; list = met.pop()) {
    for (const id of idsWith.get(list) ?? []) {
      const lists = listsOf.get(id);
      lists?.delete(list);
      if (lists?.size !== 0) {
        continue;
      }
      unmet.delete(id);
      for (const next of listsNaming.get(id) ?? []) {
        const left = (openIn.get(next) ?? 0) - 1;
        openIn.set(next, left);
        if (left === 0) {
          met.push(next);
        }
      }
    }
  }
  return unmet;
}
