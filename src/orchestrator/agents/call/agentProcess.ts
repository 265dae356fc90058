import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { LineSplitter } from '../../../base/lineSplitter.ts';
import { createPlainFile } from '../../../base/plainFile.ts';
import { say, type Words } from '../../../base/say.ts';
import type { ProcessLimits } from '../../process/processLimits.ts';
import { type EndReason, type SupervisedProcess, supervise } from '../../process/supervise.ts';
import type { Agent, AgentCommand, AgentError, AgentEvent, ResultEvent } from '../agent.ts';
import type { CallJournal } from './callJournal.ts';

/** Longest line that is decoded, in UTF-16 units; a longer one counts as activity and stays in the raw stream. */
const MAX_LINE = 8 * 1024 * 1024;
const STDERR_TAIL = 4_000;
/** Bytes of standard error that are kept in its file; endless error output should not fill the disk. */
const STDERR_KEPT = 4 * 1024 * 1024;
/** An agent that keeps writing after its last result gets at most this many grace periods. */
const MAX_GRACES = 6;
/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface AgentProcessOptions {
  readonly cwd: string;
  /** Marks the agent's processes, so that none of them is left behind. */
  readonly runId: string;
  readonly limits: ProcessLimits;
  /** Aborted: end the process tree, SIGTERM first. */
  readonly signal: AbortSignal;
  /** Aborted: end the process tree with SIGKILL, even if it is already being ended. */
  readonly killSignal: AbortSignal;
  /** The file for the agent's whole output, byte for byte. */
  readonly rawFile: string;
  /** Awaited before the process is started; if it fails, nothing is started. */
  readonly ready?: Promise<unknown>;
  /** How to find processes that drop the run's marker: by default with a cgroup, if the system allows it. */
  readonly strays?: 'cgroup' | 'watch';
  /** Gets its start and what it does. */
  readonly record: Pick<CallJournal, 'started' | 'take'>;
  /** The agent's process has ended; called again if other processes of it were still working after that. */
  readonly onExit?: () => void;
}

/** How one agent process ended. */
export interface AgentEnd {
  /** The first reason for its end; also `exited` if it was ended because of `error`. */
  readonly reason: EndReason;
  /**
   * Why the call was ended before it had a result: the agent reported that it was certain to fail, but would have
   * kept trying. A failure reported in the agent's result is only in `result.error`.
   */
  readonly error?: AgentError;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly durationMs: number;
  readonly leftovers: number;
  /** Of several results, the one with the most turns, with the cost of the last one. */
  readonly result?: ResultEvent;
  /** Why it could not be started. */
  readonly problem?: Words;
  /** The end of standard error. */
  readonly stderr: string;
  /** Absolute path of the file with the whole standard error; absent if it is empty. */
  readonly stderrFile?: string;
}

/** The file for an agent's standard error, next to the raw stream. */
function stderrFileOf(rawFile: string): string {
  return `${rawFile.replace(/\.jsonl$/, '')}.stderr.txt`;
}

/**
 * Runs one agent process from start to the end of its last descendant. Never throws for what the process does:
 * every end is a value with one reason.
 *
 * @throws if its output cannot be written to the raw file; the process has been ended then
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
  const { limits, rawFile, ready: _ready, record, ...supervision } = options;
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
        // Background work causes further results; their cost is a running total.
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
    record.take(event);
  };
  /** A call that already has its result can no longer fail. */
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
        record.started(started);
      },
      onStdout: async bytes => {
        patience.refresh();
        if (rawError !== undefined) {
          throw rawError;
        }
        if (!raw.write(bytes)) {
          // Rejects if the stream fails.
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
    const { exitCode, signal } = end;
    if (end.reason === 'exited' && error === undefined) {
      decoder
        .end?.({
          exitCode,
          signal,
          stderr: errors.tail,
        })
        .forEach(takeEvent);
    }
    return {
      ...end,
      error,
      result,
      stderr: errors.tail,
      stderrFile: errors.file,
    };
  } finally {
    patience.end();
    await errors.close();
    raw.destroy();
  }
}

/** An agent's standard error: the end in memory, the beginning in a file. */
class ErrorOutput {
  private readonly path: string;
  private handle: FileHandle | undefined;
  private left = STDERR_KEPT;
  /** The end of the output. */
  tail = '';

  constructor(rawFile: string) {
    this.path = stderrFileOf(rawFile);
  }

  /** Absolute path; `undefined` if there is no output. */
  get file(): string | undefined {
    return this.handle && this.path;
  }

  async take(bytes: Buffer): Promise<void> {
    this.tail = (this.tail + bytes.toString('utf8')).slice(-STDERR_TAIL);
    // Few agents write to standard error at all.
    this.handle ??= await createPlainFile(this.path);
    await this.handle.writeFile(bytes.subarray(0, this.left));
    this.left = Math.max(0, this.left - bytes.length);
  }

  async close(): Promise<void> {
    await this.handle?.close();
  }
}

/** How long an agent may stay after its result: one period of silence, and {@link MAX_GRACES} periods in total. */
class ResultPatience {
  private readonly graceMs: number;
  private readonly onOver: () => void;
  private silence: NodeJS.Timeout | undefined;
  private whole: NodeJS.Timeout | undefined;

  constructor(graceMs: number, onOver: () => void) {
    this.graceMs = graceMs;
    this.onOver = onOver;
  }

  /** Starts or restarts after a result. */
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
    resetsAt,
  };
}
