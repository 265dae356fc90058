import { isOwnNamespace, type ProcessEntry, processEntry, processTable } from './processTable.ts';

/** From one look to the next, in ms. */
const LOOK_MS = 500;

/**
 * Remembers what a process starts, directly or not, for as long as that can be seen by its parents (Linux). A process that
 * becomes a daemon loses its parent, and may drop the run's marker and leave the group; it is still known here when one
 * look came before that. For where there is no cgroup; one that is quicker than a look gets away.
 */
export class DescendantWatch {
  /** Start in ticks since boot, by pid. */
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

  /** Looks now; to be called when something is about to change. */
  look(): void {
    void this.living();
  }

  /** All of them that still run. */
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
      // Its number may be another process's by now.
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
