import * as z from 'zod';
import { once } from '../../base/once.ts';
import { RUN_MODES } from './eventCodes.ts';
import { agentSchemas } from './eventSchemas/agentSchemas.ts';
import { discoverySchemas } from './eventSchemas/discoverySchemas.ts';
import { iterationSchemas } from './eventSchemas/iterationSchemas.ts';
import { landingSchemas } from './eventSchemas/landingSchemas.ts';
import { runSchemas } from './eventSchemas/runSchemas.ts';
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
  const result = runEventSchema().safeParse(jsonOf(line));
  return result.success ? result.data : undefined;
}

/**
 * The run whose first event a line is. Looks only at the fields that {@link parseRunEvent} requires: many commands ask
 * this, and creating the schemas would take longer than everything else that they do.
 * @returns `undefined` if it is not the start of a run
 */
export function startedRunId(line: string): string | undefined {
  const event = fieldsOf(jsonOf(line));
  const { agent, at, maxIterations, mode, pid, runId, seq, stuckThreshold, task, version } = event;
  const { done, total } = fieldsOf(event['stories']);
  const isStart =
    event['type'] === 'run.started' &&
    (RUN_MODES as readonly unknown[]).includes(mode) &&
    [agent, at, task, version].every(text => typeof text === 'string') &&
    [pid, done, total].every(Number.isSafeInteger) &&
    [maxIterations, seq, stuckThreshold].every(
      count => Number.isSafeInteger(count) && (count as number) > 0,
    );
  return isStart && typeof runId === 'string' ? runId : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
