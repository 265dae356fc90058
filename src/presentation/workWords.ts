import { atWork } from '../orchestrator/journal/atWork.ts';
import { type CurrentIteration, isCandidate } from '../orchestrator/journal/currentIteration.ts';
import { type Doing, doingOf } from '../orchestrator/journal/doing.ts';
import type { ReturnedWork } from '../orchestrator/journal/returnedWork.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import { span, type Translate } from './translate.ts';

const MINUTE_MS = 60_000;

/** How many stories are at work, are landing, and wait for a usage limit; without those that are none. */
export function workCounts(state: Pick<RunState, 'limits' | 'running'>, t: Translate): string[] {
  const { landing, limited, working } = atWork(state);
  return [
    ...(working.length > 0 ? [t('{0} at work', working.length)] : []),
    ...(landing.length > 0 ? [t('{0} landing', landing.length)] : []),
    ...(limited.length > 0 ? [t('{0} waiting for the limit', limited.length)] : []),
  ];
}

/** What an agent does now, in the third person. */
export function doingWords(doing: Doing | undefined, t: Translate): string {
  const words: Readonly<Record<Doing, string>> = {
    tests: t('runs tests'),
    commands: t('runs commands'),
    edits: t('edits files'),
    reads: t('reads files'),
    web: t('reads the web'),
  };
  return doing === undefined ? t('works') : words[doing];
}

/** Whole minutes since an event; 0 if its time is unknown or later. @param at ISO 8601 @param now in ms since the epoch */
export function minutesSince(at: string, now: number): number {
  return Math.max(0, Math.floor((now - Date.parse(at)) / MINUTE_MS)) || 0;
}

/** Like {@link minutesSince}, as words; none within the first minute. */
export function minuteWords(at: string, now: number, t: Translate): string[] {
  const minutes = minutesSince(at, now);
  return minutes === 0 ? [] : [span(minutes * MINUTE_MS, t)];
}

/** Why work did not land, in a few words. */
export function returnedWords({ reason }: ReturnedWork, t: Translate): string {
  const words: Readonly<Record<typeof reason, string>> = {
    conflict: t('returned · conflict'),
    checks: t('returned · checks failed'),
    review: t('returned · reviewer objects'),
    other: t('returned'),
  };
  return words[reason];
}

/**
 * A running iteration as one of several: what its agent does, in which lane and for how long, or where its work is on the
 * way to the branch. @param now in ms since the epoch
 */
export function laneWords(
  current: CurrentIteration,
  state: Pick<RunState, 'limits'>,
  now: number,
  t: Translate,
): string {
  const { activity, lane, number, queued, startedAt, step } = current;
  if (lane === undefined) {
    return stepWords(current, state, t);
  }
  if (queued) {
    return isCandidate(current) ? landingWords(step, t) : t('waits to land');
  }
  return [
    // First what changes: a narrow side bar cuts off the rest.
    state.limits.has(number) ? t('waits for the usage limit') : doingWords(doingOf(activity), t),
    t('lane {0}', lane),
    ...minuteWords(startedAt, now, t),
  ].join(' · ');
}

/** What is to land is being checked or reviewed, or lands. */
export function landingWords(step: CurrentIteration['step'], t: Translate): string {
  return step === 'gate'
    ? t('landing · checks run')
    : step === 'review'
      ? t('landing · under review')
      : t('landing');
}

/** Who is working on a running iteration now. */
export function stepWords(
  { number, step }: Pick<CurrentIteration, 'number' | 'step'>,
  { limits }: Pick<RunState, 'limits'>,
  t: Translate,
): string {
  if (limits.has(number)) {
    return t('the agent waits');
  }
  const words: Readonly<Record<NonNullable<typeof step>, string>> = {
    gate: t('the checks run'),
    review: t('the reviewer checks the work'),
    queue: t('the work waits to land'),
    agent: t('the agent works'),
  };
  return words[step ?? 'agent'];
}
