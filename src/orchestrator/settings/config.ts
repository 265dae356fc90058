import { DEFAULT_LIMITS, type ProcessLimits } from '../process/processLimits.ts';

/** What to do if a story made no progress although its agent was warned. */
export const ON_STUCK = ['warn', 'skip', 'ask', 'stop'] as const;
export type OnStuck = (typeof ON_STUCK)[number];

/** What to do if an agent asks for a person: wait for the answer, or end with exit code 2. */
export const ON_QUESTION = ['end', 'wait'] as const;
export type OnQuestion = (typeof ON_QUESTION)[number];

/** What to do if the account reaches its usage limit. */
export const ON_LIMIT = ['wait', 'stop'] as const;
export type OnLimit = (typeof ON_LIMIT)[number];

/** What to do if an iteration made forbidden changes to stories. */
export const GUARD_MODES = ['restore', 'warn', 'off'] as const;
export type GuardMode = (typeof GUARD_MODES)[number];

/** Whether to check out the branch named in the story file before the first iteration. */
export const BRANCH_MODES = ['checkout', 'stay'] as const;
export type BranchMode = (typeof BRANCH_MODES)[number];

/** Most tokens about the code in a prompt. */
export const MAX_CONTEXT_TOKENS = 20_000;

/** Most stories that are checked at once. */
export const MAX_BATCH = 5;

/** How the commits of a story land: as they are, below a merge commit, or as one commit. */
export const LAND_AS = ['merge', 'squash'] as const;
export type LandAs = (typeof LAND_AS)[number];

/** What is done with an issue on GitHub when its story is done. */
export const GITHUB_WHEN_DONE = ['comment', 'close', 'nothing'] as const;
export type GithubWhenDone = (typeof GITHUB_WHEN_DONE)[number];

/** The configuration of a run, with the names and defaults of the whitepaper (8.3), if it has them. */
export interface RunConfig {
  readonly maxIterations: number;
  readonly maxTurnsPerIteration: number;
  readonly completionPromise: string;
  /** Iterations without progress on one story before the agent is warned. */
  readonly stuckThreshold: number;
  /** What to do if the warned iteration made no progress either. */
  readonly onStuck: OnStuck;
  readonly onQuestion: OnQuestion;
  readonly onLimit: OnLimit;
  /** Delay before the next attempt after a usage limit without a known reset, in ms. */
  readonly limitRetryMs: number;
  /** Consecutive failed calls and refused claims before a story is left alone. */
  readonly failThreshold: number;
  /** Number of retries in the same iteration after a transient API error. */
  readonly retryAttempts: number;
  /** Delay before the first retry, in ms; doubled for each further one. */
  readonly retryDelayMs: number;
  /** Shell commands that must succeed before a claim counts; if empty, claims are accepted. */
  readonly verify: readonly string[];
  /** Time limit for each of them, in ms. */
  readonly verifyTimeLimitMs: number;
  /** A fresh agent with read-only tools judges each claim that passed the checks. */
  readonly reviewer: boolean;
  readonly reviewerModel?: string;
  readonly guard: GuardMode;
  readonly branch: BranchMode;
  /** Number of agents that work at once. */
  readonly lanes: number;
  /** Agents work in places of their own, also with one lane. */
  readonly isolate: boolean;
  readonly landAs: LandAs;
  /** Stories that are stacked and checked once; 1: each one is checked by itself. */
  readonly landBatch: number;
  /** Checks that may fail once for no reason: they run a second time. */
  readonly flakyChecks: readonly string[];
  /** Most tokens of the prompt's section about the code; 0: none. */
  readonly contextTokens: number;
  /** Work that agents find becomes stories without a person. */
  readonly acceptDiscovered: boolean;
  /** Lines of the progress log from which a run condenses it; 0: never. */
  readonly compactAt: number;
  /** Lines that a condensed log has at most. */
  readonly progressMaxLines: number;
  /** Shell command that prepares a place: installs the dependencies. */
  readonly placeSetup?: string;
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly effort?: string;
  /** Tools that the agent may use without asking for permission; absent: its own list. */
  readonly allowedTools?: readonly string[];
  /** Budget of the run, in US dollars. */
  readonly budgetUsd?: number;
  /** Budget of one iteration, in US dollars. */
  readonly iterationBudgetUsd?: number;
  readonly limits: ProcessLimits;
}

export const DEFAULT_CONFIG = {
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
  lanes: 1,
  isolate: false,
  landAs: 'merge',
  landBatch: 1,
  flakyChecks: [],
  contextTokens: 2_000,
  acceptDiscovered: false,
  compactAt: 400,
  progressMaxLines: 500,
  limits: DEFAULT_LIMITS,
} as const satisfies RunConfig;
