import { commands } from 'vscode';

/** A context key for `when` clauses; setting it to the value it has does nothing. */
export class ContextKeyValue<T extends string | boolean> {
  private readonly name: string;
  private value: T | undefined;

  constructor(name: string) {
    this.name = name;
  }

  set(value: T): void {
    if (value !== this.value) {
      this.value = value;
      // The workbench answers when it has taken it; nobody here waits for that.
      void commands.executeCommand('setContext', this.name, value);
    }
  }
}
