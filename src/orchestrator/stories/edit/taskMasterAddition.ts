import type { Entry } from '../formats/prdEntry.ts';
import type { Value } from './entryAddition.ts';
import { type NewStory, originLines } from './newStory.ts';

/** The keys of a task, in the order in which Task Master writes them. */
const KEYS = [
  'id',
  'title',
  'description',
  'details',
  'testStrategy',
  'status',
  'dependencies',
  'priority',
  'subtasks',
] as const;

/**
 * The number of the next task of a list; `undefined` if its ids are no numbers.
 * @param needs what its tasks and subtasks wait for, which may have been removed: a new task would be another one
 */
export function nextTaskNumber(
  tasks: readonly Entry[],
  needs: readonly string[],
): number | undefined {
  const numbers = tasks.map(({ id }) =>
    typeof id === 'number' || (typeof id === 'string' && /^\d{1,9}$/.test(id)) ? Number(id) : NaN,
  );
  const needed = needs.flatMap(id => /^(\d{1,9})(?:\.\d+)*$/.exec(id)?.[1] ?? []).map(Number);
  return numbers.every(number => Number.isSafeInteger(number))
    ? [...numbers, ...needed].reduce((most, one) => Math.max(most, one), 0) + 1
    : undefined;
}

/**
 * A new task as `task-master add-task` writes it, with its keys in the order of the last task: `pending`, `medium`,
 * without dependencies and subtasks. Task Master wants a description in each task.
 */
export function newTask(
  story: NewStory,
  number: number,
  tasks: readonly Entry[],
): ReadonlyMap<string, Value> {
  const last: Entry = tasks.at(-1) ?? {};
  const values: Readonly<Record<(typeof KEYS)[number], Value>> = {
    id: typeof last.id === 'string' ? String(number) : number,
    title: story.title,
    description: story.why ?? story.title,
    details: originLines({ ...story, why: undefined }).join('\n\n'),
    testStrategy: '',
    status: 'pending',
    dependencies: [],
    priority: 'medium',
    subtasks: [],
  };
  const own = Object.keys(last).flatMap(key => KEYS.find(known => known === key) ?? []);
  return new Map([...new Set([...own, ...KEYS])].map(key => [key, values[key]]));
}
