import * as z from 'zod';
import { eventFields } from './fields.ts';

/** Events of work that agents found outside of their stories. */
export function discoverySchemas() {
  const { header, iteration } = eventFields();
  const id = z.string();
  return [
    /** An agent has reported it in its answer. It is no story until a person, or a setting, accepts it. */
    z.looseObject({
      ...header,
      type: z.literal('discovery.reported'),
      id,
      title: z.string(),
      why: z.string().optional(),
      /** The story that the agent worked on. */
      storyId: z.string().optional(),
      iteration,
    }),
    /** A person has given it another title. */
    z.looseObject({ ...header, type: z.literal('discovery.edited'), id, title: z.string() }),
    /** It is to become a story. Its journal may be another one than that of the report. */
    z.looseObject({
      ...header,
      type: z.literal('discovery.accepted'),
      id,
      /** What the report says, with the title as a person has edited it. */
      title: z.string().optional(),
      why: z.string().optional(),
      storyId: z.string().optional(),
      by: z.enum(['person', 'setting']),
    }),
    /** It is in the story file now. */
    z.looseObject({
      ...header,
      type: z.literal('discovery.added'),
      id,
      /** Its id there. */
      storyId: z.string(),
      /** The story file, relative to the workspace. */
      storyFile: z.string().optional(),
    }),
    /** The story file has no place for it: a person has to write it there. */
    z.looseObject({
      ...header,
      type: z.literal('discovery.refused'),
      id,
      reason: eventFields().words,
    }),
    z.looseObject({ ...header, type: z.literal('discovery.dropped'), id }),
  ] as const;
}
