import type { RunEvent } from '../../orchestrator/journal/events.ts';
import type { IterationRow } from '../../orchestrator/journal/iterationRows.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { dollars, type Translate, wholeNumber } from '../../presentation/translate.ts';
import type { ShownCharts, ShownPoint } from './protocol.ts';

/** Above this number, points are narrower than a line. */
const MAX_POINTS = 60;

interface Ended {
  readonly number: number;
  /** Stories that are not done at the end of the point; absent without stories. */
  readonly left?: number;
  readonly costUsd: number;
  /** Part of the cost is an estimate. */
  readonly estimated: boolean;
}

/** Remaining stories and cost over the ended iterations; absent before the first one. Pure. */
export function shownCharts(
  state: RunState,
  events: readonly RunEvent[],
  rows: readonly IterationRow[],
  t: Translate,
): ShownCharts | undefined {
  const leftAt = storiesLeft(events);
  const ended: Ended[] = inOrderOfEnds(rows, events)
    .filter(({ outcome }) => outcome !== 'running' && outcome !== 'interrupted')
    .map(({ number, costEstimated = false, costUsd = 0 }) => {
      const left = leftAt.get(number);
      return { number, costUsd, estimated: costEstimated, left };
    });
  const last = ended.at(-1);
  if (last === undefined) {
    return undefined;
  }
  const iterationsUsd = ended.reduce((sum, { costUsd }) => sum + costUsd, 0);
  // Calls of the planning agent and of iterations that have not ended.
  const atWork = state.running.reduce((sum, { costUsd }) => sum + costUsd, 0);
  const before = Math.max(0, state.costUsd - iterationsUsd - atWork);
  const start = leftAt.get(0);
  const points = shownPoints({ ended, start, before, isolated: state.isolated === true }, t);
  const hasCost = before + iterationsUsd > 0;
  return {
    points,
    stories:
      start !== undefined
        ? storiesChart(
            start,
            last.left ?? start,
            state.isolated ? ended.length : last.number,
            points,
            t,
          )
        : undefined,
    ...(hasCost && {
      sum: sumChart({ sum: before + iterationsUsd, atWork }, state, last.number, t),
      cost: costChart(ended, points, t),
    }),
  };
}

/** Without lanes, that is the order of their numbers. */
function inOrderOfEnds(
  rows: readonly IterationRow[],
  events: readonly RunEvent[],
): readonly IterationRow[] {
  const ends = events.flatMap(event => (event.type === 'iteration.ended' ? event.iteration : []));
  const place = new Map(ends.map((iteration, at) => [iteration, at]));
  return [...rows].sort((a, b) => (place.get(a.number) ?? -1) - (place.get(b.number) ?? -1));
}

/** By iteration; 0 is the start of the run. */
function storiesLeft(events: readonly RunEvent[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const event of events) {
    if (event.type === 'run.started') {
      found.clear();
    }
    if (event.type === 'iteration.ended' || event.type === 'iteration.started') {
      const { done, total } = event.stories;
      if (total > 0) {
        if (event.type === 'iteration.ended') {
          found.set(event.iteration, total - done);
        }
        // Stories may have been planned after the run's start.
        if (!found.has(0)) {
          found.set(0, total - done);
        }
      }
    }
  }
  return found;
}

function shownPoints(
  {
    before,
    ended,
    isolated,
    start,
  }: {
    readonly ended: readonly Ended[];
    readonly start: number | undefined;
    readonly before: number;
    readonly isolated: boolean;
  },
  t: Translate,
): readonly ShownPoint[] {
  const size = Math.ceil(ended.length / MAX_POINTS);
  const points: ShownPoint[] = [
    {
      label: '0',
      left: start,
      sum: before,
      sumWords: dollars(before, t),
    },
  ];
  let sum = before;
  for (let at = 0; at < ended.length; at += size) {
    const group = ended.slice(at, at + size);
    const [first] = group;
    const last = group.at(-1);
    if (first && last) {
      const cost = group.reduce((all, { costUsd }) => all + costUsd, 0);
      // With lanes, iterations end in another order than that of their numbers.
      const [from, to] = isolated ? [at + 1, at + group.length] : [first.number, last.number];
      sum += cost;
      points.push({
        label: first === last ? `${first.number}` : `${from}–${to}`,
        left: last.left,
        cost,
        costWords: dollars(cost, t, hasEstimate(group)),
        sum,
        sumWords: dollars(sum, t, hasEstimate(ended.slice(0, at + size))),
      });
    }
  }
  return points;
}

function storiesChart(
  start: number,
  left: number,
  iterations: number,
  points: readonly ShownPoint[],
  t: Translate,
): NonNullable<ShownCharts['stories']> {
  const top = Math.max(1, ...points.map(point => point.left ?? 0));
  return {
    title: t('Stories left'),
    words:
      iterations === 1
        ? t('{0} stories left at the start, {1} after 1 iteration.', start, left)
        : t(
            '{0} stories left at the start, {1} after {2} iterations.',
            wholeNumber(start, t),
            wholeNumber(left, t),
            wholeNumber(iterations, t),
          ),
    top,
    topWords: wholeNumber(top, t),
    zeroWords: wholeNumber(0, t),
  };
}

function sumChart(
  { atWork, sum }: { readonly sum: number; readonly atWork: number },
  { budgetUsd, costEstimated, isolated }: RunState,
  iterations: number,
  t: Translate,
): NonNullable<ShownCharts['sum']> {
  const top = roundUp(Math.max(sum, budgetUsd ?? 0));
  const isEstimated = costEstimated === true;
  const words = dollars(sum, t, isEstimated);
  return {
    title: t('Total cost'),
    words: isolated
      ? // Iterations end in another order than that of their numbers.
        [
          budgetUsd === undefined
            ? t('{0} spent', words)
            : t('{0} of {1} spent', words, dollars(budgetUsd, t)),
          ...(atWork > 0
            ? [t('{0} more in iterations that have not ended', dollars(atWork, t, isEstimated))]
            : []),
        ].join('; ')
      : budgetUsd === undefined
        ? t('{0} in total up to iteration {1}.', words, iterations)
        : t(
            '{0} of the budget of {1} up to iteration {2}.',
            words,
            dollars(budgetUsd, t),
            iterations,
          ),
    top,
    topWords: dollars(top, t),
    zeroWords: dollars(0, t),
    budget: budgetUsd,
  };
}

function costChart(
  ended: readonly Ended[],
  points: readonly ShownPoint[],
  t: Translate,
): NonNullable<ShownCharts['cost']> {
  const top = roundUp(Math.max(...points.map(({ cost = 0 }) => cost)));
  const dearest = ended.reduce((a, b) => (b.costUsd > a.costUsd ? b : a));
  const mean = ended.reduce((sum, { costUsd }) => sum + costUsd, 0) / ended.length;
  const size = Math.ceil(ended.length / MAX_POINTS);
  const meanWords = dollars(mean, t, hasEstimate(ended));
  return {
    title: size === 1 ? t('Cost per iteration') : t('Cost per {0} iterations', size),
    words:
      dearest.costUsd - mean < 0.005
        ? t('{0} per iteration on average.', meanWords)
        : t(
            '{0} per iteration on average; iteration {1} cost the most, {2}.',
            meanWords,
            dearest.number,
            dollars(dearest.costUsd, t, dearest.estimated),
          ),
    top,
    topWords: dollars(top, t),
    zeroWords: dollars(0, t),
  };
}

function hasEstimate(iterations: readonly Ended[]): boolean {
  return iterations.some(({ estimated }) => estimated);
}

/** The next round number, at least one cent. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 0.01)));
  const step = [1, 2, 3, 4, 5, 6, 8, 10].find(factor => factor * power >= value - 1e-9) ?? 10;
  return Math.max(0.01, step * power);
}
