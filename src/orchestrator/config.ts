import { DEFAULT_LIMITS, type ProcessLimits } from './agents/agentProcess.ts';

/** Everything that steers a run, with the whitepaper's names and defaults (8.3) where it has them. */
export interface RunConfig {
  readonly maxIterations: number;
  readonly maxTurnsPerIteration: number;
  readonly completionPromise: string;
  /** Iterations without progress on one story before the agent is warned. */
  readonly stuckThreshold: number;
  /** Failed calls in a row before a story is left alone. */
  readonly failThreshold: number;
  readonly model?: string;
  readonly limits: ProcessLimits;
}

export const DEFAULT_CONFIG: RunConfig = {
  maxIterations: 20,
  maxTurnsPerIteration: 100,
  completionPromise: 'TASK_COMPLETE',
  stuckThreshold: 3,
  failThreshold: 3,
  limits: DEFAULT_LIMITS,
};
