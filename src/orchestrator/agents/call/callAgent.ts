/** One call of a fresh agent beside the stories: planning, reviewing. */
export interface CallRequest {
  readonly prompt: string;
  /** Names the call's files in its folder, without extension. */
  readonly name: string;
  readonly model?: string;
  /** The only tools there are; all when absent. */
  readonly tools?: readonly string[];
  /** Tools that may be used without asking. */
  readonly allowedTools?: readonly string[];
  /** The answer comes as data of this JSON schema. */
  readonly jsonSchema?: object;
  readonly maxBudgetUsd?: number;
}

/** What it came to, after retries and waits for usage limits. */
export interface CallResult {
  /** The final answer. */
  readonly text: string;
  /** Of a call with a `jsonSchema`; unchecked. */
  readonly structured?: unknown;
  readonly error?: { readonly kind: string; readonly message: string };
  /** A person stopped the run meanwhile. */
  readonly cancelled: boolean;
  readonly costUsd?: number;
}

/** Never throws for what the agent does. */
export type CallAgent = (request: CallRequest) => Promise<CallResult>;
