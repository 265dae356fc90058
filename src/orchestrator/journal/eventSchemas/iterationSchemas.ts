import * as z from 'zod';
import { ITERATION_OUTCOMES } from '../eventCodes.ts';
import { eventFields } from './fields.ts';

/** Of an iteration: its two ends, and how its work was judged in between. */
export function iterationSchemas() {
  const { header, iteration, storyCount, uncommitted, usage } = eventFields();
  return [
    z.looseObject({
      ...header,
      type: z.literal('iteration.started'),
      iteration,
      maxIterations: z.number().int().positive(),
      storyId: z.string().optional(),
      storyTitle: z.string().optional(),
      stories: storyCount,
      startCommit: z.string().optional(),
      /** The one that the iteration is to work on; '' for a detached HEAD. */
      branch: z.string().optional(),
      /** Of a run's first iteration: files that somebody else had not committed, relative to the repository's root. */
      uncommitted: z.array(z.string()).optional(),
      /** Where the story file leads when it is a link. */
      storyLink: z.string().optional(),
      promptBytes: z.number().int().nonnegative(),
      /** What the prompt is made of; tokens are estimated. */
      promptSections: z.array(z.looseObject({ name: z.string(), tokens: z.number() })).optional(),
      handoffBytes: z.number().int().nonnegative(),
      /** Iterations in a row that this story has already taken without progress. */
      stuckFor: z.number().int().nonnegative(),
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
          /** What stands in place of the story file, and where it leads when it is a link. */
          by: z.string().optional(),
          target: z.string().optional(),
        }),
      ),
      restored: z.boolean(),
      /** The agent's version of the file, relative to the workspace. */
      keptAside: z.string().optional(),
    }),
    /** An iteration left its work elsewhere than on the run's branch. */
    z.looseObject({
      ...header,
      type: z.literal('branch.left'),
      iteration,
      /** Of the run; '' for a detached HEAD. */
      branch: z.string(),
      /** Where HEAD was found; '' when it is detached, or there is no repository any more. */
      found: z.string(),
      /** Made there, the newest first. */
      commits: z.array(z.looseObject({ hash: z.string(), subject: z.string() })),
      /** HEAD and these commits are on the run's branch again; else the run ends. */
      broughtBack: z.boolean(),
      /** Why not: one of the codes in docs/journal.md. */
      reason: z.string().optional(),
      /** In git's words. */
      detail: z.string().optional(),
    }),
    /** Commits of stories that are done are missing from the branch; or none is any more. */
    z.looseObject({
      ...header,
      type: z.literal('commits.lost'),
      /** The last one that has begun; 0 before the first. */
      iteration: z.number().int().nonnegative(),
      /** '' for a detached HEAD. */
      branch: z.string(),
      /** All that are missing now, the newest first. */
      commits: z.array(
        z.looseObject({ hash: z.string(), subject: z.string(), storyId: z.string() }),
      ),
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
      /** The folder of the cgroup that its processes are in, where the system has one. */
      cgroup: z.string().optional(),
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
      /** Its story is done, and these changes are in no commit. */
      uncommitted: uncommitted.optional(),
      /** A commit, a story or a criterion changed; absent in journals of 0.1. */
      progress: z.boolean().optional(),
      stories: storyCount,
    }),
  ] as const;
}
