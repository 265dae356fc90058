import type { RunEvent } from '../../orchestrator/journal/events.ts';
import {
  orderViolations,
  type RunMetrics,
  runMetrics,
} from '../../orchestrator/journal/runMetrics.ts';
import { type Measure, measures, orderWords } from '../../presentation/measures.ts';
import type { Translate } from '../../presentation/translate.ts';
import type { ShownMeasure, ShownMeasures } from './protocol.ts';

/** Violations are listed up to this number; more of them say nothing new. */
const MAX_VIOLATIONS = 5;
/** Shown instead of a number that cannot be known. */
const UNKNOWN = '–';

export interface Comparison {
  /** Earlier runs of the folder, oldest first. */
  readonly earlier: readonly RunMetrics[];
  /** The stories of now, for their dependencies. */
  readonly stories: readonly { readonly id: string; readonly dependsOn: readonly string[] }[];
}

/**
 * How well the agents of a run were led, compared with earlier runs. Absent before the end of the first iteration. Pure.
 */
export function shownMeasures(
  events: readonly RunEvent[],
  { earlier, stories }: Comparison,
  t: Translate,
): ShownMeasures | undefined {
  const run = runMetrics(events);
  if (run === undefined || run.iterations === 0) {
    return undefined;
  }
  const done = [...earlier, run].flatMap(one => one.done);
  return {
    hasEarlier: earlier.length > 0,
    rows: measures(t).map(measure => shownMeasure(measure, run, earlier)),
    order: orderWords(orderViolations(done, stories).slice(0, MAX_VIOLATIONS), t),
  };
}

function shownMeasure(
  { goal, title, valueIn, wordsFor }: Measure,
  run: RunMetrics,
  earlier: readonly RunMetrics[],
): ShownMeasure {
  const now = valueIn(run);
  const known = earlier.flatMap(one => valueIn(one) ?? []);
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const all = now === undefined ? known : [...known, now];
  const top = Math.max(...all, Number.MIN_VALUE);
  return {
    title,
    now: now === undefined ? UNKNOWN : wordsFor(now),
    before: known.length === 0 ? UNKNOWN : wordsFor(mean),
    goal: goal ?? '',
    trend: all.length < 2 ? [] : all.map(value => Math.round((value / top) * 100) / 100),
  };
}
