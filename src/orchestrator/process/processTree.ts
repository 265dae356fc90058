import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cgroupPids, cgroupsOf, killCgroup, removeCgroup } from './agentCgroup.ts';
import { isRunning } from './processIdentity.ts';
import { isOwnNamespace, processTable } from './processTable.ts';

const run = promisify(execFile);

/** Environment variable that every process of a run inherits; its value is the run's id. */
export const RUN_MARKER = 'RALPH_FRESH_RUN';

/** Environment variable that every process of one agent, check or git command inherits; its value is unique. */
const CALL_MARKER = 'RALPH_FRESH_CALL';

const POLL_MS = 25;
const TERM_GRACE_MS = 2_000;
/** What is known about an agent since its start, so that older processes can be skipped (Linux). */
export interface TreeStart {
  /** Start id of its process. */
  readonly startId?: string | undefined;
  /** See {@link forksSoFar}. */
  readonly forks?: number | undefined;
  /**
   * The folder of its cgroup, as recorded in a journal; the one that this process would create is checked in any
   * case.
   */
  readonly cgroup?: string | undefined;
  /** Value of {@link CALL_MARKER}: only processes with this value are ended. Absent: all processes of the run. */
  readonly call?: string | undefined;
  /** Additional processes that are known to belong to it. */
  readonly others?: (() => readonly number[]) | undefined;
  /** This one is left to end by itself; only what it has started is ended. On Windows, it is ended with them. */
  readonly spared?: number | undefined;
}

/** The processes to find. */
interface Tree {
  /** Leader of the process group. */
  readonly pid: number | undefined;
  /** Name and value of the marker variable. */
  readonly marker: string;
  /** Ticks since boot; 0 for any time. */
  readonly since: number;
  readonly forks: number | undefined;
  /** Folders of cgroups; some may not exist. */
  readonly cgroups: readonly string[];
  readonly others: () => readonly number[];
  readonly spared: number | undefined;
}

/** Creates a value for {@link CALL_MARKER}. */
export function newCallId(): string {
  return randomBytes(8).toString('hex');
}

/** The variable that marks the processes of one call that belongs to no run. */
export function markerOf(call: string): Record<string, string> {
  return { [CALL_MARKER]: call };
}

/** The variables that mark the processes of one agent or check of a run. */
export function markersOf(runId: string, call: string): Record<string, string> {
  return { [RUN_MARKER]: runId, ...markerOf(call) };
}

/**
 * Ends everything that an agent left running after it ended, or after the loop that owned it was killed: its
 * process group; every process with its marker, because a process can leave its group (`setsid`) but rarely drops
 * its environment; and, if the system supports it, its cgroup, which no process leaves by accident. Marker and
 * cgroup are those of one agent (`started.call`), whose end must not affect others, or of the whole run. On Windows
 * a tree can only be ended while its root is running, so only the tree of `pid` is ended there (agents are ended
 * through it beforehand).
 *
 * @param pid leader of the agent's process group
 * @param started what is known about that process; older processes cannot belong to it and are skipped
 * @returns the number of processes that were still running
 */
export async function endLeftovers(
  pid: number | undefined,
  runId: string,
  started: TreeStart = {},
): Promise<number> {
  if (process.platform === 'win32') {
    if (pid === undefined) {
      return 0;
    }
    // taskkill fails if nothing is left to end, which is the usual case.
    const ended = await run('taskkill', ['/pid', String(pid), '/T', '/F'], {
      windowsHide: true,
    }).catch(() => undefined);
    return ended === undefined ? 0 : 1;
  }
  const { call, forks, others = () => [], spared } = started;
  const cgroups = cgroupsOf(runId, started.cgroup, call);
  const marker = call === undefined ? `${RUN_MARKER}=${runId}` : `${CALL_MARKER}=${call}`;
  try {
    return await endAll({
      ...{ pid, marker, forks, cgroups, others, spared },
      since: ticksOf(started.startId),
    });
  } finally {
    await Promise.all(cgroups.map(removeWhenEmpty));
  }
}

/** A process that is ending is no member of its cgroup any more, and keeps it for a moment. */
async function removeWhenEmpty(cgroup: string): Promise<void> {
  for (let waited = 0; waited < TERM_GRACE_MS; waited += POLL_MS) {
    if (removeCgroup(cgroup) || cgroupPids(cgroup).length > 0) {
      return;
    }
    await delay(POLL_MS);
  }
}

async function endAll(tree: Tree): Promise<number> {
  const before = await leftovers(tree);
  if (before.length === 0) {
    return 0;
  }
  signalAll(before, 'SIGTERM');
  for (let waited = 0; waited < TERM_GRACE_MS; waited += POLL_MS) {
    await delay(POLL_MS);
    if ((await leftovers(tree)).length === 0 && (await areGone(before))) {
      return before.length;
    }
  }
  // A process can start another one before its signal arrives, so repeat until none is left.
  for (let round = 0; round < 40; round++) {
    const rest = await leftovers(tree);
    if (rest.length === 0 && (await areGone(before))) {
      break;
    }
    tree.cgroups.forEach(killCgroup);
    signalAll(rest, 'SIGKILL');
    await delay(POLL_MS);
  }
  return before.length;
}

/** A process that is ending is no member of its cgroup any more, but on a busy machine it is there for a while. */
async function areGone(pids: readonly number[]): Promise<boolean> {
  if (process.platform !== 'linux' || !isOwnNamespace()) {
    return true;
  }
  const running = await Promise.all(pids.filter(pid => pid > 0).map(pid => isRunning({ pid })));
  return !running.includes(true);
}

/**
 * Pids of the group of `pid` and of all processes with the marker, without this process and zombies. A negative one
 * stands for a whole group, as for `kill`.
 */
async function leftovers(tree: Tree): Promise<number[]> {
  const found = process.platform === 'linux' ? linuxProcesses(tree) : await posixProcesses(tree);
  const members = tree.cgroups.flatMap(dir => cgroupPids(dir));
  return [...new Set([...found, ...members, ...tree.others()])].filter(
    candidate => candidate !== process.pid && candidate !== tree.spared,
  );
}

/**
 * The number of processes and threads that the machine has started since boot, if the system reports it. Recorded
 * at the start of an agent, it later shows whether pids may have wrapped around meanwhile.
 */
export function forksSoFar(): number | undefined {
  return process.platform === 'linux'
    ? unlessUnreadable(() => numberIn('/proc/stat', /^processes (\d+)$/m))
    : undefined;
}

function linuxProcesses(tree: Tree): number[] {
  const { marker, pid: group, since } = tree;
  if (!isOwnNamespace()) {
    // Pids in this `/proc` do not match ours. The marker cannot be searched for, but the group is known.
    return group !== undefined && isGroupThere(group) ? [-group] : [];
  }
  return processTable(() => lowestPid(tree)).flatMap(({ pid, group: processGroup, started }) =>
    // If the start of a process is unknown, it is not skipped as older.
    !(started < since) && (processGroup === group || isMarked(pid, marker)) ? [pid] : [],
  );
}

function isMarked(pid: number, marker: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(marker);
  } catch {
    // It ended meanwhile, or belongs to another user: not ours in both cases.
    return false;
  }
}

function isGroupThere(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * The lowest pid that a process started after the agent can have. Pids increase until they reach the maximum, so
 * this is the agent's own pid; 0 if they may have wrapped around since then, or this is unknown.
 *
 * Each process gets the next free number, so there was no wraparound as long as fewer processes were started than
 * there are numbers above the agent's. Only half of these numbers are counted, because numbers in use are skipped.
 * The counter covers the whole machine, so it is never too low for a container, where processes in the agent's own
 * namespaces also have a number in ours. The newest pid in `/proc/loadavg` is less reliable: in a container it may
 * be faked, from another namespace, or outdated (lxcfs). A counter that has not changed is faked, too (gVisor). A
 * process that may choose pids (`ns_last_pid`) could hide, but so could any process that drops the marker and
 * leaves the group.
 */
function lowestPid({ forks, pid }: Tree): number {
  const forksNow = pid === undefined || forks === undefined ? undefined : forksSoFar();
  if (pid === undefined || forks === undefined || forksNow === undefined) {
    return 0;
  }
  const started = forksNow - forks;
  const highest = unlessUnreadable(() => numberIn('/proc/sys/kernel/pid_max', /^(\d+)$/m)) ?? 0;
  return started > 0 && started < (highest - pid) / 2 ? pid : 0;
}

/** @returns `Number.NaN`, for which every comparison is false, if it is not found */
function numberIn(file: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(file, 'latin1'))?.[1] ?? Number.NaN);
}

/** Such files may be hidden; then every process is checked. */
function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The start of a process, from the id that `identify` returns on Linux; 0 if unknown. */
function ticksOf(startId: string | undefined): number {
  const ticks = Number(startId?.split(':').at(-1) ?? Number.NaN);
  return Number.isFinite(ticks) ? ticks : 0;
}

async function posixProcesses({ marker, pid: group }: Tree): Promise<number[]> {
  const { stdout } = await run('ps', ['-axEww', '-o', 'pid=,pgid=,stat=,command='], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\n').flatMap(line => {
    const [, pid, processGroup, state, rest] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s(.*)$/.exec(line) ?? [];
    if (pid === undefined || state?.startsWith('Z')) {
      return [];
    }
    const marked = `${rest ?? ''} `.includes(` ${marker} `);
    return Number(processGroup) === group || marked ? [Number(pid)] : [];
  });
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has already ended (ESRCH); one that may not be signaled (EPERM) shows up as a process that stays.
    }
  }
}
