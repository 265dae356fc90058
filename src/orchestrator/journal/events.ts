import * as z from 'zod';
import { jsonOf } from '../../base/jsonOf.ts';
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
 * The run whose first event a line is, as {@link parseRunEvent} reads it. The schema is only asked about lines with
 * unusual fields: many commands want to know this, and creating it would take longer than everything else that they do.
 * @returns `undefined` if it is not the start of a run
 */
export function startedRunId(line: string): string | undefined {
  const event = jsonOf(line);
  if (!isFields(event) || event['type'] !== 'run.started') {
    return undefined;
  }
  const has = (isKind: IsKind, ...names: string[]) => names.every(name => isKind(event[name]));
  const may = (isKind: IsKind, ...names: string[]) =>
    names.every(name => event[name] === undefined || isKind(event[name]));
  const isUsual =
    has(isText, 'agent', 'at', 'runId', 'task', 'version') &&
    has(isPositive, 'maxIterations', 'seq', 'stuckThreshold') &&
    has(Number.isSafeInteger, 'pid') &&
    has(mode => (RUN_MODES as readonly unknown[]).includes(mode), 'mode') &&
    has(isStoryCount, 'stories') &&
    may(isText, 'branch', 'model', 'planDir', 'startCommit', 'startId', 'storyFile') &&
    may(isPositive, 'lanes') &&
    may(is => typeof is === 'boolean', 'isolated', 'reviewer', 'withoutTokens') &&
    may(list => Array.isArray(list) && list.every(isText), 'onlyStories', 'verify') &&
    may(isFields, 'settings') &&
    may(usd => Number.isFinite(usd) && Number(usd) > 0, 'budgetUsd') &&
    may(payer => payer === 'apiKey' || payer === 'login', 'payer') &&
    may(then => then === 'continue' || then === 'stopAfterIteration', 'onLastWindow') &&
    event['prepare'] === undefined;
  if (isUsual) {
    return String(event['runId']);
  }
  const parsed = parseRunEvent(line);
  return parsed?.type === 'run.started' ? parsed.runId : undefined;
}

type IsKind = (value: unknown) => boolean;

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isPositive(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isStoryCount(value: unknown): boolean {
  const counts = isFields(value) ? [value['done'], value['total']] : [undefined];
  return counts.every(count => count === 0 || isPositive(count));
}
