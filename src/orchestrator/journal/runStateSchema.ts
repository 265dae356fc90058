import * as z from 'zod';
import { once } from '../../base/once.ts';
import type { CurrentIteration } from './currentIteration.ts';
import { DISCOVERY_STATES } from './discoveries.ts';
import {
  HELD_REASONS,
  ITERATION_OUTCOMES,
  PAUSE_REASONS,
  RUN_MODES,
  RUN_OUTCOMES,
  STOP_MODES,
} from './eventCodes.ts';
import { eventFields } from './eventSchemas/fields.ts';
import { tickUndoSchema } from './eventSchemas/tickUndo.ts';
import type { LimitWaiting, RunState } from './runState.ts';
import type { StoryNotes } from './storyNotes.ts';
import type { StoryRecord } from './storyRecord.ts';

/** One field for each field of the type, so that the compiler reports a forgotten one. */
type FieldsOf<T> = { readonly [K in keyof Required<T>]: z.ZodType };

/** The JSON form of a run's state: maps are lists of pairs. */
export const runStateSchema = once(() => {
  const count = z.number().int().nonnegative();
  const { duplicates, guarded, prepare, uncommitted, usage, words } = eventFields();
  const keptWork = {
    ...{ iteration: count, base: z.string(), head: z.string() },
    uncommitted: z.string().optional(),
  };
  const conflict = z.object({ ...keptWork, onto: z.string(), files: z.array(z.string()) });
  const current = z.object({
    number: count,
    storyId: z.string().optional(),
    storyTitle: z.string().optional(),
    lane: z.number().int().positive().optional(),
    kept: z.object(keptWork).optional(),
    queued: z.literal(true).optional(),
    settled: z.literal(true).optional(),
    candidate: z.object({ commit: z.string(), onto: z.string() }).optional(),
    startedAt: z.string(),
    startCommit: z.string().optional(),
    interrupted: z.literal(true).optional(),
    endCommit: z.string().optional(),
    branch: z.string().optional(),
    storyLink: z.string().optional(),
    leftElsewhere: z.array(z.string()).optional(),
    agentPid: z.number().int().positive().optional(),
    agentStartId: z.string().optional(),
    hasWorked: z.literal(true).optional(),
    step: z.enum(['agent', 'queue', 'gate', 'review']).optional(),
    costUsd: z.number(),
    costEstimated: z.literal(true).optional(),
    usage: usage.optional(),
    handled: z.array(z.tuple([z.string(), z.boolean()])),
    activity: z.string().optional(),
    commits: count,
  } satisfies FieldsOf<CurrentIteration>);
  const record = z.object({
    doneBy: z.enum(['agent', 'hand', 'outside']).optional(),
    verified: z.literal(true).optional(),
    approved: z.literal(true).optional(),
    refused: z.literal(true).optional(),
    landed: z.literal(true).optional(),
    tickMissing: z.literal(true).optional(),
    title: z.string().optional(),
    stuckFor: count,
    later: z.object({ since: count, stuckFor: count }).optional(),
    failures: count,
    blocked: z.string().optional(),
    skipped: z.enum(['person', 'stuck']).optional(),
    reset: z.literal(true).optional(),
    was: tickUndoSchema().optional(),
    paused: z.literal(true).optional(),
    costUsd: z.number(),
    iterations: count,
  } satisfies FieldsOf<StoryRecord>);
  const notes = z.object({
    lastIteration: z.object({ number: count, outcome: z.enum(ITERATION_OUTCOMES) }).optional(),
    failedCheck: z
      .object({
        iteration: count,
        command: z.string(),
        exitCode: z.number().int().optional(),
        timedOut: z.boolean(),
        output: z.string(),
        problem: words.optional(),
      })
      .optional(),
    review: z.object({ iteration: count, objections: z.array(words) }).optional(),
    guard: z
      .object({
        iteration: count,
        changes: guarded,
        restored: z.boolean(),
      })
      .optional(),
    question: z
      .object({ iteration: count, message: z.string(), storyId: z.string().optional() })
      .optional(),
    refusedPromise: z.object({ iteration: count, message: z.string() }).optional(),
    lastError: z
      .object({
        iteration: count,
        kind: z.string(),
        message: words,
        recoveryAttempt: z.string().optional(),
      })
      .optional(),
    kept: z.object(keptWork).optional(),
    conflict: conflict.optional(),
    settling: conflict.optional(),
  } satisfies FieldsOf<StoryNotes>);
  return z.object({
    runId: z.string().optional(),
    phase: z.enum(['idle', 'running', 'stopping', 'ended']),
    agent: z.string().optional(),
    model: z.string().optional(),
    mode: z.enum(RUN_MODES).optional(),
    task: z.string(),
    storyFile: z.string().optional(),
    planDir: z.string().optional(),
    branch: z.string().optional(),
    pid: z.number().int().optional(),
    startId: z.string().optional(),
    startedAt: z.string().optional(),
    endedAt: z.string().optional(),
    iteration: count,
    maxIterations: count,
    stuckThreshold: count,
    budgetUsd: z.number().optional(),
    payer: z.enum(['apiKey', 'login']).optional(),
    verify: z.array(z.string()),
    reviewer: z.literal(true).optional(),
    settings: z.record(z.string(), z.unknown()).optional(),
    stories: z.object({ done: count, total: count }),
    onlyStories: z.array(z.string()).optional(),
    onLastWindow: z.enum(['continue', 'stopAfterIteration']).optional(),
    stopMode: z.enum(STOP_MODES).optional(),
    pause: z
      .object({
        kind: z.literal('pause'),
        reason: z.enum(PAUSE_REASONS),
        storyId: z.string().optional(),
        detail: z.string().optional(),
        stories: z.array(z.string()).optional(),
        settling: z.array(z.string()).optional(),
        lanes: z.array(count).optional(),
      })
      .optional(),
    limits: z.array(
      z.tuple([
        count,
        z.object({
          kind: z.literal('limit'),
          until: z.string(),
          known: z.boolean(),
          message: words,
        } satisfies FieldsOf<LimitWaiting>),
      ]),
    ),
    pauseRequested: z.boolean(),
    hints: z.array(
      z.object({
        text: z.string(),
        storyId: z.string().optional(),
        id: z.string().optional(),
      }),
    ),
    answers: z.array(
      z.object({
        question: z.string(),
        answer: z.string().optional(),
        storyId: z.string().optional(),
      }),
    ),
    storyNotes: z.array(z.tuple([z.string(), notes])),
    prepare: prepare.optional(),
    planner: z
      .object({
        agentPid: z.number().int().positive(),
        agentStartId: z.string().optional(),
      })
      .optional(),
    cutOff: z.array(current),
    running: z.array(current),
    lanes: count,
    lanesChosen: count.optional(),
    laneStories: z.array(z.tuple([count, z.string()])),
    isolated: z.literal(true).optional(),
    pausedLanes: z.array(count).optional(),
    held: z
      .object({ reason: z.enum(HELD_REASONS), files: z.array(z.string()), ref: z.string() })
      .optional(),
    apiKeySource: z.string().optional(),
    costUsd: z.number(),
    costEstimated: z.literal(true).optional(),
    costUnknown: z.literal(true).optional(),
    usage,
    commits: z.array(
      z.object({
        hash: z.string(),
        subject: z.string(),
        at: z.string(),
        iteration: count,
        storyId: z.string().optional(),
        landed: z.literal(true).optional(),
      }),
    ),
    storyRecords: z.array(z.tuple([z.string(), record])),
    discoveries: z
      .array(
        z.object({
          id: z.string(),
          title: z.string().optional(),
          why: z.string().optional(),
          from: z.string().optional(),
          iteration: count.optional(),
          state: z.enum(DISCOVERY_STATES).optional(),
          storyId: z.string().optional(),
          storyFile: z.string().optional(),
        }),
      )
      .optional(),
    lastIteration: z
      .object({
        number: count,
        outcome: z.enum(ITERATION_OUTCOMES),
        storyId: z.string().optional(),
      })
      .optional(),
    lastCompletedStory: z.string().optional(),
    outcome: z.enum(RUN_OUTCOMES).optional(),
    exitCode: z.number().int().optional(),
    detail: words.optional(),
    workBranch: z.string().optional(),
    uncommittedBefore: z.array(z.string()).optional(),
    untrackedBefore: z.array(z.string()).optional(),
    duplicates: z
      .object({
        iteration: count,
        found: duplicates,
      })
      .optional(),
    branchLeft: z
      .object({ iteration: count, found: z.string(), broughtBack: z.boolean() })
      .optional(),
    lostCommits: z
      .array(z.object({ hash: z.string(), subject: z.string(), storyId: z.string() }))
      .optional(),
    uncommitted: uncommitted.optional(),
    open: z.array(z.string()).optional(),
    circle: z.array(z.string()).optional(),
    putAside: count.optional(),
    aside: z
      .array(z.object({ id: z.string(), on: z.string(), status: z.string().optional() }))
      .optional(),
    rolledBack: z
      .object({ iteration: count, commit: z.string(), of: z.string().optional() })
      .optional(),
    lastSeq: count,
  } satisfies FieldsOf<RunState>);
});

type StoredState = z.infer<ReturnType<typeof runStateSchema>>;

/** Converts a state to the form that {@link runStateSchema} reads. */
export function toStored(state: RunState): unknown {
  const iteration = (of: CurrentIteration) => ({ ...of, handled: [...of.handled] });
  return {
    ...state,
    running: state.running.map(iteration),
    cutOff: state.cutOff.map(iteration),
    limits: [...state.limits],
    laneStories: [...state.laneStories],
    storyNotes: [...state.storyNotes],
    storyRecords: [...state.storyRecords],
  };
}

export function fromStored(stored: StoredState): RunState {
  const iteration = ({ handled, ...of }: StoredState['running'][number]) => ({
    ...of,
    handled: new Map(handled),
  });
  // JSON omits properties with the value `undefined`, so these fields must be optional.
  return {
    ...stored,
    running: stored.running.map(iteration),
    cutOff: stored.cutOff.map(iteration),
    limits: new Map(stored.limits),
    laneStories: new Map(stored.laneStories),
    storyNotes: new Map(stored.storyNotes),
    storyRecords: new Map(stored.storyRecords),
  } as RunState;
}
