import { say } from '../../base/say.ts';
import { plainText } from './formats/plainText.ts';
import type { Story, StoryProblem } from './story.ts';

/** Where a fact of a story stands: 1-based line and column. */
export type FindPlace = (
  story: Story,
  fact: 'id' | 'dependencies',
) => Pick<StoryProblem, 'line' | 'column'>;

/** What is wrong between the stories of a list without hiding any of them, in file order. */
export function findStoryProblems(stories: readonly Story[], placeOf: FindPlace): StoryProblem[] {
  const byId = byIds(stories);
  const problems = [
    ...duplicateIds(byId, placeOf),
    ...unknownDependencies(stories, byId, placeOf),
    ...circularDependencies(byId, placeOf),
  ];
  return problems.sort((a, b) => a.line - b.line || a.column - b.column);
}

function byIds(stories: readonly Story[]): ReadonlyMap<string, readonly Story[]> {
  const byId = new Map<string, Story[]>();
  for (const story of stories) {
    const same = byId.get(story.id);
    if (same === undefined) {
      byId.set(story.id, [story]);
    } else {
      same.push(story);
    }
  }
  return byId;
}

function* duplicateIds(
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
          first?.line ?? 1,
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
  for (const story of stories) {
    const unknown = story.dependsOn.filter(id => !byId.has(id));
    if (unknown.length > 0) {
      yield {
        code: 'unknownDependency',
        message: unknownDependencyMessage(story.id, unknown),
        ...placeOf(story, 'dependencies'),
        subject: { position: story.position, ids: unknown },
      };
    }
  }
}

/**
 * For reader and editor, which find it each in their own way.
 * @param unknown ids that a story waits for; five are named
 */
export function unknownDependencyMessage(id: string, unknown: readonly string[]): string {
  return say(
    '{0} waits for {1}, which this file does not have: correct the id, or remove it when that story is done elsewhere.',
    plainText(id),
    unknown.slice(0, 5).map(plainText).join(', '),
  );
}

/**
 * The first circle of stories that are to be done and wait for each other, so that none of them can start.
 * @returns their ids, the first one again at the end; `undefined` when there is none
 */
export function openCircle(stories: readonly Story[]): readonly string[] | undefined {
  const open = byIds(stories.filter(({ done }) => !done));
  const [circle] = circlesOf(open);
  return circle?.ids;
}

/** One problem per circle. */
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

/** Ids around a circle, as a person reads them: `A → B → A`. */
export function circleWords(ids: readonly string[]): string {
  const shown = ids.length > 8 ? [...ids.slice(0, 7), '…', ...ids.slice(-1)] : ids;
  return shown.map(plainText).join(' → ');
}

interface Circle {
  /** The story of it that comes first in the file. */
  readonly first: Story;
  /** From its id around to its id again. */
  readonly ids: readonly string[];
}

/** Stories of one id count as one, since a dependency cannot tell them apart. */
function* circlesOf(byId: ReadonlyMap<string, readonly Story[]>): Generator<Circle> {
  if (!hasForwardDependency(byId)) {
    return;
  }
  const waitsFor = new Map<string, string[]>();
  const neededBy = new Map<string, string[]>();
  for (const [id, same] of byId) {
    const needs = [...new Set(same.flatMap(story => story.dependsOn))].filter(need =>
      byId.has(need),
    );
    waitsFor.set(id, needs);
    for (const need of needs) {
      const others = neededBy.get(need);
      if (others === undefined) {
        neededBy.set(need, [id]);
      } else {
        others.push(id);
      }
    }
  }

  for (const circle of circles(waitsFor, neededBy)) {
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

/** Most files name only earlier stories as dependencies; those cannot form a circle, and need no search for one. */
function hasForwardDependency(byId: ReadonlyMap<string, readonly Story[]>): boolean {
  for (const same of byId.values()) {
    for (const story of same) {
      for (const id of story.dependsOn) {
        if ((byId.get(id)?.at(-1)?.position ?? -1) >= story.position) {
          return true;
        }
      }
    }
  }
  return false;
}

/** Takes away whatever can be done in some order; what stays is a circle or waits for one. No recursion. */
function* circles(
  waitsFor: ReadonlyMap<string, readonly string[]>,
  neededBy: ReadonlyMap<string, readonly string[]>,
): Generator<string[]> {
  const unmet = new Map([...waitsFor].map(([id, needs]) => [id, needs.length]));
  const ready = [...unmet].filter(([, count]) => count === 0).map(([id]) => id);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    unmet.delete(id);
    for (const next of neededBy.get(id) ?? []) {
      const left = (unmet.get(next) ?? 0) - 1;
      unmet.set(next, left);
      if (left === 0) {
        ready.push(next);
      }
    }
  }

  const seen = new Set<string>();
  for (const start of unmet.keys()) {
    const steps = new Map<string, number>();
    const path: string[] = [];
    let id: string | undefined = start;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      steps.set(id, path.length);
      path.push(id);
      id = waitsFor.get(id)?.find(need => unmet.has(need));
    }
    const from = id === undefined ? undefined : steps.get(id);
    if (from !== undefined) {
      yield path.slice(from);
    }
  }
}
