/** One thing to do. */
export interface Todo {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
}

/** Keeps todos in memory. */
export class TodoStore {
  readonly #todos = new Map<number, Todo>();
  #lastId = 0;

  get size(): number {
    return this.#todos.size;
  }

  add(title: string): Todo {
    this.#lastId += 1;
    const todo: Todo = { id: this.#lastId, title, done: false };
    this.#todos.set(todo.id, todo);
    return todo;
  }

  get(id: number): Todo | undefined {
    return this.#todos.get(id);
  }

  /** All todos, the oldest first. */
  list(): Todo[] {
    return [...this.#todos.values()];
  }
}
