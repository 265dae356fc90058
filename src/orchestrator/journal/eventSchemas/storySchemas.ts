import * as z from 'zod';
import { eventFields } from './fields.ts';

/** Of single stories: what changed, what is done about one. */
export function storySchemas() {
  const { header, iteration } = eventFields();
  return [
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
      action: z.enum(['warn', 'later', 'skip', 'ask', 'stop']),
      /** Of `warn`: the one after which that was seen. */
      iteration: iteration.optional(),
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
  ] as const;
}
