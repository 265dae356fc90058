/** What is known of a terminal that is open in the window. */
export interface OpenTerminal {
  /** How it was asked for; a name or a process of its own is of somebody who wanted that terminal. */
  readonly creationOptions: Readonly<object>;
  readonly state: { readonly isInteractedWith: boolean };
}

/**
 * Finds the shell that VS Code starts by itself where the panel of a new window would be empty: before any extension runs,
 * and so in the place of a terminal that an extension brings back. Pure.
 *
 * @param others terminals of the window that are not ours; when the last window closed there was none
 * @returns none where it may be somebody's: named, typed into, or one of several
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
