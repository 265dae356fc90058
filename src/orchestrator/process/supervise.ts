import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Words } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { type AgentCgroup, enterCgroup, makeCgroup, removeCgroup } from './agentCgroup.ts';
import { DescendantWatch } from './descendantWatch.ts';
import { identify, type ProcessIdentity } from './processIdentity.ts';
import { endLeftovers, forksSoFar, markersOf, newCallId } from './processTree.ts';
import { isStarted, type ProcessCommand, startTree, type TreeOptions } from './startTree.ts';

/** In ms. If an output is silent this long after its process has ended, reading stops. */
const HELD_OUTPUT_MS = 2_000;
/** The same for an output that is not silent: an escaped process may write forever. */
const HELD_OUTPUT_MAX_MS = 20_000;
/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Why a process ended; only the first reason counts. */
export type EndReason =
  /** By itself, or because its output left nothing to wait for. */
  | 'exited'
  | 'hardLimit'
  | 'idleLimit'
  /** It had reported its result but did not exit. */
  | 'lingered'
  | 'cancelled'
  | 'notStarted';

/** A process that has just been started. */
export interface StartedProcess extends ProcessIdentity {
  /** The folder of the cgroup that all of its processes are in. */
  readonly cgroup?: string;
}

/** Controls a running process. */
export interface SupervisedProcess {
  /** Ends its tree; the first reason counts. Has no effect after the process has ended. */
  end(reason: EndReason): void;
  /** Whether it already has a reason to end. */
  isEnding(): boolean;
  /** Records its descendants; call it before a change that could hide them. */
  look(): void;
}

export interface SuperviseOptions extends Omit<TreeOptions, 'killGraceMs'> {
  /** Marks its processes, so that none of them is left behind. */
  readonly runId: string;
  readonly limits: {
    /** Limit for the whole process, in ms. */
    readonly hardMs: number;
    /** Limit for silence, in ms; absent: none. */
    readonly idleMs?: number;
    /** From SIGTERM to SIGKILL, in ms. */
    readonly killGraceMs: number;
  };
  /** Aborted: end its tree, SIGTERM first. */
  readonly signal: AbortSignal;
  /** Aborted: end its tree with SIGKILL, even if it is already being ended. */
  readonly killSignal: AbortSignal;
  /** How to find processes that drop the run's marker: by default with a cgroup, if the system allows it. */
  readonly strays?: 'cgroup' | 'watch';
  readonly onStarted: (started: StartedProcess, running: SupervisedProcess) => void;
  /** Awaited before reading more; if it fails, the tree is ended. */
  readonly onStdout: (bytes: Buffer) => Promise<void> | void;
  readonly onStderr: (bytes: Buffer) => Promise<void> | void;
  /** The process has ended; called again if other processes of it were still working after that. */
  readonly onExit?: () => void;
}

/** How a process ended. */
export interface ProcessEnd {
  /** A stop that came after it had ended by itself does not count. */
  readonly reason: EndReason;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly durationMs: number;
  /** Number of processes it had left running. */
  readonly leftovers: number;
  /** Why it could not be started. */
  readonly problem?: Words;
}

/**
 * Runs a process from its start to the end of its last descendant. Never throws for what the process does: every
 * end is a value with one reason.
 *
 * @throws the error of a listener, after the process has been ended because of it
 */
export async function supervise(
  command: ProcessCommand,
  options: SuperviseOptions,
): Promise<ProcessEnd> {
  const startedAt = performance.now();
  const { killSignal, limits, runId, signal } = options;
  const forks = forksSoFar();
  const call = newCallId();
  const cgroup = options.strays === 'watch' ? undefined : makeCgroup(runId, call);
  const tree = await startTree(entering(command, cgroup), {
    ...options,
    env: { ...options.env, ...markersOf(runId, call) },
    killGraceMs: limits.killGraceMs,
  }).catch(error => ({ error }));
  if ('error' in tree || !isStarted(tree)) {
    if (cgroup !== undefined) {
      removeCgroup(cgroup.dir);
    }
    if ('error' in tree) {
      throw tree.error;
    }
    const durationMs = performance.now() - startedAt;
    return { reason: 'notStarted', durationMs, leftovers: 0, problem: tree.problem };
  }
  const { child, pid, stderr, stdout } = tree;
  const isInCgroup = cgroup !== undefined && enterCgroup(cgroup, pid);
  const watch = isInCgroup ? undefined : new DescendantWatch(pid);
  const origin = {
    ...{ call, forks },
    cgroup: isInCgroup ? cgroup.dir : undefined,
    others: watch ? () => watch.pids() : undefined,
  };

  let reason: EndReason | undefined;
  let hasExited = false;
  const end = (why: EndReason, how: NodeJS.Signals = 'SIGTERM') => {
    if (!hasExited) {
      reason ??= why;
      watch?.look();
      tree.kill(how);
    }
  };
  const timers = new Timers();
  timers.start(limits.hardMs, () => end('hardLimit'));
  const idle = timers.start(limits.idleMs, () => end('idleLimit'));
  const listeners = new AbortController();
  onAborted(signal, () => end('cancelled'), listeners.signal);
  onAborted(killSignal, () => end('cancelled', 'SIGKILL'), listeners.signal);
  const exited = new Promise<void>(resolve => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });

  let isHeld = false;
  let held: NodeJS.Timeout | undefined;
  const letGo = () => {
    isHeld = true;
    stdout.destroy();
    stderr.destroy();
  };
  const read = async (stream: Readable, take: (bytes: Buffer) => Promise<void> | void) => {
    for await (const chunk of stream) {
      idle?.refresh();
      held?.refresh();
      await take(Buffer.from(chunk));
    }
  };

  try {
    const identity = await identify(pid);
    const started = { ...identity, cgroup: isInCgroup ? cgroup.dir : undefined };
    options.onStarted(started, {
      end: why => end(why),
      isEnding: () => reason !== undefined,
      look: () => watch?.look(),
    });
    const reading = Promise.all([read(stdout, options.onStdout), read(stderr, options.onStderr)]);
    // Nobody reads the pipes any more, so the process would wait forever. The error is thrown below.
    reading.catch(() => tree.kill('SIGKILL'));
    await exited;
    hasExited = true;
    timers.clear();
    options.onExit?.();
    // A stop from here on ends the waiting below. After an earlier stop, the last output must still be read.
    for (const stop of [signal, killSignal]) {
      stop.addEventListener('abort', letGo, { signal: listeners.signal });
    }
    // Processes left running hold the output open, so they must be ended before its end can be read.
    const leftovers = await endLeftovers(pid, runId, { ...origin, startId: identity.startId });
    // A process that escaped nevertheless may hold the output open forever.
    held = timers.start(HELD_OUTPUT_MS, letGo);
    timers.start(killSignal.aborted ? HELD_OUTPUT_MS : HELD_OUTPUT_MAX_MS, letGo);
    await reading.catch(error => {
      if (!isHeld) {
        throw error;
      }
    });
    if (leftovers > 0 || isHeld) {
      options.onExit?.();
    }
    return {
      reason: reason ?? 'exited',
      exitCode: child.exitCode === null ? undefined : child.exitCode,
      signal: child.signalCode === null ? undefined : child.signalCode,
      durationMs: performance.now() - startedAt,
      leftovers,
    };
  } finally {
    timers.clear();
    listeners.abort();
    if (child.exitCode === null && child.signalCode === null) {
      tree.kill('SIGKILL');
      await endLeftovers(pid, runId, origin);
    }
    hasExited = true;
    watch?.dispose();
    tree.letGo();
  }
}

/** Makes a shell enter the cgroup itself, before it starts anything: otherwise its first children would escape. */
function entering(command: ProcessCommand, cgroup: AgentCgroup | undefined): ProcessCommand {
  if ('file' in command || cgroup === undefined) {
    return command;
  }
  const members = shellWord(path.join(cgroup.dir, 'cgroup.procs'));
  return { shellLine: `{ echo $$ > ${members}; } 2>/dev/null; ${command.shellLine}` };
}

function onAborted(signal: AbortSignal, listener: () => void, until: AbortSignal): void {
  if (signal.aborted) {
    listener();
  } else {
    signal.addEventListener('abort', listener, { signal: until });
  }
}

/** Timers that are cleared together. */
class Timers {
  private readonly running: NodeJS.Timeout[] = [];

  start(ms: number | undefined, action: () => void): NodeJS.Timeout | undefined {
    if (ms === undefined) {
      return undefined;
    }
    const timer = setTimeout(action, Math.min(ms, MAX_TIMER_MS));
    this.running.push(timer);
    return timer;
  }

  clear(): void {
    this.running.splice(0).forEach(timer => {
      clearTimeout(timer);
    });
  }
}
