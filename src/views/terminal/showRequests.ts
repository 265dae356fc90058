/**
 * Requests to VS Code to open a terminal that shows a run, until it opens. If the Tasks menu is filled meanwhile, VS Code
 * executes the menu's task, which starts a run, in place of the one it was given. By then the run may have been stopped,
 * and must not start again.
 *
 * VS Code forgets some requests, such as those of a window that is starting, and does not say so. The next task from the
 * menu then shows the run instead of starting it, once: that costs a click, and no agent.
 */
export class ShowRequests {
  private readonly pending = new Map<string, readonly ShowRequest[]>();

  add(folder: string, request: ShowRequest): void {
    this.pending.set(folder, [...(this.pending.get(folder) ?? []), request]);
  }

  /**
   * Whether the terminal that opens now was asked for. One request is for one terminal.
   * @param current the newest run of the folder; requests for an older one no longer count
   */
  take(folder: string, current: ShowRequest & { readonly alive: boolean }): boolean {
    const all = this.pending.get(folder) ?? [];
    const [first, ...others] = all.filter(({ runId }) => runId === current.runId);
    // As long as the run is active, so is the task, and VS Code opens no second terminal for it.
    this.pending.set(folder, current.alive ? [] : others);
    return first !== undefined;
  }
}

export interface ShowRequest {
  /** The run that is to be shown; `undefined` if there has been none. */
  readonly runId?: string | undefined;
}
