/**
 * How long VS Code may take to open a terminal, in ms. It forgets some requests, such as those of a window that is still
 * starting, and does not say so.
 */
const FORGOTTEN_MS = 60_000;

/**
 * The terminals that VS Code was asked to open so that they show a run, until it opens them. If the Tasks menu is filled
 * meanwhile, VS Code executes the menu's task in place of the one it was given. By the time it does, the run may have been
 * stopped, and must not start again.
 */
export class ShowRequests {
  private readonly now: () => number;
  /** When they were made, by folder. */
  private readonly open = new Map<string, readonly number[]>();

  /** @param now the time in ms, which is never set back */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** @returns withdraws the request, if VS Code refuses it */
  add(folder: string): () => void {
    const madeAt = this.now();
    this.open.set(folder, [...this.waiting(folder), madeAt]);
    return () => this.open.set(folder, without(this.waiting(folder), madeAt));
  }

  /** Whether the terminal that opens now was asked for. One request is for one terminal. */
  take(folder: string): boolean {
    const [first, ...others] = this.waiting(folder);
    this.open.set(folder, others);
    return first !== undefined;
  }

  private waiting(folder: string): readonly number[] {
    const since = this.now() - FORGOTTEN_MS;
    return (this.open.get(folder) ?? []).filter(madeAt => madeAt > since);
  }
}

function without(times: readonly number[], time: number): readonly number[] {
  const at = times.indexOf(time);
  return at < 0 ? times : times.toSpliced(at, 1);
}
