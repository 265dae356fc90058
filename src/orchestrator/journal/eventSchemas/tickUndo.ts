import * as z from 'zod';
import { once } from '../../../base/once.ts';

/** What a tick replaced in its story's entry, see `stories/edit/tickUndo.ts`. */
export const tickUndoSchema = once(() =>
  z.object({
    /** SHA-256 of the entry after the tick, hex. */
    entry: z.string().max(64),
    /** Relative to the start of the entry, in UTF-16 units. */
    edits: z
      .array(
        z.object({
          offset: z.number().int().nonnegative(),
          length: z.number().int().nonnegative(),
          content: z.string(),
        }),
      )
      .max(20)
      .readonly(),
  }),
);

export type TickUndo = z.infer<ReturnType<typeof tickUndoSchema>>;
