/** Highest number of agents that work at once. */
export const MAX_LANES = 16;

export const RUN_OUTCOMES = [
  /** Every story is done, or the task's promise was accepted. */
  'completed',
  'maxIterations',
  /** An agent asked for help from a person. */
  'needsHuman',
  /** Every remaining story has failed, is blocked or skipped, or depends on one that is. */
  'noReadyStory',
  /** A story made no progress for too long, and the person had chosen to stop in that case. */
  'stuck',
  /** The run's budget is used up. */
  'budget',
  /** A person stopped it: Ctrl-C, Stop, the cancel file. */
  'stopped',
  /** The run cannot continue: billing, login, agent cannot be started, disk. */
  'error',
  /** Found dead: `kill -9`, power failure. Written by the process that discovers it. */
  'interrupted',
] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** What new code has in common with code that was there: the name of a function, its body, or a whole file. */
export const DUPLICATE_KINDS = ['name', 'body', 'file'] as const;
export type DuplicateKind = (typeof DUPLICATE_KINDS)[number];

export const ITERATION_OUTCOMES = [
  /** Its story is marked as done in the story file. */
  'storyDone',
  /** It claimed the story, and the checks or the reviewer refused the claim; the story was reset. */
  'rejected',
  /** Not done, but it made progress: a commit, a criterion met, a change to another story. */
  'progress',
  /** No progress. */
  'noProgress',
  /** The agent's call failed. */
  'failed',
  /** `TASK BLOCKED: …` */
  'blocked',
  'needsHuman',
  /** A person skipped the story during the iteration. */
  'skipped',
  /** Interrupted by a stop. */
  'stopped',
] as const;
export type IterationOutcome = (typeof ITERATION_OUTCOMES)[number];

/** Why an agent's process ended. Only the first reason is recorded. */
export const PROCESS_END_REASONS = [
  'exited',
  'hardLimit',
  'idleLimit',
  'cancelled',
  /** It had reported its result but did not exit within the grace period. */
  'lingered',
  'notStarted',
] as const;

export const STOP_MODES = [
  /** Let the agent finish its iteration. */
  'afterIteration',
  /** End the agent (SIGTERM, SIGKILL after a grace period) and record its work. */
  'end',
  /** End the agent with SIGKILL and record its work. */
  'kill',
] as const;
export type StopMode = (typeof STOP_MODES)[number];

export const STOP_SOURCES = [
  'signal',
  'inbox',
  'stateFile',
  /** The last window that showed the run was closed. */
  'window',
] as const;
export type StopSource = (typeof STOP_SOURCES)[number];

export const RUN_MODES = [
  'stories',
  /** A task without stories. */
  'freeForm',
  /** `.ralph/ralph-N/plan.md`, the pure loop. */
  'plan',
] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** Why work did not land, so that its story gets another agent. */
export const RETURN_REASONS = [
  /** It and what has landed meanwhile change the same lines. */
  'conflict',
  /** A check failed on what was to land. */
  'checks',
  /** The reviewer did not approve it. */
  'review',
  /** A person skipped the story, or set it to not done. */
  'person',
  /** Its commits cannot be read any more. */
  'gone',
] as const;
export type ReturnReason = (typeof RETURN_REASONS)[number];

/** Why the branch cannot follow what has landed. */
export const HELD_REASONS = [
  /** Files in the user's work tree that are changed or untracked there. */
  'localChanges',
  /** Another process of git works there. */
  'locked',
  /** A rebase, merge, cherry-pick or bisect is in progress. */
  'operation',
  /** The branch is checked out in another worktree. */
  'otherWorktree',
  /** Commits of others on the branch could not be joined with what has landed: a conflict, or red checks. */
  'diverged',
  /** Git refused for another reason. */
  'refused',
] as const;
export type HeldReason = (typeof HELD_REASONS)[number];

/** Why a run waits for a person between two iterations. */
export const PAUSE_REASONS = ['person', 'question', 'stuck'] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

/** Exit codes of `ralph-fresh run`, by outcome (sysexits-like ones for wrong arguments are in src/cli/exitCodes.ts). */
export const EXIT_CODES: Readonly<Record<RunOutcome, number>> = {
  completed: 0,
  maxIterations: 1,
  noReadyStory: 1,
  stuck: 1,
  budget: 1,
  error: 1,
  interrupted: 1,
  needsHuman: 2,
  stopped: 130,
};

/**
 * The exit code of a run: what its branch does not have yet is no success, however complete the stories are.
 * @param isHeld whether the branch could not follow what has landed
 */
export function exitCodeOf(outcome: RunOutcome, isHeld: boolean): number {
  return outcome === 'completed' && isHeld ? 1 : EXIT_CODES[outcome];
}
