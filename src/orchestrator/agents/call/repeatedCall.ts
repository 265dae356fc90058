import type { AgentRequest } from '../agent.ts';
import type { AgentCallRequest } from './agentCall.ts';

/** A call that is repeated after failures that may pass. */
export interface RepeatedCall {
  readonly purpose: 'story' | 'plan' | 'review';
  readonly iteration: number;
  readonly prompt: string;
  /** The agent's working directory, absolute. */
  readonly cwd: string;
  /** Variables in addition to the run's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute path of the folder for the call's files. */
  readonly dir: string;
  /** Name of the raw stream's file, without extension. */
  readonly streamName: string;
  /** The prompt's file name. */
  readonly promptName: string;
  /** The first prompt has already been written to that file. */
  readonly isPromptWritten?: boolean;
  /** Options of this call in addition to the run's configuration. */
  readonly extra?: Partial<
    Pick<
      AgentRequest,
      'model' | 'effort' | 'maxTurns' | 'tools' | 'allowedTools' | 'jsonSchema' | 'maxBudgetUsd'
    >
  >;
  /** Whether the requested work is already done; checked before the call is repeated. */
  readonly isDone?: () => Promise<boolean>;
  /** Awaited before an agent is started. If it fails, the call fails. */
  readonly ready?: Promise<unknown>;
  /** See {@link AgentCallRequest.onExit}. */
  readonly onExit?: () => void;
  /** Aborted: end this call; the run continues. */
  readonly skip?: AbortSignal;
  /**
   * Called if a usage limit must be waited for; the function it returns is called after the wait, for an updated
   * prompt. `undefined`: there is nothing left to do for this call.
   */
  readonly onWait?: () => Promise<() => Promise<string | undefined>>;
}
