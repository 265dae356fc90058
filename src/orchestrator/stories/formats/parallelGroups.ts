import { groupBy } from '../../../base/groupBy.ts';
import { say } from '../../../base/say.ts';
import type { Story, StoryProblem } from '../story.ts';
import { wrongKindMessage } from './fieldNames.ts';
import type { Task } from './orchestrationPhases.ts';
import { type Entry, isDone, isVoid } from './prdEntry.ts';

/** In ralphy, tasks with the same number run in parallel. */
const GROUP_KEY = 'parallel_group';

/**
 * The ids of the group before that of a task, without those that are put aside: ralphy runs its parallel groups one after
 * another.
 */
export function earlierGroups(
  tasks: readonly Task[],
  stories: readonly Story[],
): ReadonlyMap<Entry, readonly string[]> {
  const grouped = stories.flatMap(story => {
    const { entry } = tasks[story.position] as Task;
    const group = groupOf(entry);
    return group === undefined || group === 0 ? [] : { entry, group, story };
  });
  const order = [...groupBy(grouped, ({ group }) => group)].sort(([a], [b]) => a - b);
  let before: readonly string[] = [];
  return new Map(
    order.flatMap(([, members]) => {
      const waitsFor = before;
      const ids = members.flatMap(({ story }) => (story.parked ? [] : story.id));
      before = ids.length === 0 ? before : ids;
      return members.map(({ entry }) => [entry, waitsFor] as const);
    }),
  );
}

/** The parallel group of a task; 0 is none. `undefined` for what is no such number. */
function groupOf(entry: Entry): number | undefined {
  const group = entry[GROUP_KEY] || 0;
  return /^\d{1,9}$/.test(String(group)) && !Array.isArray(group) ? Number(group) : undefined;
}

/** Open tasks whose group is not read, so that they would be started too early. */
export function findGroupProblems(
  entries: readonly Entry[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
): StoryProblem[] {
  return entries.flatMap((entry, position) =>
    groupOf(entry) !== undefined || isVoid(entry[GROUP_KEY]) || isDone(entry)
      ? []
      : {
          code: 'unreadDependency' as const,
          message: wrongKindMessage(GROUP_KEY, say('a whole number from {0}', 1)),
          ...placeOf(position, GROUP_KEY),
          subject: { position, ids: [GROUP_KEY] },
        },
  );
}
