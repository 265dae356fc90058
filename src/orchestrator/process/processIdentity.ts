import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Asking the system costs a process on macOS and Windows, so an answer holds this long, in ms. */
const ANSWER_HOLDS_MS = 30_000;

/**
 * A process for as long as it lives, and no other: pids are used again, also over reboots, so the time of
 * its start goes with it. `startId` is opaque, only good for comparing on the same machine.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startId?: string;
}

/** What the system says of a pid. `unknown`: it could not be asked. A zombie counts as `none`. */
type Answer =
  | { readonly kind: 'running'; readonly startId: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/** It stays for as long as this process can live. */
let bootId: string | undefined;

/** Pids whose start was compared, and when; by pid and start. */
const confirmed = new Map<string, number>();

/** The process with this pid now; without its start where there is none, or the system could not be asked. */
export async function identify(pid: number): Promise<ProcessIdentity> {
  const answer = await ask(pid);
  return answer.kind === 'running' ? { pid, startId: answer.startId } : { pid };
}

/**
 * Whether exactly this process still runs. Where that cannot be found out, an existing pid counts as alive:
 * to take a living loop for dead is the worse mistake.
 */
export async function isRunning({ pid, startId }: ProcessIdentity): Promise<boolean> {
  if (!pidExists(pid)) {
    return false;
  }
  const key = `${pid} ${startId}`;
  const confirmedAt = confirmed.get(key);
  if (
    process.platform !== 'linux' &&
    confirmedAt !== undefined &&
    Date.now() - confirmedAt < ANSWER_HOLDS_MS
  ) {
    return true;
  }
  const answer = await ask(pid);
  const same =
    answer.kind === 'unknown' ||
    (answer.kind === 'running' && (startId === undefined || startId === answer.startId));
  confirmed.clear();
  if (same) {
    confirmed.set(key, Date.now());
  }
  return same;
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

async function ask(pid: number): Promise<Answer> {
  if (process.platform === 'linux') {
    return askLinux(pid);
  }
  try {
    const { stdout } =
      process.platform === 'win32'
        ? await run(
            'powershell.exe',
            ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`],
            { windowsHide: true },
          )
        : // The format of lstart follows the locale, so it is fixed for comparing.
          await run('ps', ['-o', 'lstart=', '-p', String(pid)], {
            env: { ...process.env, LC_ALL: 'C' },
          });
    const startId = stdout.trim();
    return startId === '' ? { kind: 'none' } : { kind: 'running', startId };
  } catch (error) {
    // Both end with a code when there is no such process; a string (ENOENT, EAGAIN) says they never ran.
    return typeof (error as { code?: unknown }).code === 'number'
      ? { kind: 'none' }
      : { kind: 'unknown' };
  }
}

function askLinux(pid: number): Answer {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces and parentheses itself; the fields follow the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === undefined || state === 'Z' || state === 'X' || startTicks === undefined) {
      return { kind: 'none' };
    }
    // Ticks count from boot, so the boot goes with them.
    bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { kind: 'running', startId: `${bootId}:${startTicks}` };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ||
      (error as NodeJS.ErrnoException).code === 'ESRCH'
      ? { kind: 'none' }
      : { kind: 'unknown' };
  }
}
