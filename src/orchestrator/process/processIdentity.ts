import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** In ms. On macOS and Windows, asking the system needs a process, so an answer is cached this long. */
const ANSWER_HOLDS_MS = 30_000;

/**
 * Identifies a process: pids are reused, also after reboots, so the start time is included. `startId` is opaque and
 * only good for comparing on the same machine.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startId?: string;
}

/** The system's answer about a pid. `unknown`: it could not be asked. A zombie counts as `none`. */
type Answer =
  | { readonly kind: 'running'; readonly startId: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/** Constant during the lifetime of this process. */
let bootId: string | undefined;

/** When a pid's start was last compared, by pid and start. */
const confirmed = new Map<string, number>();

/** The process that has this pid now; without its start if there is none, or the system could not be asked. */
export async function identify(pid: number): Promise<ProcessIdentity> {
  const answer = await ask(pid);
  return answer.kind === 'running' ? { pid, startId: answer.startId } : { pid };
}

/**
 * Whether exactly this process is still running. If that is unknown, an existing pid counts as running: treating a
 * running loop as dead would be worse.
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

/** Whether it is suspended (Ctrl-Z, SIGSTOP). `false` where the system cannot tell (Windows), or if there is no such process. */
export async function isSuspended(pid: number): Promise<boolean> {
  try {
    const state =
      process.platform === 'linux'
        ? statFields(pid)[0]
        : process.platform === 'win32'
          ? undefined
          : (await run('ps', ['-o', 'state=', '-p', String(pid)])).stdout.trim();
    return state?.startsWith('T') === true;
  } catch {
    // It has ended.
    return false;
  }
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists, but belongs to another user.
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
        : // The format of lstart depends on the locale, so a fixed one is used.
          await run('ps', ['-o', 'lstart=', '-p', String(pid)], {
            env: { ...process.env, LC_ALL: 'C' },
          });
    const startId = stdout.trim();
    return startId === '' ? { kind: 'none' } : { kind: 'running', startId };
  } catch (error) {
    // Both exit with a code if there is no such process; a string (ENOENT, EAGAIN) means they did not run.
    return typeof (error as { code?: unknown }).code === 'number'
      ? { kind: 'none' }
      : { kind: 'unknown' };
  }
}

function askLinux(pid: number): Answer {
  try {
    const fields = statFields(pid);
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === undefined || state === 'Z' || state === 'X' || startTicks === undefined) {
      return { kind: 'none' };
    }
    // Ticks count from boot, so the boot id is added.
    bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { kind: 'running', startId: `${bootId}:${startTicks}` };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ||
      (error as NodeJS.ErrnoException).code === 'ESRCH'
      ? { kind: 'none' }
      : { kind: 'unknown' };
  }
}

/** The fields of a process in Linux, from its state on. @throws if there is no such process */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may itself contain spaces and parentheses; the fields follow the last one.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
