import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { LineSplitter } from '../../base/lineSplitter.ts';
import { createPlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import type { ProcessLimits } from '../process/processLimits.ts';
import {
  type EndReason,
  type StartedProcess,
  type SupervisedProcess,
  supervise,
} from '../process/supervise.ts';
import type { Agent, AgentCommand, AgentError, AgentEvent, ResultEvent } from './agent.ts';

/** Longest line that is decoded, in UTF-16 units; a longer one counts as activity and stays in the raw stream. */
const MAX_LINE = 8 * 1024 * 1024;
const STDERR_TAIL = 4_000;
/** So much of standard error is kept in its file, in bytes; an agent that complains for ever should not fill the disk. */
const STDERR_KEPT = 4 * 1024 * 1024;
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

/** How one agent process ended. */
export interface AgentEnd {
  /** The first reason that ended it; `exited` also when it was ended for the sake of `error`. */
  readonly reason: EndReason;
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
  const rawHandle = await createPlainFile(options.rawFile);
  try {
    await options.ready;
  } catch (error) {
    await rawHandle.close();
    throw error;
  }
  const { limits, onEvent, onStarted, rawFile, ready: _ready, ...supervision } = options;
  const raw = rawHandle.createWriteStream();
  let rawError: Error | undefined;
  raw.on('error', error => {
    rawError = error;
  });
  const errors = new ErrorOutput(rawFile);
  const decoder = agent.decoder();
  const splitter = new LineSplitter(MAX_LINE);
  const patience = new ResultPatience(limits.resultGraceMs, () => running?.end('lingered'));
  let running: SupervisedProcess | undefined;
  let result: AgentEnd['result'];
  let error: AgentEnd['error'];

  const takeEvent = (event: AgentEvent) => {
    switch (event.type) {
      case 'tool':
      case 'toolResult':
        running?.look();
        break;
      case 'result': {
        running?.look();
        const main = result === undefined || event.turns >= result.turns ? event : result;
        // Follow-ups of background work bring results of their own; their cost is a running total.
        result = event.costUsd === undefined ? main : { ...main, costUsd: event.costUsd };
        patience.begin();
        break;
      }
      case 'limit':
        endEarly(limitError(event));
        break;
      case 'fatal':
        endEarly(event.error);
        break;
    }
    onEvent(event);
  };
  /** A call that has its result already has nothing left to fail. */
  const endEarly = (why: AgentError) => {
    if (result === undefined && error === undefined && running?.isEnding() === false) {
      error = why;
      running.end('exited');
    }
  };
  const take = ({ text, dropped }: { text: string; dropped: number }) => {
    const events: readonly AgentEvent[] =
      dropped > 0 ? [{ type: 'activity' }] : decoder.decode(text);
    events.forEach(takeEvent);
  };

  try {
    const end = await supervise(command, {
      ...supervision,
      limits,
      env: command.env,
      input: { text: command.stdin, file: `${rawFile}.input` },
      onStarted: (started, itself) => {
        running = itself;
        onStarted(started);
      },
      onStdout: async bytes => {
        patience.refresh();
        if (rawError !== undefined) {
          throw rawError;
        }
        if (!raw.write(bytes)) {
          // Rejects when the stream fails.
          await once(raw, 'drain');
        }
        splitter.push(bytes).forEach(take);
      },
      onStderr: bytes => errors.take(bytes),
    });
    const last = splitter.end();
    if (last) {
      take(last);
    }
    raw.end();
    await finished(raw);
    const { problem, ...ended } = end;
    const { exitCode, signal } = ended;
    if (end.reason === 'exited' && error === undefined) {
      decoder
        .end?.({
          ...(exitCode !== undefined && { exitCode }),
          ...(signal !== undefined && { signal }),
          stderr: errors.tail,
        })
        .forEach(takeEvent);
    }
    return {
      ...ended,
      ...(error === undefined ? {} : { error }),
      ...(result === undefined ? {} : { result }),
      stderr: problem ?? errors.tail,
      ...(errors.file === undefined ? {} : { stderrFile: errors.file }),
    };
  } finally {
    patience.end();
    await errors.close();
    raw.destroy();
  }
}

/** What an agent says on standard error: the end in memory, the beginning in a file. */
class ErrorOutput {
  private readonly path: string;
  private handle: FileHandle | undefined;
  private left = STDERR_KEPT;
  /** The last words. */
  tail = '';

  constructor(rawFile: string) {
    this.path = stderrFileOf(rawFile);
  }

  /** Absolute path; `undefined` when nothing came. */
  get file(): string | undefined {
    return this.handle && this.path;
  }

  async take(bytes: Buffer): Promise<void> {
    this.tail = (this.tail + bytes.toString('utf8')).slice(-STDERR_TAIL);
    // Few agents write there at all.
    this.handle ??= await createPlainFile(this.path);
    await this.handle.writeFile(bytes.subarray(0, this.left));
    this.left = Math.max(0, this.left - bytes.length);
  }

  async close(): Promise<void> {
    await this.handle?.close();
  }
}

/** How long an agent may stay after its result: for a while of silence, and in all for {@link MAX_GRACES} of them. */
class ResultPatience {
  private readonly graceMs: number;
  private readonly onOver: () => void;
  private silence: NodeJS.Timeout | undefined;
  private whole: NodeJS.Timeout | undefined;

  constructor(graceMs: number, onOver: () => void) {
    this.graceMs = graceMs;
    this.onOver = onOver;
  }

  /** There is a result, perhaps one more. */
  begin(): void {
    this.silence ??= setTimeout(this.onOver, this.graceMs);
    clearTimeout(this.whole);
    this.whole = setTimeout(this.onOver, Math.min(MAX_GRACES * this.graceMs, MAX_TIMER_MS));
  }

  refresh(): void {
    this.silence?.refresh();
  }

  end(): void {
    clearTimeout(this.silence);
    clearTimeout(this.whole);
  }
}

function limitError({ limitType, resetsAt }: Extract<AgentEvent, { type: 'limit' }>): AgentError {
  return {
    kind: 'usageLimit',
    message: limitType === undefined ? say('usage limit') : say('usage limit: {0}', limitType),
    ...(resetsAt === undefined ? {} : { resetsAt }),
  };
}
