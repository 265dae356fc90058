import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { LineSplitter } from '../../base/lineSplitter.ts';
import { createPlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import type { ProcessEndReason } from '../journal/eventCodes.ts';
import { enterCgroup, makeCgroup, removeCgroup } from '../process/agentCgroup.ts';
import { DescendantWatch } from '../process/descendantWatch.ts';
import { identify, type ProcessIdentity } from '../process/processIdentity.ts';
import type { ProcessLimits } from '../process/processLimits.ts';
import { endLeftovers, forksSoFar, markersOf, newCallId } from '../process/processTree.ts';
import type { Agent, AgentCommand, AgentError, AgentEvent, ResultEvent } from './agent.ts';
import { isStarted, startAgentTree } from './agentTree.ts';

/** Longest line that is decoded, in UTF-16 units; a longer one counts as activity and stays in the raw stream. */
const MAX_LINE = 8 * 1024 * 1024;
const STDERR_TAIL = 4_000;
/** So much of standard error is kept in its file, in bytes; an agent that complains for ever should not fill the disk. */
const STDERR_KEPT = 4 * 1024 * 1024;
/** Silence on an output whose process has ended, in ms, after which nothing more is waited for. */
const HELD_OUTPUT_MS = 2_000;
/** The same for an output that goes on: a process that got away may also write for ever. */
const HELD_OUTPUT_MAX_MS = 20_000;
/** An agent that goes on writing after its last result gets this many times the grace. */
const MAX_GRACES = 6;
/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface AgentProcessOptions {
  readonly cwd: string;
  /** Marks the agent's processes, so that none is left behind. */
  readonly runId: string;
  readonly limits: ProcessLimits;
  /** Aborted: end the process tree, SIGTERM first. */
  readonly signal: AbortSignal;
  /** Aborted: end the process tree with SIGKILL, also when it is already being ended. */
  readonly killSignal: AbortSignal;
  /** Everything the agent prints goes there, byte for byte. */
  readonly rawFile: string;
  /** What must have come about before the process is started; when it fails, nothing is started. */
  readonly ready?: Promise<unknown>;
  /** How its processes are known that drop the run's marker: by a cgroup where the system allows it, unless asked otherwise. */
  readonly strays?: 'cgroup' | 'watch';
  readonly onStarted: (started: StartedProcess) => void;
  readonly onEvent: (event: AgentEvent) => void;
  /** The agent's process has ended; called again when others of it were found to work on after that. */
  readonly onExit?: () => void;
}

/** A process that has just been started. */
export interface StartedProcess extends ProcessIdentity {
  /** The folder of the cgroup that all of its processes are in. */
  readonly cgroup?: string;
}

/** How one agent process ended. */
export interface AgentEnd {
  /** The first reason that ended it; `exited` also when it was ended for the sake of `error`. */
  readonly reason: ProcessEndReason;
  /**
   * Why the call was ended before it had a result: the agent said that it is bound to fail, but would have
   * gone on trying. A failure that the agent reported by itself is in `result.error` alone.
   */
  readonly error?: AgentError;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly durationMs: number;
  readonly leftovers: number;
  /** Of several results the one with the most turns, with the cost of the last. */
  readonly result?: ResultEvent;
  /** Last words on standard error, or why it could not be started. */
  readonly stderr: string;
  /** Absolute path of the file that has all of standard error; absent when nothing came there. */
  readonly stderrFile?: string;
}

/** What an agent prints to standard error is kept next to the raw stream. */
function stderrFileOf(rawFile: string): string {
  return `${rawFile.replace(/\.jsonl$/, '')}.stderr.txt`;
}

/**
 * Runs one agent process from start to the end of its last descendant. Never throws for what the process
 * does: every end is a value with one reason.
 *
 * @throws when what it prints cannot be written to the raw file; the process has been ended then
 */
export async function runAgentProcess(
  agent: Agent,
  command: AgentCommand,
  options: AgentProcessOptions,
): Promise<AgentEnd> {
  const startedAt = performance.now();
  const { limits } = options;
  let reason: ProcessEndReason | undefined;
  let result: AgentEnd['result'];
  let error: AgentEnd['error'];
  let stderr = '';

  const rawHandle = await createPlainFile(options.rawFile);
  try {
    await options.ready;
  } catch (error) {
    await rawHandle.close();
    throw error;
  }
  const forks = forksSoFar();
  const call = newCallId();
  const cgroup = options.strays === 'watch' ? undefined : makeCgroup(options.runId, call);
  const subprocess = await startAgentTree(command, {
    cwd: options.cwd,
    env: { ...command.env, ...markersOf(options.runId, call) },
    killGraceMs: limits.killGraceMs,
    inputFile: `${options.rawFile}.input`,
  }).catch(error => ({ error }));
  if ('error' in subprocess || !isStarted(subprocess)) {
    await rawHandle.close();
    if (cgroup !== undefined) {
      removeCgroup(cgroup.dir);
    }
    if ('error' in subprocess) {
      throw subprocess.error;
    }
    return {
      reason: 'notStarted',
      durationMs: performance.now() - startedAt,
      leftovers: 0,
      stderr: subprocess.problem,
    };
  }
  const { pid, child } = subprocess;
  const isInCgroup = cgroup !== undefined && enterCgroup(cgroup, pid);
  const watch = isInCgroup ? undefined : new DescendantWatch(pid);
  const tree = {
    ...{ call, forks },
    ...(isInCgroup && { cgroup: cgroup.dir }),
    ...(watch && { others: () => watch.pids() }),
  };

  const end = (why: ProcessEndReason, signal: NodeJS.Signals = 'SIGTERM') => {
    reason ??= why;
    watch?.look();
    subprocess.kill(signal);
  };
  const hardTimer = setTimeout(() => end('hardLimit'), limits.hardMs);
  const idleTimer = setTimeout(() => end('idleLimit'), limits.idleMs);
  let graceTimer: NodeJS.Timeout | undefined;
  let graceMaxTimer: NodeJS.Timeout | undefined;
  let heldTimer: NodeJS.Timeout | undefined;
  let heldMaxTimer: NodeJS.Timeout | undefined;
  let isHeld = false;
  const letGo = () => {
    isHeld = true;
    subprocess.stdout.destroy();
    subprocess.stderr.destroy();
  };
  const listeners = new AbortController();
  const onAborted = (signal: AbortSignal, listener: () => void) =>
    signal.aborted
      ? listener()
      : signal.addEventListener('abort', listener, { signal: listeners.signal });

  const exited = new Promise<void>(resolve => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });

  onAborted(options.signal, () => end('cancelled'));
  onAborted(options.killSignal, () => end('cancelled', 'SIGKILL'));

  const decoder = agent.decoder();
  const splitter = new LineSplitter(MAX_LINE);
  const takeEvent = (event: AgentEvent) => {
    switch (event.type) {
      case 'tool':
      case 'toolResult':
        watch?.look();
        break;
      case 'result': {
        watch?.look();
        const main = result === undefined || event.turns >= result.turns ? event : result;
        // Follow-ups of background work bring results of their own; their cost is a running total.
        result = event.costUsd === undefined ? main : { ...main, costUsd: event.costUsd };
        graceTimer ??= setTimeout(() => end('lingered'), limits.resultGraceMs);
        clearTimeout(graceMaxTimer);
        graceMaxTimer = setTimeout(
          () => end('lingered'),
          Math.min(MAX_GRACES * limits.resultGraceMs, MAX_TIMER_MS),
        );
        break;
      }
      case 'limit':
        endEarly(limitError(event));
        break;
      case 'fatal':
        endEarly(event.error);
        break;
    }
    options.onEvent(event);
  };
  /** A call that has its result already has nothing left to fail. */
  const endEarly = (why: AgentError) => {
    if (result === undefined && error === undefined && reason === undefined) {
      error = why;
      end('exited');
    }
  };
  const take = ({ text, dropped }: { text: string; dropped: number }) => {
    const events: readonly AgentEvent[] =
      dropped > 0 ? [{ type: 'activity' }] : decoder.decode(text);
    events.forEach(takeEvent);
  };

  const raw = rawHandle.createWriteStream();
  let rawError: Error | undefined;
  raw.on('error', error => {
    rawError = error;
  });
  const readStdout = async () => {
    for await (const chunk of subprocess.stdout) {
      idleTimer.refresh();
      graceTimer?.refresh();
      heldTimer?.refresh();
      if (rawError !== undefined) {
        throw rawError;
      }
      if (!raw.write(chunk)) {
        // Rejects when the stream fails.
        await once(raw, 'drain');
      }
      splitter.push(chunk).forEach(take);
    }
    const last = splitter.end();
    if (last) {
      take(last);
    }
  };
  let stderrFile: string | undefined;
  const readStderr = async () => {
    let kept: FileHandle | undefined;
    let left = STDERR_KEPT;
    try {
      for await (const chunk of subprocess.stderr) {
        idleTimer.refresh();
        const bytes = Buffer.from(chunk);
        stderr = (stderr + bytes.toString('utf8')).slice(-STDERR_TAIL);
        // Few agents write there at all.
        stderrFile ??= stderrFileOf(options.rawFile);
        kept ??= await createPlainFile(stderrFile);
        await kept.writeFile(bytes.subarray(0, left));
        left = Math.max(0, left - bytes.length);
      }
    } finally {
      await kept?.close();
    }
  };

  try {
    const identity = await identify(pid);
    options.onStarted({ ...identity, ...(isInCgroup && { cgroup: cgroup.dir }) });
    const reading = Promise.all([readStdout(), readStderr()]);
    reading.catch(() => subprocess.kill('SIGKILL'));
    await exited;
    clearTimeout(hardTimer);
    clearTimeout(idleTimer);
    options.onExit?.();
    // A stop that comes now ends the waiting below; of one that came before, the last words are still to be read.
    for (const signal of [options.signal, options.killSignal]) {
      signal.addEventListener('abort', letGo, { signal: listeners.signal });
    }
    // What the agent left running holds its output open, so it must go before the end can be read.
    const leftovers = await endLeftovers(pid, options.runId, {
      ...tree,
      startId: identity.startId,
    });
    // A process that got away all the same may hold the output open for ever.
    heldTimer = setTimeout(letGo, HELD_OUTPUT_MS);
    heldMaxTimer = setTimeout(
      letGo,
      options.killSignal.aborted ? HELD_OUTPUT_MS : HELD_OUTPUT_MAX_MS,
    );
    await reading.catch(error => {
      if (!isHeld) {
        throw error;
      }
    });
    if (leftovers > 0 || isHeld) {
      options.onExit?.();
    }
    raw.end();
    await finished(raw);
    const exit = {
      ...(child.exitCode === null ? {} : { exitCode: child.exitCode }),
      ...(child.signalCode === null ? {} : { signal: child.signalCode }),
    };
    if (reason === undefined) {
      decoder.end?.({ ...exit, stderr }).forEach(takeEvent);
    }
    return {
      reason: reason ?? 'exited',
      ...(error === undefined ? {} : { error }),
      ...exit,
      durationMs: performance.now() - startedAt,
      leftovers,
      ...(result === undefined ? {} : { result }),
      stderr,
      ...(stderrFile === undefined ? {} : { stderrFile }),
    };
  } finally {
    clearTimeout(hardTimer);
    clearTimeout(idleTimer);
    clearTimeout(graceTimer);
    clearTimeout(graceMaxTimer);
    clearTimeout(heldTimer);
    clearTimeout(heldMaxTimer);
    listeners.abort();
    raw.destroy();
    if (child.exitCode === null && child.signalCode === null) {
      subprocess.kill('SIGKILL');
      await endLeftovers(pid, options.runId, tree);
    }
    watch?.dispose();
    subprocess.letGo();
  }
}

function limitError({ limitType, resetsAt }: Extract<AgentEvent, { type: 'limit' }>): AgentError {
  return {
    kind: 'usageLimit',
    message: limitType === undefined ? say('usage limit') : say('usage limit: {0}', limitType),
    ...(resetsAt === undefined ? {} : { resetsAt }),
  };
}
