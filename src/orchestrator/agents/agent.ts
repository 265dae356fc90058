import type { Words } from '../../base/say.ts';
/**
 * The Agent port: how the loop asks any coding agent for one iteration of work, and what the agent reports back.
 *
 * An agent is described by the command that starts a fresh process and by a decoder that turns its output lines
 * into {@link AgentEvent}s. The process itself (time limits, tree kill, the one recorded reason of its end) is
 * handled in `agentProcess.ts`, the same for all agents.
 */

/** A request for one iteration of work. */
export interface AgentRequest {
  /** Absolute path of the workspace, the process's working directory. */
  readonly cwd: string;
  readonly prompt: string;
  /** Model name or alias; default: the agent's own. */
  readonly model?: string;
  /** Number of turns after which the agent must stop. */
  readonly maxTurns: number;
  /** Model to use if the first one is overloaded or unavailable. */
  readonly fallbackModel?: string;
  /** How much the model thinks, in the agent's own terms (`low`, `high`, …). */
  readonly effort?: string;
  /** Cost in US dollars after which this call must stop. */
  readonly maxBudgetUsd?: number;
  /** The only available tools, for an agent that must only read; absent: all tools. */
  readonly tools?: readonly string[];
  /** Tools that run without asking for permission; absent: the agent's own set. */
  readonly allowedTools?: readonly string[];
  /** Tools that run without asking for permission in addition to those. */
  readonly alsoAllowed?: readonly string[];
  /** JSON Schema for the answer in {@link ResultEvent.structured}. */
  readonly jsonSchema?: object;
  /** Absolute path of a file that contains the prompt, for agents that read it from a file. */
  readonly promptFile?: string;
  /** Environment to start from (usually `process.env`); the agent removes what must not be inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A process to start, without a shell. */
export interface AgentCommand {
  /** Executable: absolute path, or a name to find in `env.PATH`. */
  readonly file: string;
  readonly args: readonly string[];
  /** The content of standard input. */
  readonly stdin: string;
  /** The whole environment; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
}

/** Why a call failed, according to the agent's output. */
export type AgentErrorKind =
  /** The service failed or could not be reached (5xx, a lost connection). */
  | 'api'
  /** Too many requests in a short time (429). */
  | 'rateLimit'
  | 'overloaded'
  /** The conversation repeated the id of a tool call (a special 400); a new conversation does not. */
  | 'toolConcurrency'
  /** The request itself was refused (other 4xx): too long, malformed, no such model. */
  | 'request'
  /** The subscription's usage is used up until the next reset. */
  | 'usageLimit'
  /** The account has no credit left, or reached a spending limit that only a person can raise. */
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
 * Whether the same call may succeed a little later without any change. A usage limit also passes by itself, but
 * after hours and at a known time: it is waited for, not retried.
 *
 * @param kind a kind of error; other values (the reason of a process's end) are not transient
 */
export function isTransient(kind: AgentErrorKind | (string & {})): boolean {
  return transientKinds.has(kind);
}

/** A failed call. */
export interface AgentError {
  readonly kind: AgentErrorKind;
  /** The agent's own message, or a sentence of ours. */
  readonly message: Words;
  /** When a usage limit resets, in ms since the epoch, if the agent reported it. */
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
  /**
   * The part of `cacheWrite` that is known to be cached for five minutes; the rest counts as cached for an hour.
   */
  readonly cacheWrite5m?: number;
}

/** An agent that the agent has started itself, for a part of its work. */
export interface Subagent {
  /** The id of the tool call that has started it. */
  readonly id: string;
  /** What it is for, in the agent's words; one short line, different for each subagent of a call. */
  readonly name: string;
}

/** Absent for what the agent itself says and does. */
interface OfSubagent {
  readonly parent?: Subagent;
}

/** The output of an agent while it works. Text comes from outside: never trusted, never markup. */
export type AgentEvent =
  | {
      readonly type: 'init';
      readonly sessionId?: string;
      readonly model?: string;
      readonly version?: string;
      /** `ANTHROPIC_API_KEY` means the API account is billed. */
      readonly apiKeySource?: string;
    }
  | ({ readonly type: 'text'; readonly text: string } & OfSubagent)
  /** `gist` is one short line: the file, the command, the pattern. */
  | ({
      readonly type: 'tool';
      readonly id: string;
      readonly name: string;
      readonly gist: string;
    } & OfSubagent)
  | ({
      readonly type: 'toolResult';
      readonly id: string;
      readonly isError: boolean;
      readonly gist: string;
      /** Its first lines, if there is more than the gist. */
      readonly head?: string;
      /** Total number of lines; absent if one or none. */
      readonly lines?: number;
    } & OfSubagent)
  /** A subagent has ended, and what it took, as far as the agent says so. */
  | ({
      readonly type: 'subagentEnded';
      readonly subagent: Subagent;
      readonly isError: boolean;
      /** One short line of its report. */
      readonly gist: string;
      readonly durationMs?: number;
      readonly tokens?: number;
      /** Number of its tool calls. */
      readonly toolCalls?: number;
    } & OfSubagent)
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly delayMs: number;
      readonly status?: number;
      readonly error: string;
    }
  | ({ readonly type: 'denied'; readonly tool: string; readonly message: string } & OfSubagent)
  /** The conversation had become too long, and the agent replaced its older part by a summary. */
  | { readonly type: 'compacted'; readonly tokens?: number }
  /**
   * The usage of one model message so far. Several events may report one message: the last `usage` counts, and the
   * sum of `outputChars`.
   */
  | {
      readonly type: 'usage';
      /** Absent if the message has no id; then this is the only event for it. */
      readonly messageId?: string;
      readonly model?: string;
      readonly usage: RequestUsage;
      /** Length of the part of the message in this event, in UTF-16 units. */
      readonly outputChars: number;
    }
  /** A sign of life without content. */
  | { readonly type: 'activity' }
  /** A line outside this agent's protocol; kept in the raw stream, displayed unchanged. */
  | { readonly type: 'unknown'; readonly line: string }
  /** The subscription's usage limit blocks this call; no use continuing before `resetsAt` (epoch, in ms). */
  | { readonly type: 'limit'; readonly resetsAt?: number; readonly limitType?: string }
  /** The call is certain to fail, although the agent would keep trying for minutes: end it. */
  | { readonly type: 'fatal'; readonly error: AgentError }
  | ResultEvent;

/** How a call ended. */
export interface ResultEvent {
  readonly type: 'result';
  readonly isError: boolean;
  readonly error?: AgentError;
  /** The final answer; promise signals are only read from here. */
  readonly text: string;
  /** The answer to {@link AgentRequest.jsonSchema}; comes from outside, so the caller must validate it. */
  readonly structured?: unknown;
  readonly turns: number;
  readonly costUsd?: number;
  readonly usage?: TokenUsage;
  readonly durationMs?: number;
  /** Number of tool calls that were denied, if any. */
  readonly permissionDenials?: number;
}

/** How a process ended by itself. */
export interface ProcessExit {
  /** Absent if a signal ended it. */
  readonly exitCode?: number;
  readonly signal?: string;
  /** The end of standard error. */
  readonly stderr: string;
}

/** Turns the output lines of one process into events. Stateful, so create a new one for each process. */
export interface AgentDecoder {
  /** @param line one line without its line break; `agentProcess.ts` leaves out lines above its limit */
  decode(line: string): readonly AgentEvent[];
  /**
   * Called once, after the last line, if the process exited by itself: agents whose output has no `result` create
   * it here.
   */
  end?(exit: ProcessExit): readonly AgentEvent[];
}

export interface Agent {
  /** Name used in settings and on the command line. */
  readonly id: 'claude' | 'sdk' | 'command' | 'demo';
  /** Parts of a request that have no effect on it. */
  readonly ignores?: readonly ('model' | 'effort' | 'maxTurns')[];
  /** Its program as the settings name it, if it may be one of the workspace's own files. */
  readonly program?: string;
  /**
   * Finds its program without starting it.
   * @param where.cwd from where a relative path leads
   * @returns its path
   * @throws {HumanError} if the agent cannot be started on this machine
   */
  find?(where: Pick<AgentRequest, 'cwd' | 'env'>): Promise<string>;
  /** @throws {HumanError} if the agent cannot be started on this machine (program not found, …) */
  command(request: AgentRequest): Promise<AgentCommand>;
  decoder(): AgentDecoder;
}
