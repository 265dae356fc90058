import type { Words } from '../../../base/say.ts';
/** A call of a fresh agent that does not work on a story: planning, reviewing. */
export interface CallRequest {
  readonly prompt: string;
  /** Name of the call's files in its folder, without extension. */
  readonly name: string;
  readonly model?: string;
  /** The only available tools; absent: all. */
  readonly tools?: readonly string[];
  /** Tools that may be used without asking for permission. */
  readonly allowedTools?: readonly string[];
  /** JSON schema of the answer. */
  readonly jsonSchema?: object;
  readonly maxBudgetUsd?: number;
}

/** The result, after retries and waits for usage limits. */
export interface CallResult {
  /** The final answer. */
  readonly text: string;
  /** For a call with a `jsonSchema`; not validated. */
  readonly structured?: unknown;
  readonly error?: { readonly kind: string; readonly message: Words };
  /** A person stopped the run during the call. */
  readonly cancelled: boolean;
  readonly costUsd?: number;
}

/** Never throws for what the agent does. */
export type CallAgent = (request: CallRequest) => Promise<CallResult>;
