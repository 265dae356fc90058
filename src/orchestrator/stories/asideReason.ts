import { onceEach } from '../../base/onceEach.ts';
import { storiesToDo } from './select.ts';
import type { Story, StoryList } from './story.ts';

/** A story that waits for one that is put aside, so that it can never start. */
export interface WaitsAside {
  readonly id: string;
  /** The story that is put aside. */
  readonly on: string;
  /** Its word in the file, such as `deferred`. */
  readonly status?: string | undefined;
}

/**
 * Which stories that are left to do wait for one that is put aside, each with the first such one, in the order of the
 * file. Pure.
 * @param only ids of the chosen stories, as in {@link storiesToDo}
 */
export function waitsForAside(
  stories: readonly Story[],
  only?: ReadonlySet<string>,
): readonly WaitsAside[] {
  const aside = new Map(stories.flatMap(story => (isAside(story) ? [[story.id, story]] : [])));
  const firstIn = onceEach((ids: readonly string[]) => ids.find(id => aside.has(id)));
  return storiesToDo(stories, only).flatMap(({ dependsOn, id }) => {
    const on = firstIn(dependsOn);
    return on === undefined ? [] : [{ id, on, status: aside.get(on)?.status }];
  });
}

/** An open story that its file has put aside. */
export interface AsideStory extends Pick<Story, 'id' | 'status'> {
  /** The task whose state is the reason, if it is not the story's own. */
  readonly task?: string;
}

/** The stories that no agent works on because their file has put them aside, in its order. Pure. */
export function asideStories(list: StoryList): readonly AsideStory[] {
  const taskOf = closedTasks(list);
  return list.stories.filter(isAside).map(story => {
    const { id, status } = story;
    const task = taskOf(story)?.id;
    return { id, status, task };
  });
}

/** How many these are. */
export function asideCount(stories: readonly Story[]): number {
  return stories.filter(isAside).length;
}

/** The task whose state keeps its subtask from being worked on, as in Task Master. */
export function closedTaskOf(list: StoryList, story: Story): Story | undefined {
  return closedTasks(list)(story);
}

/** {@link closedTaskOf} of many stories of one list. */
export function closedTasks({ format, stories }: StoryList): (story: Story) => Story | undefined {
  const tasks = new Map(
    format === 'taskMaster' ? stories.toReversed().map(story => [story.id, story] as const) : [],
  );
  return ({ id }) => {
    const task = tasks.get(id.slice(0, Math.max(0, id.lastIndexOf('.'))));
    return task !== undefined && (task.done || isAside(task)) ? task : undefined;
  };
}

/** Whether the file has put a story aside, and not only behind others. */
export function isAside({ afterTag, done, parked }: Story): boolean {
  return !done && parked === true && afterTag === undefined;
}
