import * as z from 'zod';
import { once } from '../once.ts';

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

const header = { seq: z.number().int().positive(), at: z.string() };
const iteration = z.number().int().positive();

/** Calls of the planning agent come before the first iteration and count as 0. */
const callOf = {
  iteration: z.number().int().nonnegative(),
  purpose: z.enum(['story', 'plan', 'review']).optional(),
};

const usage = z.looseObject({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
});

/** Made by the first event that is read: a loop reads none, and to make it is a good part of a program's start. */
export const runEventSchema = once(() =>
  z.discriminatedUnion('type', [
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
      mode: z.enum(RUN_MODES),
      task: z.string(),
      maxIterations: z.number().int().positive(),
      stuckThreshold: z.number().int().positive(),
      /** What the run may cost, in US dollars; absent without a budget. */
      budgetUsd: z.number().positive().optional(),
      /** `apiKey`: the environment has a key, so the API account is billed; `login`: whoever is logged in. */
      payer: z.enum(['apiKey', 'login']).optional(),
      /** Commands that a claim must pass. */
      verify: z.array(z.string()).optional(),
      /** What the command line set, when the run may have it again without being told. */
      settings: z.record(z.string(), z.unknown()).optional(),
      /** How the stories are made before the first iteration. */
      prepare: z
        .discriminatedUnion('kind', [
          z.looseObject({ kind: z.literal('plan') }),
          z.looseObject({ kind: z.literal('tasks'), tasks: z.array(z.string()) }),
        ])
        .optional(),
      /** Relative to the workspace; absent in free-form mode. */
      storyFile: z.string().optional(),
      /** Ids of the stories that the run works on; absent: on all. */
      onlyStories: z.array(z.string()).optional(),
      onLastWindow: z.enum(['continue', 'stopAfterIteration']).optional(),
      /** Of plan mode: the folder with plan.md, relative to the workspace. */
      planDir: z.string().optional(),
      stories: storyCount,
      branch: z.string().optional(),
      startCommit: z.string().optional(),
    }),
    /** A run that had ended goes on, in its own journal, at the next iteration. */
    z.looseObject({
      ...header,
      type: z.literal('run.resumed'),
      version: z.string(),
      pid: z.number().int(),
      startId: z.string().optional(),
      agent: z.string(),
      model: z.string().optional(),
      maxIterations: z.number().int().positive(),
      stuckThreshold: z.number().int().positive(),
      budgetUsd: z.number().positive().optional(),
      payer: z.enum(['apiKey', 'login']).optional(),
      verify: z.array(z.string()).optional(),
      settings: z.record(z.string(), z.unknown()).optional(),
      onLastWindow: z.enum(['continue', 'stopAfterIteration']).optional(),
      stories: storyCount,
      branch: z.string().optional(),
    }),
    /** A planning agent wrote the stories of this run; its calls come before. */
    z.looseObject({
      ...header,
      type: z.literal('plan.written'),
      /** Relative to the workspace. */
      storyFile: z.string(),
      stories: z.number().int().nonnegative(),
      attempts: z.number().int().positive(),
      /** Where the stories that were there before are kept now. */
      archived: z.string().optional(),
      costUsd: z.number().nonnegative().optional(),
    }),
    /** The planning agent's draft was not valid; the problems went into its next prompt. */
    z.looseObject({
      ...header,
      type: z.literal('plan.refused'),
      attempt: z.number().int().positive(),
      problems: z.array(z.string()),
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
      /** What the prompt is made of; tokens are estimated. */
      promptSections: z.array(z.looseObject({ name: z.string(), tokens: z.number() })).optional(),
      handoffBytes: z.number().int().nonnegative(),
      /** Iterations in a row that this story has already taken without progress. */
      stuckFor: z.number().int().nonnegative(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('agent.started'),
      ...callOf,
      pid: z.number().int().positive(),
      /** Tells this process from a later one with the same pid. */
      startId: z.string().optional(),
      /** The file in the iteration's folder that has what it prints; absent in older journals. */
      stream: z.string().optional(),
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
      head: z.string().optional(),
      lines: z.number().int().positive().optional(),
    }),
    /** What a tool gave back: its first lines at most. Not for those that only write files. */
    z.looseObject({
      ...header,
      type: z.literal('agent.toolResult'),
      id: z.string(),
      /** Absent for a file that was read. */
      head: z.string().optional(),
      lines: z.number().int().positive(),
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
      ...callOf,
      reason: z.enum(PROCESS_END_REASONS),
      exitCode: z.number().int().optional(),
      signal: z.string().optional(),
      durationMs: z.number().nonnegative(),
      /** Processes of this agent that were still running after it ended, and were ended by the loop. */
      leftovers: z.number().int().nonnegative(),
      /** The agent's call failed, by its own result. */
      error: z.looseObject({ kind: z.string(), message: z.string() }).optional(),
      /** What this call alone has cost; an iteration may take several. */
      costUsd: z.number().nonnegative().optional(),
      /** It had no result that tells, so cost and usage are estimated from what it printed. */
      costEstimated: z.boolean().optional(),
      turns: z.number().int().nonnegative().optional(),
      usage: usage.optional(),
    }),
    /** The call failed for a moment (server overloaded, connection lost) and is made again in the same iteration. */
    z.looseObject({
      ...header,
      type: z.literal('call.retried'),
      ...callOf,
      attempt: z.number().int().positive(),
      maxAttempts: z.number().int().positive(),
      delayMs: z.number().nonnegative(),
      error: z.looseObject({ kind: z.string(), message: z.string() }),
    }),
    /** The agent could not be started, so another one takes its place for the rest of the run. */
    z.looseObject({
      ...header,
      type: z.literal('agent.replaced'),
      from: z.string(),
      to: z.string(),
      reason: z.string(),
    }),
    /** The account's usage is used up. Written at the start of the wait and once a minute: the countdown. */
    z.looseObject({
      ...header,
      type: z.literal('limit.waiting'),
      ...callOf,
      /** ISO 8601; when it goes on. */
      until: z.string(),
      remainingMs: z.number().nonnegative(),
      /** Whether the agent named the moment, or the loop will just try again then. */
      known: z.boolean(),
      message: z.string(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('limit.ended'),
      ...callOf,
      by: z.enum(['time', 'person', 'stop']),
    }),
    z.looseObject({
      ...header,
      type: z.literal('pause.started'),
      reason: z.enum(PAUSE_REASONS),
      storyId: z.string().optional(),
      /** The agent's question, or how long it has been stuck. */
      detail: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('pause.ended'),
      by: z.enum(['person', 'stop']),
    }),
    /** A person asked the run to wait after this iteration. */
    z.looseObject({ ...header, type: z.literal('pause.requested') }),
    z.looseObject({
      ...header,
      type: z.literal('hint.given'),
      text: z.string(),
      /** Told to the agents of this story alone, until it is done; else to all that follow. */
      storyId: z.string().optional(),
      /** Of one that waited in a file; it is told for the first time in the iteration that starts next. */
      id: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('question.answered'),
      question: z.string(),
      answer: z.string(),
      storyId: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('story.skipped'),
      storyId: z.string(),
      by: z.enum(['person', 'stuck']),
    }),
    /** A person takes back a skip, or gives a failed or blocked story another chance. */
    z.looseObject({ ...header, type: z.literal('story.reset'), storyId: z.string() }),
    /** No progress for as many iterations as the threshold says. */
    z.looseObject({
      ...header,
      type: z.literal('story.stuck'),
      storyId: z.string(),
      iterations: z.number().int().positive(),
      /** What the run does about it now. */
      action: z.enum(['warn', 'skip', 'ask', 'stop']),
    }),
    /** An iteration changed what it may not. */
    z.looseObject({
      ...header,
      type: z.literal('guard.found'),
      iteration,
      changes: z.array(
        z.looseObject({
          kind: z.string(),
          storyId: z.string().optional(),
          before: z.string().optional(),
          after: z.string().optional(),
          text: z.string().optional(),
          problem: z.string().optional(),
        }),
      ),
      restored: z.boolean(),
      /** The agent's version of the file, relative to the workspace. */
      keptAside: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('gate.started'),
      iteration,
      commands: z.array(z.string()),
      storyId: z.string().optional(),
    }),
    /** A command of the gate runs. */
    z.looseObject({
      ...header,
      type: z.literal('check.started'),
      iteration,
      command: z.string(),
      pid: z.number().int().positive(),
      startId: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('check.ended'),
      iteration,
      command: z.string(),
      ok: z.boolean(),
      exitCode: z.number().int().optional(),
      timedOut: z.boolean(),
      durationMs: z.number().nonnegative(),
      /** The end of what it printed; the iteration's folder has the whole. */
      outputTail: z.string(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('gate.ended'),
      iteration,
      green: z.boolean(),
      storyId: z.string().optional(),
    }),
    /** A reviewer has looked at the claim. */
    z.looseObject({
      ...header,
      type: z.literal('review.ended'),
      iteration,
      storyId: z.string(),
      approved: z.boolean(),
      objections: z.array(z.string()),
      costUsd: z.number().nonnegative().optional(),
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
      /**
       * `agent`: changed during an iteration; `outside`: between two, by somebody else; `gate`, `reviewer`:
       * put back by the loop after a refused claim; `guard`: put back, since the iteration was not given it.
       */
      by: z.enum(['agent', 'outside', 'gate', 'reviewer', 'guard']),
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
      /** Of at least one of its calls. */
      costEstimated: z.boolean().optional(),
      turns: z.number().int().nonnegative().optional(),
      usage: usage.optional(),
      commits: z.number().int().nonnegative(),
      /** A commit, a story or a criterion changed; absent in journals of 0.1. */
      progress: z.boolean().optional(),
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
  ]),
);

export type RunEvent = z.infer<ReturnType<typeof runEventSchema>>;
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
  stuck: 1,
  budget: 1,
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
  const parsed = runEventSchema().safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
