import { readDependencies } from './prdEntry.ts';
import { isCancelled, isParked, type NamedTask, type Task } from './taskMasterTasks.ts';

/** What tasks wait for, as ids of stories. */
export class TaskMasterNeeds {
  private readonly idOf: (task: NamedTask) => string;
  private readonly tasks = new Map<string, Task>();
  private readonly parts = new Map<Task, Task[]>();

  constructor(tasks: readonly Task[], idOf: (task: NamedTask) => string) {
    this.idOf = idOf;
    for (const task of tasks) {
      this.tasks.set(idOf(task), task);
      if (task.parent !== undefined) {
        // Adding to the list itself: one task may have thousands of parts.
        const parts = this.parts.get(task.parent);
        if (parts === undefined) {
          this.parts.set(task.parent, [task]);
        } else {
          parts.push(task);
        }
      }
    }
  }

  /**
   * A task waits for its subtasks, too, and a subtask for what its task waits for. A subtask that is put aside is left
   * out of the task, which would otherwise never be next.
   */
  of(task: Task): readonly string[] {
    const { parent } = task;
    const parts = this.parts.get(task)?.filter(({ entry }) => !isParked(entry)) ?? [];
    const own = this.named(task);
    const needs =
      parent === undefined
        ? [...own, ...parts.map(this.idOf)]
        : [...own.filter(this.isNot(parent)), ...this.named(parent).filter(this.isNot(task))];
    const unique = needs.length < 2 ? needs : [...new Set(needs)];
    return unique.filter(id => {
      const other = this.tasks.get(id);
      return other === undefined || !isCancelled(other.entry);
    });
  }

  /** The names in the file of what a task waits for and no task is called like, if they are not the ids. */
  asWritten({ entry, parent, tag }: Task): ReadonlyMap<string, string> | undefined {
    const names = [
      ...readDependencies(entry).map(name => [name, this.meantBy(name, { parent, tag })] as const),
      ...readDependencies(parent?.entry ?? {}).map(
        name => [name, this.meantBy(name, { tag })] as const,
      ),
    ];
    const unknown = names.filter(([name, id]) => name !== id && !this.tasks.has(id));
    return unknown.length === 0 ? undefined : new Map(unknown.map(([name, id]) => [id, name]));
  }

  private isNot(task: Task): (id: string) => boolean {
    const own = this.idOf(task);
    return id => id !== own;
  }

  /** What a task itself names, as ids without the tag. */
  namesOf(task: Task): readonly string[] {
    const prefix = this.idOf({ tag: task.tag, name: '' });
    return this.named(task).map(id => id.slice(prefix.length));
  }

  private named({ entry, parent, tag }: Task): readonly string[] {
    return readDependencies(entry).map(name => this.meantBy(name, { parent, tag }));
  }

  /**
   * The id of the story that a task means by a name. Between subtasks a number is a sibling, as in Task Master; without
   * such a sibling it is a task. Agents know the tasks of a tag by their ids with the tag, and may write these.
   */
  meantBy(name: string, { parent, tag }: Pick<Task, 'parent' | 'tag'>): string {
    const sibling = parent && this.idOf({ tag, name: `${parent.name}.${name}` });
    const task = this.idOf({ tag, name });
    if (sibling !== undefined && this.tasks.has(sibling)) {
      return sibling;
    }
    return !this.tasks.has(task) && this.tasks.get(name)?.tag === tag ? name : task;
  }
}
