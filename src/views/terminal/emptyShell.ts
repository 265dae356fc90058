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
