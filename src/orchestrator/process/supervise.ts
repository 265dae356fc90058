import path from 'node:path';
import type { Readable } from 'node:stream';
import { shellWord } from '../../base/shellWord.ts';
import { type AgentCgroup, enterCgroup, makeCgroup, removeCgroup } from './agentCgroup.ts';
import { DescendantWatch } from './descendantWatch.ts';
import { identify, type ProcessIdentity } from './processIdentity.ts';
import { endLeftovers, forksSoFar, markersOf, newCallId } from './processTree.ts';
import { isStarted, type ProcessCommand, startTree, type TreeOptions } from './startTree.ts';

/** Silence on an output whose process has ended, in ms, after which nothing more is waited for. */
const HELD_OUTPUT_MS = 2_000;
/** The same for an output that goes on: a process that got away may also write for ever. */
const HELD_OUTPUT_MAX_MS = 20_000;
/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Why a process is no more: the first of these. */
export type EndReason =
  /** By itself, or since what it said left nothing to wait for. */
  | 'exited'
  | 'hardLimit'
  | 'idleLimit'
  /** It had said its last word and did not go. */
  | 'lingered'
  | 'cancelled'
  | 'notStarted';

/** A process that has just been started. */
export interface StartedProcess extends ProcessIdentity {
  /** The folder of the cgroup that all of its processes are in. */
  readonly cgroup?: string;
}

/** What its owner can do with a process that runs. */
export interface SupervisedProcess {
  /** Ends its tree; the first reason counts. Nothing happens once it has ended. */
  end(reason: EndReason): void;
  /** Whether it has a reason to end already. */
  isEnding(): boolean;
  /** Takes note of what it has started; for when something is about to change. */
  look(): void;
}

export interface SuperviseOptions extends Omit<TreeOptions, 'killGraceMs'> {
  /** Marks its processes, so that none is left behind. */
  readonly runId: string;
  readonly limits: {
    /** It may take this long, in ms. */
    readonly hardMs: number;
    /** It may be silent this long, in ms; absent: as long as it likes. */
    readonly idleMs?: number;
    /** From SIGTERM to SIGKILL, in ms. */
    readonly killGraceMs: number;
  };
  /** Aborted: end its tree, SIGTERM first. */
  readonly signal: AbortSignal;
  /** Aborted: end its tree with SIGKILL, also when it is already being ended. */
  readonly killSignal: AbortSignal;
  /** How its processes are known that drop the run's marker: by a cgroup where the system allows it, unless asked otherwise. */
  readonly strays?: 'cgroup' | 'watch';
  readonly onStarted: (started: StartedProcess, running: SupervisedProcess) => void;
  /** Waited for before more is read; when it fails, the tree is ended. */
  readonly onStdout: (bytes: Buffer) => Promise<void> | void;
  readonly onStderr: (bytes: Buffer) => Promise<void> | void;
  /** The process has ended; called again when others of it were found to work on after that. */
  readonly onExit?: () => void;
}

/** How a process ended. */
export interface ProcessEnd {
  /** A stop that came when it had ended by itself does not count. */
  readonly reason: EndReason;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly durationMs: number;
  /** How many processes it had left running. */
  readonly leftovers: number;
  /** Why it could not be started. */
  readonly problem?: string;
}

/**
 * Runs a process from its start to the end of its last descendant. Never throws for what the process does: every end is
 * a value with one reason.
 *
 * @throws what a listener has thrown, when the process has been ended for it
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
    ...(isInCgroup && { cgroup: cgroup.dir }),
    ...(watch && { others: () => watch.pids() }),
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
    const started = { ...identity, ...(isInCgroup && { cgroup: cgroup.dir }) };
    options.onStarted(started, {
      end: why => end(why),
      isEnding: () => reason !== undefined,
      look: () => watch?.look(),
    });
    const reading = Promise.all([read(stdout, options.onStdout), read(stderr, options.onStderr)]);
    // Nobody empties the pipes any more, so it would wait for ever. Thrown below.
    reading.catch(() => tree.kill('SIGKILL'));
    await exited;
    hasExited = true;
    timers.clear();
    options.onExit?.();
    // A stop that comes now ends the waiting below; of one that came before, the last words are still to be read.
    for (const stop of [signal, killSignal]) {
      stop.addEventListener('abort', letGo, { signal: listeners.signal });
    }
    // What it left running holds its output open, so it must go before the end can be read.
    const leftovers = await endLeftovers(pid, runId, { ...origin, startId: identity.startId });
    // A process that got away all the same may hold the output open for ever.
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
      ...(child.exitCode === null ? {} : { exitCode: child.exitCode }),
      ...(child.signalCode === null ? {} : { signal: child.signalCode }),
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

/** A shell goes into the cgroup itself, before it starts anything: what it starts first would get away. */
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

/** Timers that end together. */
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
