/**
 * The Agent port: how the loop asks any coding agent for one iteration of work, and what it hears back.
 *
 * An agent is described by the command that starts one fresh process and by a decoder that turns the
 * lines it prints into {@link AgentEvent}s. The process itself (time limits, tree kill, the one recorded
 * reason of its end) is the business of `agentProcess.ts`, the same for all agents.
 */

/** What one iteration asks of an agent. */
export interface AgentRequest {
  /** Absolute path of the workspace, the process's working directory. */
  readonly cwd: string;
  readonly prompt: string;
  /** Model name or alias; the agent's own default when absent. */
  readonly model?: string;
  /** Turns after which the agent must stop by itself. */
  readonly maxTurns: number;
  /** Model to take when the first one is overloaded or gone. */
  readonly fallbackModel?: string;
  /** How hard the model thinks, in the agent's own words (`low`, `high`, …). */
  readonly effort?: string;
  /** Cost in US dollars after which this one call must stop by itself. */
  readonly maxBudgetUsd?: number;
  /** The only tools there are, for an agent that reads and must not write; all tools when absent. */
  readonly tools?: readonly string[];
  /** Tools that run without being asked for; the agent's own set when absent. */
  readonly allowedTools?: readonly string[];
  /** JSON Schema of the answer that is wanted in {@link ResultEvent.structured}. */
  readonly jsonSchema?: object;
  /** Absolute path of a file that holds the prompt, for agents that read it from there. */
  readonly promptFile?: string;
  /** Environment to start from (usually `process.env`); the agent removes what must not be inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A process to start, ready to be spawned without a shell. */
export interface AgentCommand {
  /** Executable: absolute path, or a name to be found on `env.PATH`. */
  readonly file: string;
  readonly args: readonly string[];
  /** All that it reads on standard input. */
  readonly stdin: string;
  /** The whole environment; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
}

/** Why a call failed, as far as the agent's own output tells. */
export type AgentErrorKind =
  /** The service or the way to it failed (5xx, a lost connection). */
  | 'api'
  /** Too many requests in a short time (429). */
  | 'rateLimit'
  | 'overloaded'
  /** The conversation repeated the id of a tool call (a 400 of its own); a new conversation does not. */
  | 'toolConcurrency'
  /** The request itself was refused (other 4xx): too long, malformed, no such model. */
  | 'request'
  /** What the subscription includes is used up until its next reset. */
  | 'usageLimit'
  /** Nothing is left to pay with, or a spending limit that only a person can raise. */
  | 'billing'
  | 'authentication'
  | 'maxTurns'
  | 'budget'
  | 'other';

const transientKinds: ReadonlySet<string> = new Set<AgentErrorKind>([
  'api',
  'rateLimit',
  'overloaded',
  'toolConcurrency',
]);

/**
 * Whether the same call may well succeed a little later with nothing changed. A usage limit also passes by
 * itself, but after hours and at a known time: it is waited for, not retried.
 *
 * @param kind a kind of error; what is none (the reason of a process's end) is not transient
 */
export function isTransient(kind: AgentErrorKind | (string & {})): boolean {
  return transientKinds.has(kind);
}

/** A failed call. */
export interface AgentError {
  readonly kind: AgentErrorKind;
  /** In the agent's own words. */
  readonly message: string;
  /** When a usage limit ends, in ms since the epoch, if the agent told. */
  readonly resetsAt?: number;
}

/** Token counts of one call, as billed. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** Tokens of one request. */
export interface RequestUsage extends TokenUsage {
  /** Of `cacheWrite`, what is known to be kept for five minutes; the rest counts as kept for an hour. */
  readonly cacheWrite5m?: number;
}

/** What an agent says while it works. Text is data from outside: never trusted, never markup. */
export type AgentEvent =
  | {
      readonly type: 'init';
      readonly sessionId?: string;
      readonly model?: string;
      readonly version?: string;
      /** `ANTHROPIC_API_KEY` means that the API account is billed. */
      readonly apiKeySource?: string;
    }
  | { readonly type: 'text'; readonly text: string }
  /** `gist` is one short line: the file, the command, the pattern. */
  | { readonly type: 'tool'; readonly id: string; readonly name: string; readonly gist: string }
  | {
      readonly type: 'toolResult';
      readonly id: string;
      readonly isError: boolean;
      readonly gist: string;
      /** Its first lines, when there is more than the gist tells. */
      readonly head?: string;
      /** Lines of the whole; absent when it is one or none. */
      readonly lines?: number;
    }
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly delayMs: number;
      readonly status?: number;
      readonly error: string;
    }
  | { readonly type: 'denied'; readonly tool: string; readonly message: string }
  /**
   * What one message of the model took, as far as the agent knows yet. Several may tell of one message: the
   * last `usage` counts, and the `outputChars` of all of them.
   */
  | {
      readonly type: 'usage';
      /** Absent when the message has no name; then this is all that tells of it. */
      readonly messageId?: string;
      readonly model?: string;
      readonly usage: RequestUsage;
      /** Length of what is told of the message here, in UTF-16 units. */
      readonly outputChars: number;
    }
  /** Sign of life without content of its own. */
  | { readonly type: 'activity' }
  /** A line that is not this agent's protocol; kept in the raw stream, shown as it is. */
  | { readonly type: 'unknown'; readonly line: string }
  /** The subscription's usage limit refuses this call; going on is no use before `resetsAt` (epoch, in ms). */
  | { readonly type: 'limit'; readonly resetsAt?: number; readonly limitType?: string }
  /** The call is bound to fail, although the agent goes on trying for minutes: end it. */
  | { readonly type: 'fatal'; readonly error: AgentError }
  | ResultEvent;

/** How a call ended. */
export interface ResultEvent {
  readonly type: 'result';
  readonly isError: boolean;
  readonly error?: AgentError;
  /** The final answer; promise signals are read from here alone. */
  readonly text: string;
  /** The answer to {@link AgentRequest.jsonSchema}; data from outside, to be checked by who asked. */
  readonly structured?: unknown;
  readonly turns: number;
  readonly costUsd?: number;
  readonly usage?: TokenUsage;
  readonly durationMs?: number;
  /** Tool calls that were refused, when there were any. */
  readonly permissionDenials?: number;
}

/** How a process ended by itself. */
export interface ProcessExit {
  /** Absent when a signal ended it. */
  readonly exitCode?: number;
  readonly signal?: string;
  /** Last words on standard error. */
  readonly stderr: string;
}

/** Turns one process's lines into events; holds state for one process, so make a new one each time. */
export interface AgentDecoder {
  /** @param line one line without its line break; longer ones than `agentProcess.ts` allows are left out */
  decode(line: string): readonly AgentEvent[];
  /**
   * Called once, after the last line, when the process exited by itself: agents whose output has no
   * `result` of its own make it here.
   */
  end?(exit: ProcessExit): readonly AgentEvent[];
}

export interface Agent {
  /** Name used in settings and on the command line. */
  readonly id: 'claude' | 'sdk' | 'command' | 'demo';
  /**
   * @throws {HumanError} when the agent cannot be started on this machine (program not found, …)
   */
  command(request: AgentRequest): Promise<AgentCommand>;
  decoder(): AgentDecoder;
}
