import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Environment variable that every process of a run inherits; its value is the run's id. */
export const RUN_MARKER = 'RALPH_FRESH_RUN';

const POLL_MS = 25;
const TERM_GRACE_MS = 2_000;

/**
 * Ends whatever an agent left running after it ended itself, or after the loop that owned it was killed:
 * its process group first, then every process that carries the run's marker, since a process can leave
 * its group (`setsid`) but not its environment. On Windows a tree can only be ended while its root lives,
 * so there the tree of `pid` is ended and that is all (agents are ended through it beforehand).
 *
 * @param pid leader of the agent's process group
 * @returns how many processes were still running
 */
export async function endLeftovers(pid: number | undefined, runId: string): Promise<number> {
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
  const before = await leftovers(pid, runId);
  if (before.length === 0) {
    return 0;
  }
  signalAll(before, 'SIGTERM');
  for (let waited = 0; waited < TERM_GRACE_MS; waited += POLL_MS) {
    await delay(POLL_MS);
    if ((await leftovers(pid, runId)).length === 0) {
      return before.length;
    }
  }
  // A process can start another one between the look and the blow, so look again until none is left.
  for (let round = 0; round < 40; round++) {
    const rest = await leftovers(pid, runId);
    if (rest.length === 0) {
      break;
    }
    signalAll(rest, 'SIGKILL');
    await delay(POLL_MS);
  }
  return before.length;
}

/** Pids of the group of `pid` and of all that carry the run's marker, without this process and zombies. */
async function leftovers(pid: number | undefined, runId: string): Promise<number[]> {
  const found =
    process.platform === 'linux' ? linuxProcesses(pid, runId) : await posixProcesses(pid, runId);
  return found.filter(candidate => candidate !== process.pid);
}

function linuxProcesses(group: number | undefined, runId: string): number[] {
  const marker = `${RUN_MARKER}=${runId}`;
  return readdirSync('/proc').flatMap(name => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) {
      return [];
    }
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || state === 'X') {
        return [];
      }
      const marked = () =>
        readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(marker);
      return (group !== undefined && Number(processGroup) === group) || marked() ? [pid] : [];
    } catch {
      // It ended meanwhile, or belongs to another user: not ours either way.
      return [];
    }
  });
}

async function posixProcesses(group: number | undefined, runId: string): Promise<number[]> {
  const { stdout } = await run('ps', ['-axEww', '-o', 'pid=,pgid=,stat=,command='], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const marker = ` ${RUN_MARKER}=${runId}`;
  return stdout.split('\n').flatMap(line => {
    const [, pid, processGroup, state, rest] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s(.*)$/.exec(line) ?? [];
    if (pid === undefined || state?.startsWith('Z')) {
      return [];
    }
    const marked = `${rest ?? ''} `.includes(`${marker} `);
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
