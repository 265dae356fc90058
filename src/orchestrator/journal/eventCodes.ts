export const RUN_OUTCOMES = [
  /** Every story is done, or the task's promise was accepted. */
  'completed',
  'maxIterations',
  /** An agent asked for a person. */
  'needsHuman',
  /** Every story that is left has failed, is blocked or skipped, or waits for one that is. */
  'noReadyStory',
  /** A story brought no progress for too long, and the person chose to stop then. */
  'stuck',
  /** The run's budget is used up. */
  'budget',
  /** A person stopped it: Ctrl-C, Stop, the cancel file. */
  'stopped',
  /** Cannot go on: billing, log-in, agent not startable, disk. */
  'error',
  /** Found dead: `kill -9`, power cut. Written by whoever finds it. */
  'interrupted',
] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

export const ITERATION_OUTCOMES = [
  /** The story it was given is done in its file. */
  'storyDone',
  /** It claimed the story, and the checks or the reviewer said no; the story was put back. */
  'rejected',
  /** Not done, but there is something to build on: a commit, a criterion met, another story's change. */
  'progress',
  /** Nothing to show. */
  'noProgress',
  /** The agent's call failed. */
  'failed',
  /** `TASK BLOCKED: …` */
  'blocked',
  'needsHuman',
  /** A person skipped the story while it was worked on. */
  'skipped',
  /** Cut off by a stop. */
  'stopped',
] as const;
export type IterationOutcome = (typeof ITERATION_OUTCOMES)[number];

/** Why an agent's process ended; exactly one is recorded, the first. */
export const PROCESS_END_REASONS = [
  'exited',
  'hardLimit',
  'idleLimit',
  'cancelled',
  /** It had given its result but did not exit within the grace time. */
  'lingered',
  'notStarted',
] as const;
export type ProcessEndReason = (typeof PROCESS_END_REASONS)[number];

export const STOP_MODES = [
  /** Let the agent finish its iteration. */
  'afterIteration',
  /** End the agent (SIGTERM, SIGKILL after a grace time) and record what it left. */
  'end',
  /** End the agent with SIGKILL and record what it left. */
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
