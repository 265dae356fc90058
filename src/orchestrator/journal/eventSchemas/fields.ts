import * as z from 'zod';
import { once } from '../../../base/once.ts';
import { DUPLICATE_KINDS } from '../eventCodes.ts';
import { wordsSchema } from '../words.ts';

/** Fields that several events share. */
export const eventFields = once(() => {
  const storyCount = z.looseObject({
    done: z.number().int().nonnegative(),
    total: z.number().int().nonnegative(),
  });
  /** A file relative to the repository's root, and a line of it from 1. */
  const definition = { file: z.string(), line: z.number().int().positive(), name: z.string() };
  const check = {
    command: z.string(),
    exitCode: z.number().int().optional(),
    timedOut: z.boolean(),
    durationMs: z.number().nonnegative(),
    /** The end of its output; the folder of the iteration, or of the run, has all of it. */
    outputTail: z.string(),
    /** Why it could not be started. */
    problem: wordsSchema().optional(),
  };
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
    /** A command of the gate that has ended. */
    check,
    /** What repeats something. */
    duplicates: z.array(
      z.looseObject({
        /** What is the same: the name of a function, its body, or a whole file. */
        kind: z.enum(DUPLICATE_KINDS),
        ...definition,
        other: z.looseObject(definition),
      }),
    ),
    /** What an iteration must not change, and has changed. */
    guarded: z.array(
      z.looseObject({
        kind: z.string(),
        storyId: z.string().optional(),
        before: z.string().optional(),
        after: z.string().optional(),
        text: z.string().optional(),
        problem: wordsSchema().optional(),
        /** What has replaced the story file, and its target if it is a link. */
        by: z.string().optional(),
        target: z.string().optional(),
      }),
    ),
    /** How the stories are created before the first iteration. */
    prepare: z.discriminatedUnion('kind', [
      z.looseObject({ kind: z.literal('plan') }),
      z.looseObject({ kind: z.literal('tasks'), tasks: z.array(z.string()) }),
    ]),
    /** Calls of the planning agent precede the first iteration and have the number 0. */
    callOf: {
      iteration: z.number().int().nonnegative(),
      purpose: z.enum(['story', 'plan', 'review']).optional(),
    },
    /** Files that are not committed at the end of a story or a run. */
    uncommitted: z.looseObject({
      /** Stories that are done without a commit; empty if all have one, and agents forgot these files. */
      storyIds: z.array(z.string()),
      /** Relative to the repository's root; the first few only. */
      files: z.array(z.string()),
      /** Number of files that are not listed. */
      more: z.number().int().positive().optional(),
      /** Absolute path of the lock file that keeps git from committing. */
      lock: z.string().optional(),
      /** What is free on the disk, if it is so little that it may keep git from committing. */
      bytesFree: z.number().int().nonnegative().optional(),
      /** HEAD then: later commits may have the files. Absent in older journals and before the first commit. */
      head: z.string().optional(),
    }),
    /** Absent in older journals: then it is the current iteration. */
    ofCall: { iteration: z.number().int().nonnegative().optional() },
    error: z.looseObject({ kind: z.string(), message: wordsSchema() }),
    /** A sentence of ours, or a text of somebody else. */
    words: wordsSchema(),
    /** The loop's process and its options, for a run that starts or continues. */
    loop: {
      /** Version of the program that wrote this journal. */
      version: z.string(),
      pid: z.number().int(),
      /** Distinguishes this process from a later one with the same pid. */
      startId: z.string().optional(),
      agent: z.string(),
      model: z.string().optional(),
      maxIterations: z.number().int().positive(),
      /** Iterations that may run in parallel; absent: one. */
      lanes: z.number().int().positive().optional(),
      /** Agents work in places of their own, and their work lands on `branch`. */
      isolated: z.boolean().optional(),
      stuckThreshold: z.number().int().positive(),
      /** The run's budget in US dollars; absent without one. */
      budgetUsd: z.number().positive().optional(),
      /**
       * `apiKey`: the environment has a key, so the API account is billed; `login`: the account that is logged in.
       */
      payer: z.enum(['apiKey', 'login']).optional(),
      /** Commands that a claim must pass. */
      verify: z.array(z.string()).optional(),
      /** A reviewer must approve a claim as well. */
      reviewer: z.boolean().optional(),
      /** The settings from the command line that the run may reuse when it continues. */
      settings: z.record(z.string(), z.unknown()).optional(),
      onLastWindow: z.enum(['continue', 'stopAfterIteration']).optional(),
      /** Agents get no token of GitHub, because the stories are issues, or may be. */
      withoutTokens: z.boolean().optional(),
      stories: storyCount,
      branch: z.string().optional(),
    },
  };
});
