import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cgroupPids, cgroupsOf, killCgroup, removeCgroup } from './agentCgroup.ts';
import { isOwnNamespace, processTable } from './processTable.ts';

const run = promisify(execFile);

/** Environment variable that every process of a run inherits; its value is the run's id. */
export const RUN_MARKER = 'RALPH_FRESH_RUN';

/** Environment variable that every process of one agent, or of one check, inherits; its value is found nowhere else. */
export const CALL_MARKER = 'RALPH_FRESH_CALL';

const POLL_MS = 25;
const TERM_GRACE_MS = 2_000;
/** What is known of an agent from its start on, so that what is older need not be looked at (Linux). */
export interface TreeStart {
  /** Of its process. */
  readonly startId?: string | undefined;
  /** See {@link forksSoFar}. */
  readonly forks?: number | undefined;
  /** The folder of its cgroup, as a journal tells it; the one that this process would make is looked at in any case. */
  readonly cgroup?: string | undefined;
  /** Value of {@link CALL_MARKER}: only what carries it is ended. Without one, everything of the run. */
  readonly call?: string | undefined;
  /** More processes that are known to be its own. */
  readonly others?: (() => readonly number[]) | undefined;
}

/** What is looked for. */
interface Tree {
  /** Leader of the process group. */
  readonly pid: number | undefined;
  /** Name and value of the variable that marks what is looked for. */
  readonly marker: string;
  /** Ticks since boot; 0 for any time. */
  readonly since: number;
  readonly forks: number | undefined;
  /** Folders of cgroups; not all of them need be there. */
  readonly cgroups: readonly string[];
  readonly others: () => readonly number[];
}

/** A value for {@link CALL_MARKER}. */
export function newCallId(): string {
  return randomBytes(8).toString('hex');
}

/** Marks the processes of one agent or check of a run. */
export function markersOf(runId: string, call: string): Record<string, string> {
  return { [RUN_MARKER]: runId, [CALL_MARKER]: call };
}

/**
 * Ends whatever an agent left running after it ended itself, or after the loop that owned it was killed:
 * its process group; every process that carries its marker, since a process can leave its group (`setsid`)
 * but seldom drops its environment; and where the system has one, its cgroup, which nothing leaves by chance. The marker and
 * the cgroup are those of one agent (`started.call`), whose end must not end others, or of the whole run.
 * On Windows a tree can only be ended while its root lives, so there the tree of `pid` is ended and that is all
 * (agents are ended through it beforehand).
 *
 * @param pid leader of the agent's process group
 * @param started what is known of that process; what is older cannot come from it and is left out
 * @returns how many processes were still running
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
    // taskkill fails when there is nothing left to end, which is the usual case.
    const ended = await run('taskkill', ['/pid', String(pid), '/T', '/F'], {
      windowsHide: true,
    }).catch(() => undefined);
    return ended === undefined ? 0 : 1;
  }
  const { call, forks, others = () => [] } = started;
  const cgroups = cgroupsOf(runId, started.cgroup, call);
  const marker = call === undefined ? `${RUN_MARKER}=${runId}` : `${CALL_MARKER}=${call}`;
  try {
    return await endAll({
      ...{ pid, marker, forks, cgroups, others },
      since: ticksOf(started.startId),
    });
  } finally {
    cgroups.forEach(removeCgroup);
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
    if ((await leftovers(tree)).length === 0) {
      return before.length;
    }
  }
  // A process can start another one before its signal arrives, so look again until none is left.
  for (let round = 0; round < 40; round++) {
    const rest = await leftovers(tree);
    if (rest.length === 0) {
      break;
    }
    tree.cgroups.forEach(killCgroup);
    signalAll(rest, 'SIGKILL');
    await delay(POLL_MS);
  }
  return before.length;
}

/**
 * Pids of the group of `pid` and of all that carry the marker, without this process and zombies. A negative one
 * stands for a whole group, as for `kill`.
 */
async function leftovers(tree: Tree): Promise<number[]> {
  const found = process.platform === 'linux' ? linuxProcesses(tree) : await posixProcesses(tree);
  const members = tree.cgroups.flatMap(dir => cgroupPids(dir));
  return [...new Set([...found, ...members, ...tree.others()])].filter(
    candidate => candidate !== process.pid,
  );
}

/**
 * How many processes and threads the machine has started since its boot, where the system tells. Told at the start of
 * an agent, it later shows whether the numbers that pids are taken from may have been used up meanwhile.
 */
export function forksSoFar(): number | undefined {
  return process.platform === 'linux'
    ? unlessUnreadable(() => numberIn('/proc/stat', /^processes (\d+)$/m))
    : undefined;
}

function linuxProcesses(tree: Tree): number[] {
  const { marker, pid: group, since } = tree;
  if (!isOwnNamespace()) {
    // Its pids are other processes' here. The marker cannot be looked for; the group is known all the same.
    return group !== undefined && isGroupThere(group) ? [-group] : [];
  }
  return processTable(() => lowestPid(tree)).flatMap(({ pid, group: processGroup, started }) =>
    // Of a process whose start is not told it is not known to be older.
    !(started < since) && (processGroup === group || isMarked(pid, marker)) ? [pid] : [],
  );
}

function isMarked(pid: number, marker: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(marker);
  } catch {
    // It ended meanwhile, or belongs to another user: not ours either way.
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
 * The lowest pid of a process since the agent's start: its own, as pids go up until the highest is reached; 0 where they
 * may have begun again since then, or nothing is known.
 *
 * Each process takes the next free number, so they have not begun again while fewer have started than there is room
 * above the agent. Half of the room, since numbers in use are left out on the way up. What has started is counted for
 * the machine, and so never too low for a container, where pids in the agent's own namespaces have a number of ours as
 * well. The newest pid in `/proc/loadavg` says less: in a container it may be made up, of other numbers, or old (lxcfs). A
 * counter that has not moved is made up, too (gVisor). Who has the right to choose pids (`ns_last_pid`) could hide, as could
 * anybody who drops the marker and leaves the group.
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

/** @returns `Number.NaN`, which compares with nothing, when it is not there */
function numberIn(file: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(file, 'latin1'))?.[1] ?? Number.NaN);
}

/** Such files may be hidden, and then everything is looked at. */
function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The start of a process as `identify` tells it on Linux; the beginning of time when it is not known. */
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
      // It ended by itself (ESRCH); one that may not be signalled (EPERM) shows as a process that stays.
    }
  }
}
