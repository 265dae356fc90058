import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const POLL_MS = 100;
const POLITE_MS = 5_000;

/**
 * Ends all processes whose command line contains a unique text, such as a temporary folder created for them: first with
 * SIGTERM, then with SIGKILL. For programs that hand over to a process we did not start.
 */
export async function endProcessesWith(text: string): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    const pids = await pidsWith(text);
    if (pids.length === 0) {
      return;
    }
    const signal = Date.now() - startedAt < POLITE_MS ? 'SIGTERM' : 'SIGKILL';
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // It ended by itself.
      }
    }
    await sleep(POLL_MS);
  }
}

async function pidsWith(text: string): Promise<number[]> {
  const found = process.platform === 'linux' ? linuxCommands() : await otherCommands();
  return found.flatMap(([pid, command]) =>
    pid !== process.pid && pid !== process.ppid && command.includes(text) ? [pid] : [],
  );
}

function linuxCommands(): [number, string][] {
  return readdirSync('/proc').flatMap((name): [number, string][] => {
    try {
      return /^\d+$/.test(name)
        ? [[Number(name), readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')]]
        : [];
    } catch {
      return [];
    }
  });
}

async function otherCommands(): Promise<[number, string][]> {
  const { stdout } =
    process.platform === 'win32'
      ? await run('powershell.exe', [
          '-NoProfile',
          '-Command',
          'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.CommandLine)" }',
        ])
      : await run('ps', ['-axww', '-o', 'pid=,command=']);
  return stdout.split('\n').flatMap((line): [number, string][] => {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined || command === undefined ? [] : [[Number(pid), command]];
  });
}
