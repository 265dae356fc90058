import * as z from 'zod';
import { ITERATION_OUTCOMES } from '../eventCodes.ts';
import { eventFields } from './fields.ts';

/** Events of an iteration: its start and end, and how its work was judged. */
export function iterationSchemas() {
  const { check, duplicates, guarded, header, iteration, storyCount, uncommitted, usage, words } =
    eventFields();
  // The fields of a line keep the order that they have in older journals.
  const { command, ...checked } = check;
  return [
    z.looseObject({
      ...header,
      type: z.literal('iteration.started'),
      iteration,
      maxIterations: z.number().int().positive(),
      storyId: z.string().optional(),
      storyTitle: z.string().optional(),
      /** What the story chooses for its agent, instead of the run's settings. */
      model: z.string().optional(),
      effort: z.string().optional(),
      maxTurns: z.number().int().positive().optional(),
      /** The lane of its agent, from 1; absent if it works in the user's tree. */
      lane: z.number().int().positive().optional(),
      stories: storyCount,
      startCommit: z.string().optional(),
      /** The branch the iteration must work on; '' for a detached HEAD. */
      branch: z.string().optional(),
      /**
       * In a run's first iteration: files that had uncommitted changes before, relative to the repository's root.
       */
      uncommitted: z.array(z.string()).optional(),
      /** In a run's first iteration: files that git did not track before, each of them, relative to the repository's root. */
      untracked: z.array(z.string()).optional(),
      /** The target of the story file if it is a link. */
      storyLink: z.string().optional(),
      /** The story file of which a copy is kept until the iteration is judged. */
      storyFileHash: z.string().optional(),
      promptBytes: z.number().int().nonnegative(),
      /** The sections of the prompt; tokens are estimated. */
      promptSections: z.array(z.looseObject({ name: z.string(), tokens: z.number() })).optional(),
      /** The files of the code that the prompt names, relative to the agent's folder, and why. */
      code: z.array(z.looseObject({ path: z.string(), reason: z.string() })).optional(),
      handoffBytes: z.number().int().nonnegative(),
      /** Number of consecutive iterations of this story without progress. */
      stuckFor: z.number().int().nonnegative(),
    }),
    /** An iteration changed something it must not change. */
    z.looseObject({
      ...header,
      type: z.literal('guard.found'),
      iteration,
      changes: guarded,
      restored: z.boolean(),
      /** The agent's version of the file, relative to the workspace. */
      keptAside: z.string().optional(),
    }),
    /** An iteration left its work on a branch other than the run's. */
    z.looseObject({
      ...header,
      type: z.literal('branch.left'),
      iteration,
      /** The run's branch; '' for a detached HEAD. */
      branch: z.string(),
      /** The branch HEAD was on; '' if it was detached, or the repository is gone. */
      found: z.string(),
      /** Commits made there, newest first. */
      commits: z.array(z.looseObject({ hash: z.string(), subject: z.string() })),
      /** Commits of the run's branch, which was deleted and created again without them; newest first. */
      onNoBranch: z.array(z.looseObject({ hash: z.string(), subject: z.string() })).optional(),
      /** HEAD and these commits are on the run's branch again; otherwise the run ends. */
      broughtBack: z.boolean(),
      /** Why they were not: one of the codes in docs/journal.md. */
      reason: z.string().optional(),
      /** Git's message. */
      detail: words.optional(),
    }),
    /** Commits of done stories are missing from the branch, or none is missing any more. */
    z.looseObject({
      ...header,
      type: z.literal('commits.lost'),
      /** The last iteration that has started; 0 before the first. */
      iteration: z.number().int().nonnegative(),
      /** '' for a detached HEAD. */
      branch: z.string(),
      /** All commits that are missing now, newest first. */
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
    /** A command of the gate is running. */
    z.looseObject({
      ...header,
      type: z.literal('check.started'),
      iteration,
      command: z.string(),
      pid: z.number().int().positive(),
      startId: z.string().optional(),
      /** The folder of the cgroup that contains its processes, if the system has cgroups. */
      cgroup: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('check.ended'),
      iteration,
      command,
      ok: z.boolean(),
      ...checked,
    }),
    z.looseObject({
      ...header,
      type: z.literal('gate.ended'),
      iteration,
      green: z.boolean(),
      storyId: z.string().optional(),
    }),
    /** A reviewer has judged the claim. */
    z.looseObject({
      ...header,
      type: z.literal('review.ended'),
      iteration,
      storyId: z.string(),
      approved: z.boolean(),
      objections: z.array(words),
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
    /** New code of an iteration was compared with the code of the project before it. */
    z.looseObject({
      ...header,
      type: z.literal('duplicates.found'),
      iteration,
      storyId: z.string().optional(),
      /** New functions and files; with none there is no event. */
      looked: z.number().int().positive(),
      /** At most 20. */
      duplicates,
    }),
    z.looseObject({
      ...header,
      type: z.literal('promise.seen'),
      iteration,
      signal: z.enum(['complete', 'needsHuman', 'blocked']),
      message: z.string(),
      /** A `complete` that contradicts the files is not accepted. */
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
      /** At least one of its calls is estimated. */
      costEstimated: z.boolean().optional(),
      turns: z.number().int().nonnegative().optional(),
      usage: usage.optional(),
      commits: z.number().int().nonnegative(),
      /** Its story is done, and these changes are not committed. */
      uncommitted: uncommitted.optional(),
      /** A commit, a story or a criterion changed; absent in journals of 0.1. */
      progress: z.boolean().optional(),
      stories: storyCount,
    }),
  ] as const;
}
