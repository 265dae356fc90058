import * as z from 'zod';

/**
 * The journal's vocabulary: one {@link RunEvent} a line, codes and data only. Views make sentences of
 * them. Objects are loose, so that fields a newer loop adds survive an older reader.
 */

const storyCount = z.looseObject({
  done: z.number().int().nonnegative(),
  total: z.number().int().nonnegative(),
});

export const RUN_OUTCOMES = [
  /** Every story is done, or the task's promise was accepted. */
  'completed',
  'maxIterations',
  /** An agent asked for a person. */
  'needsHuman',
  /** Every story that is left has failed, is blocked, or waits for one that is. */
  'noReadyStory',
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
  /** Not done, but there are commits to build on. */
  'progress',
  /** Nothing to show. */
  'noProgress',
  /** The agent's call failed. */
  'failed',
  /** `TASK BLOCKED: …` */
  'blocked',
  'needsHuman',
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

export const STOP_SOURCES = ['signal', 'inbox', 'stateFile'] as const;
export type StopSource = (typeof STOP_SOURCES)[number];

const header = { seq: z.number().int().positive(), at: z.string() };
const iteration = z.number().int().positive();

export const runEventSchema = z.discriminatedUnion('type', [
  z.looseObject({
    ...header,
    type: z.literal('run.started'),
    runId: z.string(),
    /** Version of the program that wrote this journal. */
    version: z.string(),
    pid: z.number().int(),
    /** Tells this process from a later one with the same pid. */
    startId: z.string().optional(),
    agent: z.string(),
    model: z.string().optional(),
    mode: z.enum(['stories', 'freeForm']),
    task: z.string(),
    maxIterations: z.number().int().positive(),
    stuckThreshold: z.number().int().positive(),
    /** Relative to the workspace; absent in free-form mode. */
    storyFile: z.string().optional(),
    stories: storyCount,
    branch: z.string().optional(),
    startCommit: z.string().optional(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('iteration.started'),
    iteration,
    maxIterations: z.number().int().positive(),
    storyId: z.string().optional(),
    storyTitle: z.string().optional(),
    stories: storyCount,
    startCommit: z.string().optional(),
    promptBytes: z.number().int().nonnegative(),
    handoffBytes: z.number().int().nonnegative(),
    /** Iterations in a row that this story has already taken without progress. */
    stuckFor: z.number().int().nonnegative(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('agent.started'),
    iteration,
    pid: z.number().int().positive(),
    /** Tells this process from a later one with the same pid. */
    startId: z.string().optional(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('agent.init'),
    model: z.string().optional(),
    version: z.string().optional(),
    apiKeySource: z.string().optional(),
    sessionId: z.string().optional(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('agent.text'),
    text: z.string(),
    /** Characters that were left out at the end; the raw stream has them. */
    cut: z.number().int().positive().optional(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('agent.tool'),
    id: z.string(),
    name: z.string(),
    gist: z.string(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('agent.toolFailed'),
    id: z.string(),
    gist: z.string(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('agent.retry'),
    attempt: z.number().int(),
    maxAttempts: z.number().int(),
    delayMs: z.number(),
    status: z.number().int().optional(),
    error: z.string(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('agent.denied'),
    tool: z.string(),
    message: z.string(),
  }),
  /** Output that is not the agent's protocol, line by line; `cut` as in agent.text. */
  z.looseObject({
    ...header,
    type: z.literal('agent.output'),
    text: z.string(),
    cut: z.number().int().positive().optional(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('agent.ended'),
    iteration,
    reason: z.enum(PROCESS_END_REASONS),
    exitCode: z.number().int().optional(),
    signal: z.string().optional(),
    durationMs: z.number().nonnegative(),
    /** Processes of this agent that were still running after it ended, and were ended by the loop. */
    leftovers: z.number().int().nonnegative(),
    /** The agent's call failed, by its own result. */
    error: z.looseObject({ kind: z.string(), message: z.string() }).optional(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('commit.recorded'),
    iteration,
    storyId: z.string().optional(),
    hash: z.string(),
    subject: z.string(),
    author: z.string().optional(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('story.changed'),
    storyId: z.string(),
    done: z.boolean(),
    /** `agent`: changed during an iteration; `outside`: between two, by somebody else. */
    by: z.enum(['agent', 'outside']),
    iteration: iteration.optional(),
  }),
  /** A person ticked or unticked the story. */
  z.looseObject({
    ...header,
    type: z.literal('story.ticked'),
    storyId: z.string(),
    done: z.boolean(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('promise.seen'),
    iteration,
    signal: z.enum(['complete', 'needsHuman', 'blocked']),
    message: z.string(),
    /** A `complete` that the files contradict is not accepted. */
    accepted: z.boolean(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('iteration.ended'),
    iteration,
    storyId: z.string().optional(),
    outcome: z.enum(ITERATION_OUTCOMES),
    durationMs: z.number().nonnegative(),
    costUsd: z.number().nonnegative().optional(),
    turns: z.number().int().nonnegative().optional(),
    usage: z
      .looseObject({
        input: z.number(),
        output: z.number(),
        cacheRead: z.number(),
        cacheWrite: z.number(),
      })
      .optional(),
    commits: z.number().int().nonnegative(),
    stories: storyCount,
  }),
  /** Something went wrong that the run survives; `code` is one of docs/journal.md. */
  z.looseObject({
    ...header,
    type: z.literal('warning'),
    code: z.string(),
    detail: z.string(),
    iteration: iteration.optional(),
  }),
  z.looseObject({
    ...header,
    type: z.literal('stop.requested'),
    by: z.enum(STOP_SOURCES),
    mode: z.enum(STOP_MODES),
  }),
  z.looseObject({
    ...header,
    type: z.literal('run.ended'),
    outcome: z.enum(RUN_OUTCOMES),
    exitCode: z.number().int(),
    /** What exactly, in the agent's or the system's words; data, not a sentence of ours. */
    detail: z.string().optional(),
    stories: storyCount,
    iterations: z.number().int().nonnegative(),
  }),
]);

export type RunEvent = z.infer<typeof runEventSchema>;
export type RunEventType = RunEvent['type'];

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown
  ? { [P in keyof T as P extends K ? never : string extends P ? never : P]: T[P] }
  : never;
/** An event before the journal has given it its number and time. */
export type RunEventBody = DistributiveOmit<RunEvent, 'seq' | 'at'>;

export type StoryCount = { readonly done: number; readonly total: number };

/** Exit codes of `ralph-fresh run`, by outcome (sysexits-like ones for wrong arguments are in src/cli/exitCodes.ts). */
export const EXIT_CODES: Readonly<Record<RunOutcome, number>> = {
  completed: 0,
  maxIterations: 1,
  noReadyStory: 1,
  error: 1,
  interrupted: 1,
  needsHuman: 2,
  stopped: 130,
};

/**
 * Reads one line of a journal.
 * @returns `undefined` for a line that is no event this version knows: torn, foreign, or newer
 */
export function parseRunEvent(line: string): RunEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const parsed = runEventSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
