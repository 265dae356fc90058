import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { requirePlainFolders } from '../../../base/plainFile.ts';
import { shellWord } from '../../../base/shellWord.ts';
import { makeCgroup, removeCgroup } from '../../process/agentCgroup.ts';
import { identify, type ProcessIdentity } from '../../process/processIdentity.ts';
import { endLeftovers, markersOf, newCallId } from '../../process/processTree.ts';
import { treeOptions } from '../../process/treeOptions.ts';
import { CheckOutput } from './checkOutput.ts';

/** From SIGTERM to SIGKILL, in ms. */
const KILL_GRACE_MS = 5_000;
/** Silence on an output whose process has ended, in ms, after which nothing more is waited for. */
const HELD_OUTPUT_MS = 2_000;
/** The same for an output that goes on: a process that got away may also write for ever. */
const HELD_OUTPUT_MAX_MS = 20_000;
/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What one check came to. Green is exactly: it ended by itself, with 0. */
export interface CheckResult {
  readonly command: string;
  readonly ok: boolean;
  /** Absent when it was ended by a signal, or could not be started. */
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /**
   * The last 8,000 UTF-16 units of both streams in the order they came, control characters included; of a
   * check that could not be started, why.
   */
  readonly outputTail: string;
  readonly cancelled: boolean;
}

export interface GateResult {
  /** Every check was green; also when there is none. */
  readonly green: boolean;
  /** Up to the first one that was not green. */
  readonly checks: readonly CheckResult[];
  readonly cancelled: boolean;
}

export interface GateOptions {
  /** Shell lines, as a person wrote them; run in this order. */
  readonly commands: readonly string[];
  readonly cwd: string;
  /** The whole environment of the checks; `CI=1` and the run's marker are added. */
  readonly env: Readonly<Record<string, string>>;
  /** Each check may take this long, in ms. */
  readonly timeLimitMs: number;
  /** Aborted: end the check's process tree, SIGTERM first, and start no other. */
  readonly signal: AbortSignal;
  /** Aborted: end it with SIGKILL, also when it is already being ended. */
  readonly killSignal: AbortSignal;
  /** Marks the checks' processes, so that none is left behind. */
  readonly runId: string;
  /** Folder for `check-1.log`, …: the output of each check, up to 50 MB. */
  readonly dir: string;
  readonly onStarted?: (command: string, identity: ProcessIdentity) => void;
  /** Called as soon as a check has ended, before the next one starts; not for one that was cancelled. */
  readonly onEnded?: (check: CheckResult) => void;
}

/**
 * Runs the checks one after another by the platform's shell (`sh -c`, `cmd.exe`) until one is not green.
 * Nothing that a check started is left when the next one starts, or at the end.
 *
 * @throws when a log cannot be written, or its folder is a link; what was running has been ended then
 */
export async function runGate(options: GateOptions): Promise<GateResult> {
  const checks: CheckResult[] = [];
  for (const [index, command] of options.commands.entries()) {
    if (options.signal.aborted || options.killSignal.aborted) {
      return { green: false, checks, cancelled: true };
    }
    requirePlainFolders(options.dir);
    // The agent or the check before may have removed it (`git clean -fdx`).
    await mkdir(options.dir, { recursive: true });
    const check = await runCheck(
      command,
      path.join(options.dir, `check-${index + 1}.log`),
      options,
    );
    checks.push(check);
    if (!check.cancelled) {
      options.onEnded?.(check);
    }
    if (!check.ok) {
      return { green: false, checks, cancelled: check.cancelled };
    }
  }
  return { green: true, checks, cancelled: false };
}

async function runCheck(command: string, file: string, options: GateOptions): Promise<CheckResult> {
  const startedAt = performance.now();
  const output = await CheckOutput.open(file);
  let endedBy: 'limit' | 'cancel' | undefined;
  try {
    // Loaded here: a run without checks starts none.
    const { execa } = await import('execa');
    const call = newCallId();
    const cgroup = makeCgroup(options.runId, call);
    const subprocess = startShell(execa, command, options, { call, cgroup: cgroup?.dir });
    // A failed start (no such folder, no shell) is told by the promise alone; its streams never open.
    if (subprocess.pid === undefined) {
      const failed = await subprocess;
      if (cgroup !== undefined) {
        removeCgroup(cgroup.dir);
      }
      output.add(failed.originalMessage ?? failed.shortMessage ?? '');
      return {
        command,
        ok: false,
        timedOut: false,
        durationMs: performance.now() - startedAt,
        outputTail: output.tail,
        cancelled: false,
      };
    }
    const { pid, nodeChildProcess: child } = subprocess;
    const end = (why: 'limit' | 'cancel', signal: NodeJS.Signals = 'SIGTERM') => {
      endedBy ??= why;
      subprocess.kill(signal);
    };
    const timer = setTimeout(() => end('limit'), Math.min(options.timeLimitMs, MAX_TIMER_MS));
    const exited = once(child, 'exit').catch(() => undefined);
    const listeners = new AbortController();
    // From its exit on a stop no longer changes what the check came to.
    const leftoverListeners = new AbortController();
    let silenceTimer: NodeJS.Timeout | undefined;
    let heldTimer: NodeJS.Timeout | undefined;
    let isHeld = false;
    const letGo = () => {
      isHeld = true;
      subprocess.stdout.destroy();
      subprocess.stderr.destroy();
    };
    const read = async (stream: AsyncIterable<Uint8Array>) => {
      const decoder = new StringDecoder('utf8');
      for await (const { buffer, byteOffset, byteLength } of stream) {
        silenceTimer?.refresh();
        const bytes = Buffer.from(buffer, byteOffset, byteLength);
        output.add(decoder.write(bytes));
        await output.write(bytes);
      }
    };
    try {
      onAborted(options.signal, () => end('cancel'), listeners.signal);
      onAborted(options.killSignal, () => end('cancel', 'SIGKILL'), listeners.signal);
      const reading = Promise.all([read(subprocess.stdout), read(subprocess.stderr)]);
      // Nobody empties the pipes any more, so the check would wait for ever. Thrown below.
      reading.catch(() => subprocess.kill('SIGKILL'));
      options.onStarted?.(command, await identify(pid));
      await exited;
      clearTimeout(timer);
      listeners.abort();
      onAborted(options.killSignal, () => subprocess.kill('SIGKILL'), leftoverListeners.signal);
      // What the check left running holds its output open, so it must go before the end can be read.
      await endLeftovers(pid, options.runId, { call });
      // A process that got away (its own session, its environment emptied) may hold the output open for ever.
      silenceTimer = setTimeout(letGo, HELD_OUTPUT_MS);
      heldTimer = setTimeout(letGo, HELD_OUTPUT_MAX_MS);
      await reading.catch(error => {
        if (!isHeld) {
          throw error;
        }
      });
      const { exitCode, signalCode } = child;
      return {
        command,
        ok: exitCode === 0 && endedBy === undefined,
        ...(exitCode === null ? {} : { exitCode }),
        ...(signalCode === null ? {} : { signal: signalCode }),
        timedOut: endedBy === 'limit',
        durationMs: performance.now() - startedAt,
        outputTail: output.tail,
        cancelled: endedBy === 'cancel',
      };
    } finally {
      clearTimeout(timer);
      clearTimeout(silenceTimer);
      clearTimeout(heldTimer);
      listeners.abort();
      leftoverListeners.abort();
      if (child.exitCode === null && child.signalCode === null) {
        subprocess.kill('SIGKILL');
        await endLeftovers(pid, options.runId, { call });
      }
    }
  } finally {
    await output.close();
  }
}

function onAborted(signal: AbortSignal, listener: () => void, until: AbortSignal): void {
  if (signal.aborted) {
    listener();
  } else {
    signal.addEventListener('abort', listener, { signal: until });
  }
}

function startShell(
  execa: typeof import('execa').execa,
  command: string,
  options: GateOptions,
  { call, cgroup }: { readonly call: string; readonly cgroup: string | undefined },
) {
  const isWindows = process.platform === 'win32';
  const hasCi = Object.keys(options.env).some(
    name => (isWindows ? name.toUpperCase() : name) === 'CI',
  );
  // By the shell itself, before it starts anything: what it starts first would get away. endLeftovers looks there, and removes it.
  const enter =
    cgroup === undefined
      ? ''
      : `{ echo $$ > ${shellWord(path.join(cgroup, 'cgroup.procs'))}; } 2>/dev/null; `;
  // Two pipes would lose the order of what is written to them; cmd.exe has no way to say it for a whole line.
  return execa(isWindows ? command : `${enter}exec 2>&1; ${command}`, {
    ...treeOptions({
      cwd: options.cwd,
      env: {
        // Test runners watch for changes, and installers ask questions, unless they are told that nobody is there.
        ...(hasCi ? {} : { CI: '1' }),
        ...options.env,
        ...markersOf(options.runId, call),
      },
      killGraceMs: KILL_GRACE_MS,
    }),
    shell: true,
    stdin: 'ignore',
  });
}
