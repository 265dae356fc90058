import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';

/** The kernel's line for one process is shorter. */
const MAX_STAT_BYTES = 1_024;
/** Indexes among the fields after the name. */
const PARENT = 1;
const GROUP = 2;
const STARTED_AT = 19;

/** A running process (Linux). */
export interface ProcessEntry {
  readonly pid: number;
  /** Of its program, at most 15 bytes. */
  readonly name: string;
  readonly parent: number;
  readonly group: number;
  /** In ticks since boot. */
  readonly started: number;
}

/**
 * The running processes, without zombies (Linux).
 * @param lowestPid called while listing, so that nothing in the list is newer than its answer; lower pids are left
 * out
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

/** One entry; `undefined` if the process has ended. */
export function processEntry(pid: number): ProcessEntry | undefined {
  return readEntry(pid, Buffer.allocUnsafe(MAX_STAT_BYTES));
}

/**
 * The folder that a process works in, a real path (Linux).
 * @returns `undefined` if the process has ended
 * @throws if this process may not know
 */
export function folderOfProcess(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    if (processEntry(pid) === undefined) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Whether `/proc` shows the pids that this process sees. In a pid namespace that still has the outer `/proc`
 * (`unshare --pid`, some containers), it does not.
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
    const nameEnd = stat.lastIndexOf(')');
    const fields = stat.slice(nameEnd + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X'
      ? undefined
      : {
          pid,
          name: stat.slice(stat.indexOf('(') + 1, nameEnd),
          parent: Number(fields[PARENT]),
          group: Number(fields[GROUP]),
          started: Number(fields[STARTED_AT]),
        };
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

/** There are hundreds of them, and `readFileSync` would first ask for the size of each. */
function readStat(pid: number, buffer: Buffer): string {
  const fd = openSync(`/proc/${pid}/stat`, 'r');
  try {
    return buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(fd);
  }
}
