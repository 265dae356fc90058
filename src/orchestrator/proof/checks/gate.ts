import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { requirePlainFolders } from '../../../base/plainFile.ts';
import type { Words } from '../../../base/say.ts';
import type { Journal } from '../../journal/journal.ts';
import { DEFAULT_LIMITS } from '../../process/processLimits.ts';
import { supervise } from '../../process/supervise.ts';
import { CheckOutput } from './checkOutput.ts';

const isWindows = process.platform === 'win32';
/** Length of a check's output in the journal, in UTF-16 units; its log has all of it. */
const MAX_OUTPUT = 4_000;

/** The result of one check. It passes only if it exits by itself with code 0. */
export interface CheckResult {
  readonly command: string;
  readonly ok: boolean;
  /** Absent if it was ended by a signal, or could not be started. */
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** The last 8,000 UTF-16 units of both streams in order, including control characters. */
  readonly outputTail: string;
  /** Why it could not be started. */
  readonly problem?: Words;
  readonly cancelled: boolean;
}

export interface GateResult {
  /** Every check passed, or there was none. */
  readonly green: boolean;
  /** Up to the first one that failed. */
  readonly checks: readonly CheckResult[];
  readonly cancelled: boolean;
}

export interface GateOptions {
  /** Shell commands, as written by a person; run in this order. */
  readonly commands: readonly string[];
  /** Those of them that run a second time if they fail. */
  readonly flaky?: readonly string[];
  readonly cwd: string;
  /** The whole environment of the checks; `CI=1` and the run's marker are added. */
  readonly env: Readonly<Record<string, string>>;
  /** Time limit per check, in ms. */
  readonly timeLimitMs: number;
  /** Aborted: end the check's process tree, SIGTERM first, and start no further check. */
  readonly signal: AbortSignal;
  /** Aborted: end it with SIGKILL, even if it is already being ended. */
  readonly killSignal: AbortSignal;
  /** Marks the checks' processes, so that none of them is left behind. */
  readonly runId: string;
  /** Folder for `check-1.log`, …: the output of each check, up to 50 MB. */
  readonly dir: string;
  /** The iteration as whose events each start and end is recorded, except a canceled end; absent: nothing is. */
  readonly record?: { readonly journal: Pick<Journal, 'append'>; readonly iteration: number };
  /** Called after each check, also after one that was ended. */
  readonly afterCheck?: (command: string) => Promise<void>;
}

/**
 * Runs the checks one after another in the platform's shell (`sh -c`, `cmd.exe`) until one fails. Processes left by
 * a check are ended before the next one starts, and at the end.
 *
 * @throws if a log cannot be written, or its folder is a link; running processes have been ended then
 */
export async function runGate(options: GateOptions): Promise<GateResult> {
  const checks: CheckResult[] = [];
  for (const [index, command] of options.commands.entries()) {
    if (options.signal.aborted || options.killSignal.aborted) {
      return { green: false, checks, cancelled: true };
    }
    requirePlainFolders(options.dir);
    // The agent or the previous check may have removed it (`git clean -fdx`).
    await mkdir(options.dir, { recursive: true });
    const run = async (name: string) => {
      const result = await runCheck(command, path.join(options.dir, `${name}.log`), options);
      if (options.record && !result.cancelled) {
        const { iteration, journal } = options.record;
        journal.append({
          ...{ type: 'check.ended', iteration, ok: result.ok },
          ...checkRecord(result),
        });
      }
      await options.afterCheck?.(command);
      return result;
    };
    let check = await run(`check-${index + 1}`);
    if (!check.ok && !check.cancelled && options.flaky?.includes(command) === true) {
      check = await run(`check-${index + 1}-again`);
    }
    checks.push(check);
    if (!check.ok) {
      return { green: false, checks, cancelled: check.cancelled };
    }
  }
  return { green: true, checks, cancelled: false };
}

/** What the journal keeps of a check that has ended. */
export function checkRecord(check: CheckResult) {
  const { command, durationMs, exitCode, outputTail, problem, timedOut } = check;
  const end = outputTail.length <= MAX_OUTPUT ? outputTail : `…${outputTail.slice(1 - MAX_OUTPUT)}`;
  return {
    ...{ command, exitCode, timedOut, problem },
    durationMs: Math.round(durationMs),
    outputTail: end,
  };
}

async function runCheck(command: string, file: string, options: GateOptions): Promise<CheckResult> {
  const output = await CheckOutput.open(file);
  const take = () => {
    const decoder = new StringDecoder('utf8');
    return async (bytes: Buffer) => {
      output.add(decoder.write(bytes));
      await output.write(bytes);
    };
  };
  try {
    const { durationMs, exitCode, problem, reason, signal } = await supervise(
      // Two pipes would lose the order of the output; cmd.exe has no syntax for redirecting a whole line.
      { shellLine: isWindows ? command : `exec 2>&1; ${command}` },
      {
        cwd: options.cwd,
        env: { ...ciOf(options.env), ...options.env },
        runId: options.runId,
        limits: { hardMs: options.timeLimitMs, killGraceMs: DEFAULT_LIMITS.killGraceMs },
        signal: options.signal,
        killSignal: options.killSignal,
        onStarted: started => {
          if (options.record) {
            const { iteration, journal } = options.record;
            journal.append({ type: 'check.started', iteration, command, ...started });
          }
        },
        onStdout: take(),
        onStderr: take(),
      },
    );
    return {
      command,
      ok: reason === 'exited' && exitCode === 0,
      exitCode,
      signal,
      timedOut: reason === 'hardLimit',
      durationMs,
      outputTail: output.tail,
      problem,
      cancelled: reason === 'cancelled',
    };
  } finally {
    await output.close();
  }
}

/** Without `CI`, test runners watch for changes, and installers ask questions. */
function ciOf(env: GateOptions['env']): { readonly CI?: string } {
  const isSet = Object.keys(env).some(name => (isWindows ? name.toUpperCase() : name) === 'CI');
  return isSet ? {} : { CI: '1' };
}
