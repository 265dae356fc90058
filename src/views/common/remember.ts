import type { Memento } from 'vscode';

/**
 * Stores a value for the next window, without waiting: it can be read at once, and the workbench writes it later. A
 * window that crashes before that loses it, so text that a person has written is never stored this way.
 * @param onError called if the workbench could not store it
 */
export function remember(
  state: Memento,
  key: string,
  value: unknown,
  onError: (error: Error) => void,
): void {
  state.update(key, value).then(undefined, (error: unknown) => {
    onError(error instanceof Error ? error : new Error(String(error)));
  });
}
