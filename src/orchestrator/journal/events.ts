import * as z from 'zod';
import { once } from '../../base/once.ts';
import { agentSchemas } from './eventSchemas/agentSchemas.ts';
import { iterationSchemas } from './eventSchemas/iterationSchemas.ts';
import { runSchemas } from './eventSchemas/runSchemas.ts';
import { storySchemas } from './eventSchemas/storySchemas.ts';

/**
 * The journal's vocabulary: one {@link RunEvent} a line, codes and data only. Views make sentences of
 * them. Objects are loose, so that fields a newer loop adds survive an older reader.
 *
 * Made by the first event that is read: a loop reads none, and to make it is a good part of a program's start.
 */
export const runEventSchema = once(() =>
  z.discriminatedUnion('type', [
    ...runSchemas(),
    ...iterationSchemas(),
    ...agentSchemas(),
    ...storySchemas(),
  ]),
);

export type RunEvent = z.infer<ReturnType<typeof runEventSchema>>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown
  ? { [P in keyof T as P extends K ? never : string extends P ? never : P]: T[P] }
  : never;
/** An event before the journal has given it its number and time. */
export type RunEventBody = DistributiveOmit<RunEvent, 'seq' | 'at'>;

/**
 * Reads one line of a journal.
 * @returns `undefined` for a line that is no event this version knows: torn, foreign, or newer
 */
export function parseRunEvent(line: string): RunEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const parsed = runEventSchema().safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
