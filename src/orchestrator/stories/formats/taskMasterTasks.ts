import { once } from '../../../base/once.ts';
import { isNamedLike } from './fieldNames.ts';
import { elementsOfMember, type Span, skipSpace } from './jsonOutline.ts';
import { lastMembers } from './jsonPlaces.ts';
import {
  type Entry,
  isDone,
  isEntry,
  isPutAside,
  itemsOf,
  ownId,
  titleOf,
  withStatusAlone,
} from './prdEntry.ts';
import { isParkedWord } from './prdKeys.ts';
import { isKeyOfParts, isKnownIn, looksLikeOpenStory } from './storyParts.ts';
import { likenessOf } from './strayEntry.ts';
import { type Path, type Strays, straysIn } from './strays.ts';

/** One list of the file: that of a tag, or that of a task with its subtasks. */
export interface TaskList {
  readonly items: readonly unknown[];
  readonly spans: readonly Span[];
  /** Where the object begins that holds it. */
  readonly holder: number;
}

export interface Task {
  readonly entry: Entry;
  readonly span: Span;
  readonly list: TaskList;
  /** Index in its list. */
  readonly index: number;
  readonly tag: Tag;
  /** Absent for a subtask. */
  readonly subtasks?: TaskList;
  readonly parent?: Task;
  /** Its own id, with that of its parent, without the tag. */
  readonly name: string;
}

/** A task as far as its id says. */
export type NamedTask = Pick<Task, 'name' | 'tag'>;

export interface Tag extends TaskList {
  /** Absent in a file without tags. */
  readonly name?: string;
}

/** The lists of a file. */
export interface Tags {
  /** Those that have a list of tasks; none if the file has no such list. */
  readonly tags: readonly Tag[];
  /** Those that have entries and are not read, next to them. */
  readonly unread: readonly Tag[];
}

/** Open tasks that are not in the list "tasks" of a tag. @param lists those that are read */
export function findStrays(root: unknown, lists: readonly TaskList[]): Strays[] {
  const items = lists.flatMap(list => list.items);
  return isEntry(root)
    ? straysIn(root, {
        like: likenessOf(
          () => items,
          once(() => namesOf(items)),
        ),
        hasFreeNames: true,
        seen: new Set<unknown>([...lists.map(list => list.items), ...items]),
        isItem: isItemOfTasks,
      })
    : [];
}

/** Whether an item is in a list, or an object, "tasks" of a tag or of the file: in others, it may name a task. */
function isItemOfTasks(item: unknown, path: Path): boolean {
  return path.length <= 3 && path.at(-2) === 'tasks' && isEntry(item);
}

/** What tells tasks from others: each list counts from 1. */
export function namesOf(items: readonly unknown[]): ReadonlySet<string> {
  return new Set(
    items
      .filter(isEntry)
      .flatMap(entry => [entry, ...itemsOf(entry['subtasks']).filter(isEntry)])
      .flatMap(entry => [
        ...(typeof entry.id === 'string' && !/^\d+$/.test(entry.id) ? [entry.id] : []),
        titleOf(entry) ?? [],
      ])
      .flat(),
  );
}

/** The list of a file without tags, as long as it has tasks: what stands next to it may be an archive. Else its tags. */
export function readTags(text: string, root: unknown): Tags {
  if (!isEntry(root)) {
    return { tags: [], unread: [] };
  }
  const start = skipSpace(text, 0);
  const own = listIn(text, start, root, 'tasks');
  const tags = namedTags(text, start, root);
  if (own === undefined) {
    return { tags, unread: [] };
  }
  const filled = tags.filter(hasTasks);
  return hasTasks(own) || filled.length === 0
    ? { tags: [own], unread: filled }
    : { tags, unread: [own] };
}

function hasTasks({ items }: TaskList): boolean {
  return items.some(isEntry);
}

function namedTags(text: string, start: number, root: Entry): readonly Tag[] {
  return [...lastMembers(text, start).values()].flatMap((member): Tag[] => {
    const value = root[member.key];
    const list = isEntry(value) ? listIn(text, member.value.start, value, 'tasks') : undefined;
    return list === undefined ? [] : [{ ...list, name: member.key }];
  });
}

function listIn(text: string, start: number, entry: Entry, key: string): TaskList | undefined {
  const items = entry[key];
  return Array.isArray(items)
    ? { items, spans: items.length === 0 ? [] : elementsOfMember(text, start, key), holder: start }
    : undefined;
}

/** The tasks of a tag, each with its subtasks after it. */
export function readTasks(text: string, tag: Tag): Task[] {
  const tasks: Task[] = [];
  const add = (list: TaskList, parent?: Task) => {
    list.items.forEach((entry, index) => {
      const span = list.spans[index];
      if (!isEntry(entry) || span === undefined) {
        return;
      }
      const id = ownId(entry) ?? `#${index + 1}`;
      const subtasks =
        parent === undefined ? listIn(text, span.start, entry, 'subtasks') : undefined;
      const task: Task = {
        ...{ entry: withStatusAlone(entry), span, list, index, tag, parent },
        name:
          parent === undefined || id.startsWith(`${parent.name}.`) ? id : `${parent.name}.${id}`,
        subtasks: subtasks?.items.length === 0 ? undefined : subtasks,
      };
      tasks.push(task);
      if (task.subtasks !== undefined) {
        add(task.subtasks, task);
      }
    });
  };
  add(tag);
  return tasks;
}

/** The open subtasks of subtasks. Task Master has one level of them, and so they are not read. */
export function nestedSubtasks(text: string, { entry, parent, span }: Task): readonly Span[] {
  if (parent === undefined || [parent.entry, entry].some(isOver)) {
    return [];
  }
  const list = listIn(text, span.start, entry, 'subtasks');
  return (list?.spans ?? []).filter((_, index) => {
    const item = list?.items[index];
    return !isEntry(item) || !(isOver(item) || isPutAside(item));
  });
}

/** Whether nobody is to work on a task, so that nothing in it is left. */
function isOver(entry: Entry): boolean {
  return isDone(entry) || isParked(entry);
}

/**
 * Open entries of a task that are no subtasks, because their key has almost the right name, or they are in an object.
 * @param known names of the tasks that are read
 */
export function oddSubtasks(
  { entry }: Task,
  known: ReadonlySet<string>,
): { readonly key: string; readonly count: number }[] {
  return (isOver(entry) ? [] : Object.entries(entry)).flatMap(([key, value]) => {
    const isRead = key === 'subtasks' && Array.isArray(value);
    const isOfParts = ['subtasks', 'children'].some(name => isNamedLike(key, name));
    const items =
      !isRead && typeof value === 'object' && value !== null && (isOfParts || isKeyOfParts(key))
        ? Object.values(value)
        : [];
    const count = items.filter(
      item =>
        (looksLikeOpenStory(item) || (isOfParts && isNumbered(item))) &&
        !isDone(item) &&
        !isPutAside(item) &&
        !isKnownIn(known, item),
    ).length;
    return count === 0 ? [] : [{ key, count }];
  });
}

/** The tool gives each task a number, and reads one without a status as open. */
function isNumbered(item: unknown): item is Entry {
  return isEntry(item) && typeof item.id === 'number' && titleOf(item) !== undefined;
}

/** Not worked on; a cancelled task does not keep others waiting either. */
export function isParked({ status }: Entry): boolean {
  return isCancelled({ status }) || isParkedWord(status);
}

export function isCancelled({ status }: Entry): boolean {
  return ['cancelled', 'canceled'].includes(wordOf(status));
}

function wordOf(status: unknown): string {
  return typeof status === 'string' ? status.trim().toLowerCase() : '';
}
