import { isOwnNamespace, type ProcessEntry, processEntry, processTable } from './processTable.ts';

/** Interval between two looks, in ms. */
const LOOK_MS = 500;

/**
 * Records the descendants of a process for as long as they can be traced through their parents (Linux). A daemon
 * loses its parent, and may remove the run's marker and leave the process group; it is still known here if a look
 * happened before that. Used if there is no cgroup; a process that is faster than the interval escapes.
 */
export class DescendantWatch {
  /** Start time in ticks since boot, by pid. */
  private readonly seen = new Map<number, number>();
  private readonly timer: NodeJS.Timeout | undefined;

  /** @param pid just started */
  constructor(pid: number) {
    const started = process.platform === 'linux' ? processEntry(pid)?.started : undefined;
    if (started === undefined || !isOwnNamespace()) {
      return;
    }
    this.seen.set(pid, started);
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.timer.unref();
  }

  /** Looks now; call it before a change that could hide processes. */
  look(): void {
    void this.living();
  }

  /** The recorded processes that are still running. */
  pids(): number[] {
    return [...this.living()];
  }

  dispose(): void {
    clearInterval(this.timer);
  }

  private living(): ReadonlySet<number> {
    const living = new Set<number>();
    if (this.seen.size === 0) {
      return living;
    }
    const table = new Map(processTable().map(entry => [entry.pid, entry]));
    const children = new Map<number, ProcessEntry[]>();
    for (const child of table.values()) {
      children.set(child.parent, [...(children.get(child.parent) ?? []), child]);
    }
    const queue = [...this.seen].flatMap(([pid, started]) => {
      // The pid may belong to another process by now.
      const isSame = table.get(pid)?.started === started;
      if (!isSame) {
        this.seen.delete(pid);
      }
      return isSame ? [pid] : [];
    });
    for (const pid of queue) {
      if (living.has(pid)) {
        continue;
      }
      living.add(pid);
      for (const child of children.get(pid) ?? []) {
        this.seen.set(child.pid, child.started);
        queue.push(child.pid);
      }
    }
    return living;
  }
}
