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
  /** Environment to start from (usually `process.env`); the agent removes what must not be inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A process to start, ready to be spawned without a shell. */
export interface AgentCommand {
  /** Executable: absolute path, or a name to be found on `env.PATH`. */
  readonly file: string;
  readonly args: readonly string[];
  /** Written to standard input, which is then closed. */
  readonly stdin: string;
  /** The whole environment; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
}

/** Why a call failed, as far as the agent's own output tells. */
export type AgentErrorKind =
  | 'api'
  | 'rateLimit'
  | 'overloaded'
  | 'billing'
  | 'authentication'
  | 'maxTurns'
  | 'budget'
  | 'other';

/** Token counts of one call, as billed. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
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
  /** Sign of life without content of its own. */
  | { readonly type: 'activity' }
  /** A line that is not this agent's protocol; kept in the raw stream, shown as it is. */
  | { readonly type: 'unknown'; readonly line: string }
  | {
      readonly type: 'result';
      readonly isError: boolean;
      readonly error?: { readonly kind: AgentErrorKind; readonly message: string };
      /** The final answer; promise signals are read from here alone. */
      readonly text: string;
      readonly turns: number;
      readonly costUsd?: number;
      readonly usage?: TokenUsage;
      readonly durationMs?: number;
    };

/** Turns one process's lines into events; holds state for one process, so make a new one each time. */
export interface AgentDecoder {
  /** @param line one line without its line break, at most `MAX_LINE_BYTES` long (longer ones arrive cut) */
  decode(line: string): readonly AgentEvent[];
}

export interface Agent {
  /** Name used in settings and on the command line. */
  readonly id: 'claude' | 'demo';
  /**
   * @throws {HumanError} when the agent cannot be started on this machine (program not found, …)
   */
  command(request: AgentRequest): Promise<AgentCommand>;
  decoder(): AgentDecoder;
}
