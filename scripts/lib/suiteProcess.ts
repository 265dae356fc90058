import { type ChildProcess, spawn } from 'node:child_process';
import type { Say } from './cache.ts';
import { QuietTime } from './quietTime.ts';

const LOOK_MS = 1_000;
/** Time after which a process that was asked to end is killed. */
const POLITE_MS = 30_000;

export interface SuiteProcessOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Receives all its output. */
  readonly print: (text: string) => void;
  /** It is considered hanging after this long without activity. */
  readonly quietMs: number;
  /** A signal to this process alone must not leave a suite behind. */
  readonly onInterrupt?: () => void;
  /** It has reported progress, with `tellProgress` of progressReporter.ts. */
  readonly onProgress?: () => void;
}

/**
 * Runs the process of a suite to its end. It may be as slow as it likes; it is ended only if it hangs, which means that
 * it prints nothing and reports no progress for a long time.
 * @returns its exit code
 */
export function runSuiteProcess(
  command: string,
  args: readonly string[],
  { cwd, env = {}, print, quietMs, onInterrupt, onProgress }: SuiteProcessOptions,
): Promise<number> {
  return new Promise((resolve, reject) => {
    // On Windows, the programs in .bin are scripts, which only a shell can start.
    const isScript = process.platform === 'win32' && command !== process.execPath;
    const child: ChildProcess = spawn(isScript ? `"${command}"` : command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', ...(isScript ? [] : (['ipc'] as const))],
      shell: isScript,
    });
    const quiet = new QuietTime(quietMs);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        quiet.end();
        print(text);
      });
    }
    child.on('message', () => {
      quiet.end();
      onProgress?.();
    });

    let killer: NodeJS.Timeout | undefined;
    const end = (signal: NodeJS.Signals): void => {
      child.kill(signal);
      killer ??= setTimeout(() => child.kill('SIGKILL'), POLITE_MS);
    };
    const watchdog = setInterval(() => {
      if (quiet.isTooLong() && killer === undefined) {
        tell(print, `nothing has happened for ${Math.round(quietMs / 60_000)} minutes: it hangs`);
        end('SIGTERM');
      }
    }, LOOK_MS);
    const pass = (signal: NodeJS.Signals): void => {
      onInterrupt?.();
      end(signal);
    };
    process.on('SIGINT', pass).on('SIGTERM', pass);
    child.on('error', reject);
    child.on('close', code => {
      clearInterval(watchdog);
      clearTimeout(killer);
      process.off('SIGINT', pass).off('SIGTERM', pass);
      resolve(code ?? 1);
    });
  });
}

/** Prints our own line among those of a suite. */
export function tell(print: Say, line: string): void {
  print(`[test] ${line}\n`);
}
