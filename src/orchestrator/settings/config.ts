import { DEFAULT_LIMITS, type ProcessLimits } from '../process/processLimits.ts';

/** What happens when a story has brought no progress although its agent was warned. */
export const ON_STUCK = ['warn', 'skip', 'ask', 'stop'] as const;
export type OnStuck = (typeof ON_STUCK)[number];

/** What happens when an agent asks for a person: wait for the answer, or end with exit code 2. */
export const ON_QUESTION = ['end', 'wait'] as const;
export type OnQuestion = (typeof ON_QUESTION)[number];

/** What happens when the account's usage is used up. */
export const ON_LIMIT = ['wait', 'stop'] as const;
export type OnLimit = (typeof ON_LIMIT)[number];

/** What happens when an iteration changed stories that it may not change. */
export const GUARD_MODES = ['restore', 'warn', 'off'] as const;
export type GuardMode = (typeof GUARD_MODES)[number];

/** Whether the branch that the story file names is checked out before the first iteration. */
export const BRANCH_MODES = ['checkout', 'stay'] as const;
export type BranchMode = (typeof BRANCH_MODES)[number];

/** Everything that steers a run, with the whitepaper's names and defaults (8.3) where it has them. */
export interface RunConfig {
  readonly maxIterations: number;
  readonly maxTurnsPerIteration: number;
  readonly completionPromise: string;
  /** Iterations without progress on one story before the agent is warned. */
  readonly stuckThreshold: number;
  /** What follows when the warned iteration brought no progress either. */
  readonly onStuck: OnStuck;
  readonly onQuestion: OnQuestion;
  readonly onLimit: OnLimit;
  /** From a usage limit that names no reset to the next try, in ms. */
  readonly limitRetryMs: number;
  /** Failed calls and refused claims in a row before a story is left alone. */
  readonly failThreshold: number;
  /** Calls again in the same iteration after a transient API error. */
  readonly retryAttempts: number;
  /** Before the first of them, in ms; doubled for each further one. */
  readonly retryDelayMs: number;
  /** Shell commands that must succeed before a claim counts; none: claims are believed. */
  readonly verify: readonly string[];
  /** Longest time of one of them, in ms. */
  readonly verifyTimeLimitMs: number;
  /** A fresh agent with reading tools judges each claim that the checks let through. */
  readonly reviewer: boolean;
  readonly reviewerModel?: string;
  readonly guard: GuardMode;
  readonly branch: BranchMode;
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly effort?: string;
  /** Tools that the agent may use without asking; its own list when absent. */
  readonly allowedTools?: readonly string[];
  /** What the run may cost, in US dollars. */
  readonly budgetUsd?: number;
  /** What one iteration may cost, in US dollars. */
  readonly iterationBudgetUsd?: number;
  readonly limits: ProcessLimits;
}

export const DEFAULT_CONFIG: RunConfig = {
  maxIterations: 20,
  maxTurnsPerIteration: 100,
  completionPromise: 'TASK_COMPLETE',
  stuckThreshold: 3,
  onStuck: 'warn',
  onQuestion: 'end',
  onLimit: 'wait',
  limitRetryMs: 15 * 60_000,
  failThreshold: 3,
  retryAttempts: 3,
  retryDelayMs: 5_000,
  verify: [],
  verifyTimeLimitMs: 15 * 60_000,
  reviewer: false,
  guard: 'restore',
  branch: 'checkout',
  limits: DEFAULT_LIMITS,
};
