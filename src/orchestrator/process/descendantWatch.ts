import { readdirSync } from 'node:fs';
import { isOwnNamespace, readStat } from './processTree.ts';

/** From one look to the next, in ms. */
const LOOK_MS = 500;
const MAX_STAT_BYTES = 1_024;
/** Fields behind the name. */
const PARENT = 1;
const STARTED_AT = 19;

/**
 * Remembers what an agent's process starts, directly or not, for as long as that can be seen by its parents (Linux). A process that
 * becomes a daemon loses its parent, and may drop the run's marker and leave the group; it is still known here when one
 * look came before that. For where there is no cgroup; one that is quicker than a look gets away.
 */
export class DescendantWatch {
  /** Start in ticks since boot, by pid. */
  private readonly seen = new Map<number, number>();
  private readonly timer: NodeJS.Timeout | undefined;

  /** @param pid of the agent, just started */
  constructor(pid: number) {
    const started = startOf(pid);
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
    const table = processes();
    const children = new Map<number, Process[]>();
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

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly started: number;
}

/** Those that run now, by pid; no zombies. */
function processes(): Map<number, Process> {
  const buffer = Buffer.allocUnsafe(MAX_STAT_BYTES);
  const table = new Map<number, Process>();
  for (const name of readdirSync('/proc')) {
    const found = Number.isInteger(Number(name)) ? readProcess(Number(name), buffer) : undefined;
    if (found !== undefined) {
      table.set(found.pid, found);
    }
  }
  return table;
}

function startOf(pid: number): number | undefined {
  return process.platform === 'linux'
    ? readProcess(pid, Buffer.allocUnsafe(MAX_STAT_BYTES))?.started
    : undefined;
}

function readProcess(pid: number, buffer: Buffer): Process | undefined {
  try {
    const stat = readStat(pid, buffer);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X'
      ? undefined
      : { pid, parent: Number(fields[PARENT]), started: Number(fields[STARTED_AT]) };
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}
