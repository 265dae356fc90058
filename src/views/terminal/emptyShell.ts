import type { Disposable } from '../../base/emitter.ts';

/** In ms, from the restored terminal on. Nobody opens a shell of their own this soon after a reload. */
const LATE_MS = 10_000;

/** Known properties of an open terminal in the window. */
export interface OpenTerminal {
  /** The options it was created with; a name or a program means that somebody wanted that terminal. */
  readonly creationOptions: Readonly<object>;
  readonly state: { readonly isInteractedWith: boolean };
}

/**
 * Finds the shell that VS Code starts by itself if the panel of a new window would be empty. VS Code starts it before
 * any extension runs, and so instead of a terminal that an extension restores. Pure.
 *
 * @param others terminals of the window that are not ours; there were none when the last window closed
 * @returns none if it may be in use: named, typed into, or one of several
 */
export function emptyShell<T extends OpenTerminal>(others: readonly T[]): T | undefined {
  const [shell, ...more] = others;
  if (shell === undefined || more.length > 0 || shell.state.isInteractedWith) {
    return undefined;
  }
  const { creationOptions } = shell;
  const isNamed = 'name' in creationOptions && Boolean(creationOptions.name);
  return isNamed || 'pty' in creationOptions ? undefined : shell;
}

/**
 * Closes that shell for a terminal that was just restored, also if it comes late: VS Code decides to start it when the
 * panel is empty, but creates it when it knows the shells of the system. On a busy machine, that is after ours.
 * @param others terminals of the window that are not ours
 * @returns stops waiting for it
 */
export function closeEmptyShell<T extends OpenTerminal & Disposable>(
  others: () => readonly T[],
  onDidOpen: (listen: () => void) => Disposable,
): Disposable {
  const shell = emptyShell(others());
  if (shell !== undefined) {
    shell.dispose();
    return { dispose: () => undefined };
  }
  const dispose = () => {
    clearTimeout(timer);
    listener.dispose();
  };
  const timer = setTimeout(dispose, LATE_MS);
  const listener = onDidOpen(() => {
    const found = others();
    if (found.length > 0) {
      // The first one alone: the next may be a person's.
      dispose();
      emptyShell(found)?.dispose();
    }
  });
  return { dispose };
}
