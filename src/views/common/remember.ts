import type { Memento } from 'vscode';

/**
 * Keeps a value for the next window, without waiting for it: it can be read at once, and the workbench writes it in its own time.
 * A window that goes down within that time has forgotten it, so nothing is kept this way that a person has written.
 * @param onError told when the workbench could not keep it
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
