import * as z from 'zod';
import { PAUSE_REASONS, RUN_MODES, RUN_OUTCOMES, STOP_MODES, STOP_SOURCES } from '../eventCodes.ts';
import { eventFields } from './fields.ts';

/** Events of the run as a whole: start and end, plan, and requests from people. */
export function runSchemas() {
  const { header, iteration, loop, prepare, storyCount, uncommitted, words } = eventFields();
  return [
    /** The first event of a journal; `startedRunId` looks at some of its fields. */
    z.looseObject({
      ...header,
      ...loop,
      type: z.literal('run.started'),
      runId: z.string(),
      mode: z.enum(RUN_MODES),
      task: z.string(),
      prepare: prepare.optional(),
      /** Relative to the workspace; absent in free-form mode. */
      storyFile: z.string().optional(),
      /** Ids of the stories that the run works on; absent: all. */
      onlyStories: z.array(z.string()).optional(),
      /** In plan mode: the folder with plan.md, relative to the workspace. */
      planDir: z.string().optional(),
      startCommit: z.string().optional(),
    }),
    /** A run that had ended continues, in the same journal, with the next iteration. */
    z.looseObject({ ...header, ...loop, type: z.literal('run.resumed') }),
    /** A planning agent wrote the stories of this run; its calls precede this event. */
    z.looseObject({
      ...header,
      type: z.literal('plan.written'),
      /** Relative to the workspace. */
      storyFile: z.string(),
      stories: z.number().int().nonnegative(),
      attempts: z.number().int().positive(),
      /** Where the previous stories are archived. */
      archived: z.string().optional(),
      costUsd: z.number().nonnegative().optional(),
    }),
    /** The planning agent's draft was invalid; its next prompt lists the problems. */
    z.looseObject({
      ...header,
      type: z.literal('plan.refused'),
      attempt: z.number().int().positive(),
      problems: z.array(words),
    }),
    z.looseObject({
      ...header,
      type: z.literal('pause.started'),
      reason: z.enum(PAUSE_REASONS),
      storyId: z.string().optional(),
      /** The agent's question, or the number of iterations without progress. */
      detail: z.string().optional(),
      /** Ids of the stories that a person has paused, if no other one can be worked on. */
      stories: z.array(z.string()).optional(),
      /** Those among them whose conflict a person settles. */
      settling: z.array(z.string()).optional(),
      /** Lanes that a person has paused, if there is no other one. */
      lanes: z.array(z.number().int().positive()).optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('pause.ended'),
      /** `change`: something else can continue; what the run waited for is still open. */
      by: z.enum(['person', 'change', 'stop']),
    }),
    /** A person asked the run to wait after this iteration. */
    z.looseObject({ ...header, type: z.literal('pause.requested') }),
    z.looseObject({
      ...header,
      type: z.literal('hint.given'),
      text: z.string(),
      /** Only the agents of this story get the hint, until it is done; otherwise all following agents get it. */
      storyId: z.string().optional(),
      /** The id of a hint that was waiting in a file; the next iteration to start is the first that gets it. */
      id: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('question.answered'),
      question: z.string(),
      answer: z.string(),
      storyId: z.string().optional(),
    }),
    /** A problem that does not end the run; `code` is one of those in docs/journal.md. */
    z.looseObject({
      ...header,
      type: z.literal('warning'),
      code: z.string(),
      detail: words,
      iteration: iteration.optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('stop.requested'),
      by: z.enum(STOP_SOURCES),
      mode: z.enum(STOP_MODES),
      /** The signal's name, if the request came by a signal. */
      signal: z.string().optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('run.ended'),
      outcome: z.enum(RUN_OUTCOMES),
      exitCode: z.number().int(),
      /** The details: a sentence of ours, or the words of the agent or the system. */
      detail: words.optional(),
      /** For `noReadyStory`: ids of the stories that are left. */
      open: z.array(z.string()).optional(),
      /** For `noReadyStory`: ids of stories that form a cycle; the first one is repeated at the end. */
      circle: z.array(z.string()).optional(),
      /** For `noReadyStory`: how many stories the file has put aside. */
      putAside: z.number().int().nonnegative().optional(),
      /** For `noReadyStory`: stories that wait for one that is put aside. */
      aside: z
        .array(z.object({ id: z.string(), on: z.string(), status: z.string().optional() }))
        .optional(),
      /** For `noReadyStory`: stories that wait for one that the story file does not have. */
      unknown: z
        .array(
          z.object({
            id: z.string(),
            on: z.string(),
            others: z.array(z.string()).readonly().optional(),
            file: z.string().optional(),
            line: z.number(),
          }),
        )
        .optional(),
      /** For `noReadyStory`: ids of stories that were removed from the file before they were done. */
      gone: z.array(z.string()).optional(),
      /** Ids that several stories of the file have. */
      sharedIds: z.array(z.string()).optional(),
      uncommitted: uncommitted.optional(),
      /** HEAD, if an iteration is not judged yet: later commits are not its work. '' before the first commit. */
      head: z.string().optional(),
      stories: storyCount,
      iterations: z.number().int().nonnegative(),
    }),
    /** A person restored the files of an earlier iteration with a new commit. */
    z.looseObject({
      ...header,
      type: z.literal('run.rolledBack'),
      /** An iteration of the run `of`, or of this run. */
      iteration,
      of: z.string().optional(),
      /** The commit that restored the files. */
      commit: z.string(),
      /** The stories whose work it took back: what was proven for them is gone. */
      storyIds: z.array(z.string()).optional(),
    }),
  ] as const;
}
