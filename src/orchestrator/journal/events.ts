import * as z from 'zod';
import { once } from '../../base/once.ts';
import { agentSchemas } from './eventSchemas/agentSchemas.ts';
import { discoverySchemas } from './eventSchemas/discoverySchemas.ts';
import { iterationSchemas } from './eventSchemas/iterationSchemas.ts';
import { landingSchemas } from './eventSchemas/landingSchemas.ts';
import { runSchemas, runStartedSchema } from './eventSchemas/runSchemas.ts';
import { storySchemas } from './eventSchemas/storySchemas.ts';

/**
 * The vocabulary of the journal: one {@link RunEvent} per line, only codes and data. Views turn them into
 * sentences. Objects are loose, so that an older reader keeps the fields that a newer loop adds.
 *
 * Created lazily, when the first event is parsed: a loop parses none, and creating the schema takes a large part of
 * a program's start-up time.
 */
export const runEventSchema = once(() =>
  z.discriminatedUnion('type', [
    ...runSchemas(),
    ...iterationSchemas(),
    ...agentSchemas(),
    ...storySchemas(),
    ...discoverySchemas(),
    ...landingSchemas(),
  ]),
);

export type RunEvent = z.infer<ReturnType<typeof runEventSchema>>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown
  ? { [P in keyof T as P extends K ? never : string extends P ? never : P]: T[P] }
  : never;
/** An event before the journal assigns its number and time. */
export type RunEventBody = DistributiveOmit<RunEvent, 'seq' | 'at'>;

/**
 * Parses one line of a journal.
 * @returns `undefined` for a line that this version does not recognize as an event: torn, foreign, or newer
 */
export function parseRunEvent(line: string): RunEvent | undefined {
  return parsed(line, runEventSchema);
}

/**
 * Parses the first line of a journal. It says less than {@link parseRunEvent}, for a small part of its start-up time.
 * @returns `undefined` if it is not the start of a run
 */
export function parseRunStarted(
  line: string,
): Extract<RunEvent, { type: 'run.started' }> | undefined {
  return parsed(line, runStartedSchema);
}

function parsed<T>(line: string, schema: () => z.ZodType<T>): T | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const result = schema().safeParse(value);
  return result.success ? result.data : undefined;
}
