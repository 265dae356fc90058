/** One thing to do. */
export interface Todo {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
}

/** Keeps todos in memory. */
export class TodoStore {
  readonly #todos = new Map<number, Todo>();

  get size(): number {
    return this.#todos.size;
  }
}
