import { isNamedLike, isNameOfWork } from './fieldNames.ts';
import { elementsOfMember, memberOf, membersOf, type Span, skipSpace } from './jsonOutline.ts';
import { type Entry, isDone, isEntry, ownId, titleOf, withStatusAlone } from './prdEntry.ts';
import { isParkedWord } from './prdKeys.ts';
import { isKeyOfParts, looksLikeOpenStory, looksLikeStory } from './storyParts.ts';

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

/** Entries in the place of a tag or its tasks, which are no list of tasks there. */
export interface OddTasks {
  readonly name: string;
  readonly count: number;
  readonly span: Span;
}

/** Tasks that stand where Task Master has none: in a list without "tasks", or in an object in the place of that list. */
export function oddTasks(text: string, root: unknown): OddTasks[] {
  if (!isEntry(root)) {
    return [];
  }
  const members = membersOf(text, skipSpace(text, 0));
  return members.flatMap(member => {
    const { key, value: span } = member;
    const value = root[key];
    const count = memberOf(members, key) === member ? oddIn(key, value) : 0;
    return count === 0 ? [] : [{ name: key, count, span }];
  });
}

function oddIn(key: string, value: unknown): number {
  if (Array.isArray(value)) {
    const tasks = key === 'tasks' ? [] : value.filter(looksLikeTask);
    const inGroups = openInTags(value, 1);
    // A list with nothing but finished work is an archive.
    return (tasks.every(isDone) ? 0 : tasks.length) + inGroups;
  }
  if (!isEntry(value)) {
    return 0;
  }
  const isTag = Array.isArray(value['tasks']);
  const tasks = value['tasks'] ?? (key === 'tasks' ? value : undefined);
  if (isEntry(tasks)) {
    return Object.values(tasks).filter(isEntry).length;
  }
  return !isTag && isOpenTask(value, key)
    ? 1
    : openBeside(value) + (isTag ? 0 : openInTags(Object.values(value), MAX_DEPTH));
}

/** How many objects may be around a tag that is not where Task Master has it. */
const MAX_DEPTH = 4;

/** Open tasks of a tag that are not in its list, but in one with another name, or are values of the tag itself. */
function openBeside(tag: Entry): number {
  const own = Object.entries(tag).filter(([key, value]) => isOpenTask(value, key)).length;
  const lists = Object.entries(tag).filter(([name]) => name !== 'tasks' && isNameOfWork(name));
  return lists.reduce((sum, [, list]) => sum + openIn(list), own);
}

/** Open tasks in lists "tasks" of objects that are no tags. */
function openInTags(holders: readonly unknown[], depth: number): number {
  return holders
    .filter(isEntry)
    .reduce(
      (sum, holder) =>
        sum +
        openIn(holder['tasks']) +
        (depth > 1 ? openInTags(Object.values(holder), depth - 1) : 0),
      0,
    );
}

function openIn(list: unknown): number {
  return Array.isArray(list) ? list.filter(isOpenStoryOrTask).length : 0;
}

function isOpenStoryOrTask(item: unknown): boolean {
  return looksLikeTask(item) && !isDone(item);
}

/** The tool gives each task a number, and reads one without a status as open. */
function looksLikeTask(item: unknown): item is Entry {
  return (
    looksLikeStory(item) ||
    (isEntry(item) && typeof item.id === 'number' && titleOf(item) !== undefined)
  );
}

/** Whether a value of an object is an open task: a number, unlike a name or a state, is nothing but the id of one. */
function isOpenTask(value: unknown, key: string): boolean {
  return (
    isEntry(value) &&
    (typeof value.id === 'number' || /^\d+$/.test(key)) &&
    looksLikeOpenStory(value)
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
  const members = membersOf(text, start);
  return members.flatMap((member): Tag[] => {
    const value = root[member.key];
    // As in `JSON.parse`, the last one of repeated keys counts.
    if (!isEntry(value) || memberOf(members, member.key) !== member) {
      return [];
    }
    const list = listIn(text, member.value.start, value, 'tasks');
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

/** The subtasks of subtasks. Task Master has one level of them, and so they are not read. */
export function nestedSubtasks(text: string, { entry, parent, span }: Task): readonly Span[] {
  return parent === undefined ? [] : (listIn(text, span.start, entry, 'subtasks')?.spans ?? []);
}

/** Open entries of a task that are no subtasks, because their key has almost the right name, or they are in an object. */
export function oddSubtasks({ entry }: Task): { readonly key: string; readonly count: number }[] {
  return (isDone(entry) ? [] : Object.entries(entry)).flatMap(([key, value]) => {
    const isRead = key === 'subtasks' && Array.isArray(value);
    const items =
      !isRead && typeof value === 'object' && value !== null ? Object.values(value) : [];
    const count =
      isNamedLike(key, 'subtasks') || isKeyOfParts(key)
        ? items.filter(isOpenStoryOrTask).length
        : 0;
    return count === 0 ? [] : [{ key, count }];
  });
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
