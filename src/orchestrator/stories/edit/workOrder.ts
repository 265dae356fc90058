import TinyQueue from 'tinyqueue';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { plainText } from '../formats/plainText.ts';
import { doneIds, openDependencies } from '../select.ts';
import type { Story } from '../story.ts';

/** The side of another story. */
export type Side = 'before' | 'after';

/**
 * The stories in the order of their turns, ignoring dependencies: lowest priority first, ties in file order. Pure.
 */
export function inWorkOrder(stories: readonly Story[]): Story[] {
  return [...stories].sort((a, b) => compare(rank(a), rank(b)) || a.position - b.position);
}

/**
 * The stories in the order of their turns, if each one gets done in its turn: next is always the first one in the work
 * order that waits for no other. What is done neither waits nor is waited for; those whose turn would never come, because
 * of a cycle or an unknown id, are the last, in their work order. Pure.
 */
export function inTurnOrder(stories: readonly Story[]): Story[] {
  const order = inWorkOrder(stories);
  const done = doneIds(stories);
  const needs = order.map(story => new Set(story.done ? [] : openDependencies(story, done)));
  /** By id, how many stories are not done yet, and who waits for them. */
  const open = new Map<string, number>();
  const waiting = new Map<string, number[]>();
  for (const [index, story] of order.entries()) {
    if (!story.done) {
      open.set(story.id, (open.get(story.id) ?? 0) + 1);
    }
    for (const id of needs[index] ?? []) {
      const others = waiting.get(id) ?? [];
      others.push(index);
      waiting.set(id, others);
    }
  }
  const turns = new Set<Story>();
  const ready = new TinyQueue([...order.keys()].filter(index => needs[index]?.size === 0));
  for (let index = ready.pop(); index !== undefined; index = ready.pop()) {
    const story = order[index];
    if (story === undefined) {
      continue;
    }
    turns.add(story);
    const left = (open.get(story.id) ?? 0) - (story.done ? 0 : 1);
    open.set(story.id, left);
    for (const other of left === 0 ? (waiting.get(story.id) ?? []) : []) {
      if (needs[other]?.delete(story.id) && needs[other].size === 0) {
        ready.push(other);
      }
    }
  }
  return [...turns, ...order.filter(story => !turns.has(story))];
}

/** The work order after moving one story next to another. @param stories in work order */
export function movedOrder(
  stories: readonly Story[],
  story: Story,
  target: Story,
  side: Side,
): Story[] {
  const order = stories.filter(other => other !== story);
  order.splice(order.indexOf(target) + (side === 'after' ? 1 : 0), 0, story);
  return order;
}

/**
 * The priorities to write so that the stories have this order: integers, as few changes as possible, preferably of
 * the moved story. Positions in the file are unchanged, and break ties.
 * @param order all stories in the desired order
 * @param moved one of them
 */
export function prioritiesFor(order: readonly Story[], moved: Story): ReadonlyMap<Story, number> {
  // After all numbered stories, only the file order counts.
  let numbered = order.length;
  while (numbered > 0 && isLast(order, numbered - 1)) {
    numbered -= 1;
  }
  const head = order.slice(0, numbered);
  // If the next story comes earlier in the file, a tie is not enough.
  const steps = [0];
  for (let i = 1; i < head.length; i++) {
    const isTieEnough = position(head, i - 1) < position(head, i);
    steps.push((steps[i - 1] ?? 0) + (isTieEnough ? 0 : 1));
  }
  // After subtracting the steps, the numbers only must not decrease; as many as possible stay.
  const levels = head.map((story, i) => rank(story) - (steps[i] ?? 0));
  const lowest = head.reduce((low, story) => Math.min(low, rank(story)), 0);
  const canStay = (i: number) => Number.isFinite(levels[i]) && (levels[i] ?? 0) >= lowest;
  const all = longestRise(levels, canStay);
  const others = longestRise(levels, i => canStay(i) && head[i] !== moved);
  const kept = new Set(others.length >= all.length ? others : all);

  const priorities = new Map<Story, number>();
  let level = levels.find((_, i) => kept.has(i)) ?? 1;
  head.forEach((story, i) => {
    if (kept.has(i)) {
      level = levels[i] ?? level;
    } else {
      priorities.set(story, level + (steps[i] ?? 0));
    }
  });
  return priorities;
}

/** @throws HumanError if the stories are in different groups, which reordering cannot change */
export function requireSameGroup(story: Story, target: Story): void {
  if (story.epic !== target.epic) {
    throw new HumanError(
      say(
        '{0} and {1} are in different groups, and an order cannot change that: change the group of one in the story file first.',
        plainText(story.id),
        plainText(target.id),
      ),
    );
  }
}

function rank({ priority }: Story): number {
  return priority ?? Number.POSITIVE_INFINITY;
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

function position(order: readonly Story[], index: number): number {
  return order[index]?.position ?? 0;
}

/**
 * Whether a story needs no number: it has none, and precedes in the file all those that follow it in the order.
 */
function isLast(order: readonly Story[], index: number): boolean {
  const isBeforeNext =
    index === order.length - 1 || position(order, index) < position(order, index + 1);
  return order[index]?.priority === undefined && isBeforeNext;
}

/** Indexes of a longest non-decreasing subsequence. */
function longestRise(values: readonly number[], counts: (index: number) => boolean): number[] {
  /** By length, the index of the lowest value that can end such a subsequence. */
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  values.forEach((value, i) => {
    if (!counts(i)) {
      return;
    }
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[ends[middle] ?? 0] ?? 0) <= value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    previous[i] = ends[low - 1];
    ends[low] = i;
  });
  const rise: number[] = [];
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) {
    rise.push(at);
  }
  return rise.reverse();
}
