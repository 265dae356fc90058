import * as z from 'zod';
import { eventFields } from './fields.ts';
import { tickUndoSchema } from './tickUndo.ts';

/** Events of single stories: changes, and how the run handles them. */
export function storySchemas() {
  const { header, iteration } = eventFields();
  return [
    z.looseObject({
      ...header,
      type: z.literal('story.skipped'),
      storyId: z.string(),
      by: z.enum(['person', 'stuck']),
    }),
    /** A person undoes a skip, or gives a failed or blocked story another chance. */
    z.looseObject({ ...header, type: z.literal('story.reset'), storyId: z.string() }),
    /** The number of iterations without progress has reached the threshold. */
    z.looseObject({
      ...header,
      type: z.literal('story.stuck'),
      storyId: z.string(),
      iterations: z.number().int().positive(),
      /** The action of the run. */
      action: z.enum(['warn', 'later', 'skip', 'ask', 'stop']),
      /** For `warn`: the iteration after which this was detected. */
      iteration: iteration.optional(),
    }),
    z.looseObject({
      ...header,
      type: z.literal('story.changed'),
      storyId: z.string(),
      done: z.boolean(),
      /**
       * `agent`: changed during an iteration; `outside`: changed by somebody else between iterations; `gate`,
       * `reviewer`: reset by the loop after a refused claim; `guard`: reset because the iteration was not assigned
       * this story; `skip`: reset because a person skipped it before its claim was judged.
       */
      by: z.enum(['agent', 'outside', 'gate', 'reviewer', 'guard', 'skip']),
      iteration: iteration.optional(),
    }),
    /**
     * The list has changed above stories without ids of their own: from now on, the journal knows them by these
     * numbers.
     */
    z.looseObject({
      ...header,
      type: z.literal('stories.renumbered'),
      moves: z.array(z.object({ from: z.string(), to: z.string() })),
      /** Numbers of stories that are not in the list any more. */
      gone: z.array(z.string()).optional(),
      iteration: iteration.optional(),
    }),
    /** A person ticked or unticked the story. */
    z.looseObject({
      ...header,
      type: z.literal('story.ticked'),
      storyId: z.string(),
      done: z.boolean(),
      /** What the tick replaced in the story's entry. */
      was: tickUndoSchema().optional(),
    }),
  ] as const;
}
