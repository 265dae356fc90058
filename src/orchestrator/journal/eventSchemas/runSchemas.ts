import * as z from 'zod';
import { PAUSE_REASONS, RUN_MODES, RUN_OUTCOMES, STOP_MODES, STOP_SOURCES } from '../eventCodes.ts';
import { eventFields } from './fields.ts';

/** Of the run as a whole: its start and end, its plan, and what people ask of it. */
export function runSchemas() {
  const { header, iteration, loop, storyCount, uncommitted } = eventFields();
  return [
    z.looseObject({
      ...header,
      ...loop,
      type: z.literal('run.started'),
      runId: z.string(),
      mode: z.enum(RUN_MODES),
      task: z.string(),
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
      /** Of plan mode: the folder with plan.md, relative to the workspace. */
      planDir: z.string().optional(),
      startCommit: z.string().optional(),
    }),
    /** A run that had ended goes on, in its own journal, at the next iteration. */
    z.looseObject({ ...header, ...loop, type: z.literal('run.resumed') }),
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
      /** Its name, when it came by one. */
      signal: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('run.ended'),
      outcome: z.enum(RUN_OUTCOMES),
      exitCode: z.number().int(),
      /** What exactly, in the agent's or the system's words; data, not a sentence of ours. */
      detail: z.string().optional(),
      /** Of `noReadyStory`: ids of the stories that are left. */
      open: z.array(z.string()).optional(),
      /** Of `noReadyStory`: ids of stories that wait for each other, the first one again at the end. */
      circle: z.array(z.string()).optional(),
      uncommitted: uncommitted.optional(),
      stories: storyCount,
      iterations: z.number().int().nonnegative(),
    }),
    /** A person took the files back to what they were before an iteration, by a new commit. */
    z.looseObject({
      ...header,
      type: z.literal('run.rolledBack'),
      /** Of the run `of`, or of this one. */
      iteration,
      of: z.string().optional(),
      /** The commit that brought the files back. */
      commit: z.string(),
    }),
  ] as const;
}
