import * as z from 'zod';
import { once } from '../../../base/once.ts';

/** Fields that several events have alike. */
export const eventFields = once(() => {
  const storyCount = z.looseObject({
    done: z.number().int().nonnegative(),
    total: z.number().int().nonnegative(),
  });
  return {
    /** The first two of every event. */
    header: { seq: z.number().int().positive(), at: z.string() },
    iteration: z.number().int().positive(),
    storyCount,
    usage: z.looseObject({
      input: z.number(),
      output: z.number(),
      cacheRead: z.number(),
      cacheWrite: z.number(),
    }),
    /** Calls of the planning agent come before the first iteration and count as 0. */
    callOf: {
      iteration: z.number().int().nonnegative(),
      purpose: z.enum(['story', 'plan', 'review']).optional(),
    },
    /** Stories that are done without a commit, and what is in none. */
    uncommitted: z.looseObject({
      storyIds: z.array(z.string()),
      /** Relative to the repository's root; the first of them. */
      files: z.array(z.string()),
      /** So many are not named. */
      more: z.number().int().positive().optional(),
      /** Absolute path of the lock file that keeps git from committing. */
      lock: z.string().optional(),
    }),
    /** Absent in older journals: then it is the iteration that runs. */
    ofCall: { iteration: z.number().int().nonnegative().optional() },
    error: z.looseObject({ kind: z.string(), message: z.string() }),
    /** The loop's process, and what steers it: of a run that starts, and of one that goes on. */
    loop: {
      /** Version of the program that wrote this journal. */
      version: z.string(),
      pid: z.number().int(),
      /** Tells this process from a later one with the same pid. */
      startId: z.string().optional(),
      agent: z.string(),
      model: z.string().optional(),
      maxIterations: z.number().int().positive(),
      /** Iterations that may run at once; absent: one. */
      lanes: z.number().int().positive().optional(),
      stuckThreshold: z.number().int().positive(),
      /** What the run may cost, in US dollars; absent without a budget. */
      budgetUsd: z.number().positive().optional(),
      /** `apiKey`: the environment has a key, so the API account is billed; `login`: whoever is logged in. */
      payer: z.enum(['apiKey', 'login']).optional(),
      /** Commands that a claim must pass. */
      verify: z.array(z.string()).optional(),
      /** A reviewer must approve a claim as well. */
      reviewer: z.boolean().optional(),
      /** What the command line set, when the run may have it again without being told. */
      settings: z.record(z.string(), z.unknown()).optional(),
      onLastWindow: z.enum(['continue', 'stopAfterIteration']).optional(),
      stories: storyCount,
      branch: z.string().optional(),
    },
  };
});
