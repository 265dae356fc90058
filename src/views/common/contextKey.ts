import { commands } from 'vscode';

/** A context key for `when` clauses; setting its current value again does nothing. */
export class ContextKeyValue<T extends string | boolean> {
  private readonly name: string;
  private value: T | undefined;

  constructor(name: string) {
    this.name = name;
  }

  set(value: T): void {
    if (value !== this.value) {
      this.value = value;
      // The workbench responds when it has set the key; nothing here waits for that.
      void commands.executeCommand('setContext', this.name, value);
    }
  }
}
