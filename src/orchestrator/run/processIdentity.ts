import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A process for as long as it lives, and no other: pids are used again, also over reboots, so the time of
 * its start goes with it. `startId` is opaque, only good for comparing on the same machine.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startId?: string;
}

/** @returns `undefined` when there is no such process (a zombie counts as none) or its start is unknowable */
export async function processStartId(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    return linuxStartId(pid);
  }
  try {
    if (process.platform === 'win32') {
      const script = `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`;
      const { stdout } = await run('powershell.exe', ['-NoProfile', '-Command', script], {
        windowsHide: true,
      });
      return stdout.trim() || undefined;
    }
    // The format of lstart follows the locale, so it is fixed for comparing.
    const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)], {
      env: { ...process.env, LC_ALL: 'C' },
    });
    return stdout.trim() || undefined;
  } catch {
    // Both programs fail when there is no such process.
    return undefined;
  }
}

export async function identify(pid: number): Promise<ProcessIdentity> {
  const startId = await processStartId(pid);
  return startId === undefined ? { pid } : { pid, startId };
}

/** Whether exactly this process still runs. Without a known start the pid alone decides. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  if (!pidExists(identity.pid)) {
    return false;
  }
  const startId = await processStartId(identity.pid);
  if (identity.startId === undefined) {
    return process.platform !== 'linux' || startId !== undefined;
  }
  return startId === identity.startId;
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists, but belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function linuxStartId(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces and parentheses itself; the fields follow the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === undefined || state === 'Z' || state === 'X' || startTicks === undefined) {
      return undefined;
    }
    // Ticks count from boot, so the boot goes with them.
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${startTicks}`;
  } catch {
    return undefined;
  }
}
