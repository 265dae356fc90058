import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';

/** The line that the kernel makes for one process is shorter. */
const MAX_STAT_BYTES = 1_024;
/** Places among the fields behind the name. */
const PARENT = 1;
const GROUP = 2;
const STARTED_AT = 19;

/** A process that runs now (Linux). */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** In ticks since boot. */
  readonly started: number;
}

/**
 * The processes that run now, without zombies (Linux).
 * @param lowestPid called when they are listed, so that nothing of the list is newer than its answer; those below it are left out
 */
export function processTable(lowestPid: () => number = () => 0): ProcessEntry[] {
  const names = readdirSync('/proc');
  const lowest = lowestPid();
  const buffer = Buffer.allocUnsafe(MAX_STAT_BYTES);
  return names.flatMap(name => {
    const pid = Number(name);
    return Number.isInteger(pid) && pid >= lowest ? (readEntry(pid, buffer) ?? []) : [];
  });
}

/** One of them; `undefined` when it has ended. */
export function processEntry(pid: number): ProcessEntry | undefined {
  return readEntry(pid, Buffer.allocUnsafe(MAX_STAT_BYTES));
}

/**
 * Whether `/proc` tells of the pids that this process sees. In a pid namespace whose `/proc` is still the outer one
 * (`unshare --pid`, some containers) it does not.
 */
export function isOwnNamespace(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid);
  } catch {
    return false;
  }
}

function readEntry(pid: number, buffer: Buffer): ProcessEntry | undefined {
  try {
    const stat = readStat(pid, buffer);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X'
      ? undefined
      : {
          pid,
          parent: Number(fields[PARENT]),
          group: Number(fields[GROUP]),
          started: Number(fields[STARTED_AT]),
        };
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

/** There are hundreds of them, and `readFileSync` asks for the size of each first. */
function readStat(pid: number, buffer: Buffer): string {
  const fd = openSync(`/proc/${pid}/stat`, 'r');
  try {
    return buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(fd);
  }
}
