import type { Story } from '../story.ts';
import { criteriaInText } from './criteriaInText.ts';
import { type Entry, firstText, readStory } from './prdEntry.ts';
import { TITLE_KEYS } from './prdKeys.ts';
import type { TaskMasterNeeds } from './taskMasterNeeds.ts';
import { isParked, type NamedTask, type Tag, type Task } from './taskMasterTasks.ts';
import type { TextLines } from './textLines.ts';

/** The tags of a file; the tasks of `main` have their ids without the tag. */
export interface Tags {
  readonly tags: readonly Tag[];
  readonly main: Tag | undefined;
  readonly needs: TaskMasterNeeds;
}

/** The tasks of a file as stories. One tag has its turn after the other: `lists` are their stories in this order. */
export function readStories(
  tasks: readonly Task[],
  { main, needs, tags }: Tags,
  lines: TextLines,
): {
  readonly stories: Story[];
  readonly current: Tag | undefined;
  readonly lists: readonly (readonly Story[])[];
} {
  const told = new Map(
    tasks.map((task, position) => [
      task,
      readStory(task.entry, position, lines.at(task.span.start).line),
    ]),
  );
  const isAside = ({ entry, parent }: Task) =>
    isParked(entry) ||
    (parent !== undefined && (told.get(parent)?.done === true || isParked(parent.entry)));
  const open = new Set(
    tasks.flatMap(task => (told.get(task)?.done === true || isAside(task) ? [] : [task.tag])),
  );
  // One tag after the other, for each is work of its own: the others are only listed.
  const current = [main, ...tags].find(tag => tag !== undefined && open.has(tag)) ?? main;
  const read = [...told].map(([task, story]) => {
    const { entry, parent, subtasks, tag } = task;
    const id = idOf(task, main);
    const head = parent ?? (subtasks === undefined ? undefined : task);
    const group = head && told.get(head)?.title;
    const strategy = firstText(entry, ['testStrategy']);
    const own: Story = {
      ...story,
      id,
      title: firstText(entry, TITLE_KEYS) === undefined ? id : story.title,
      description: descriptionOf(entry),
      criteria:
        strategy === undefined
          ? story.criteria
          : (criteriaInText(strategy) ?? [{ text: strategy }]),
      priority: story.priority ?? (parent && told.get(parent)?.priority),
      dependsOn: needs.of(task),
      asWritten: needs.asWritten(task),
      epic: tag === main ? group : [tag.name, group].filter(part => part !== undefined).join(' › '),
      parked: (isAside(task) && !story.done) || story.parked,
    };
    return { tag, own };
  });
  const lists = new Map<Tag | undefined, Story[]>([main, ...tags].map(tag => [tag, []]));
  for (const { own, tag } of read) {
    lists.get(tag)?.push(own);
  }
  return {
    stories: read.map(({ own, tag }) => {
      const isLater = tag !== current && own.parked !== true && !own.done;
      return {
        ...own,
        parked: isLater || own.parked,
        afterTag: isLater ? current?.name : undefined,
      };
    }),
    current,
    lists: [...lists.values()],
  };
}

/** The ids of the main tag are those of Task Master; other tags use the same ones again. */
export function idOf({ name, tag }: NamedTask, main: Tag | undefined): string {
  return tag === main || tag.name === undefined ? name : `${tag.name}/${name}`;
}

function descriptionOf(entry: Entry): string {
  const first = firstText(entry, ['description']);
  const second = firstText(entry, ['details']);
  return first === undefined || second === undefined || first === second
    ? (first ?? second ?? '')
    : `${first}\n\n${second}`;
}
