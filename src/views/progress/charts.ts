import type { RunEvent } from '../../orchestrator/journal/events.ts';
import type { IterationRow } from '../../orchestrator/journal/iterationRows.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import type { Translate } from '../../presentation/translate.ts';
import type { Numbers } from './numbers.ts';
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
  numbers: Numbers,
): ShownCharts | undefined {
  const leftAt = storiesLeft(events);
  const ended: Ended[] = rows
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
  const before = Math.max(
    0,
    state.costUsd - iterationsUsd - state.running.reduce((sum, { costUsd }) => sum + costUsd, 0),
  );
  const start = leftAt.get(0);
  const points = shownPoints(ended, start, before, numbers);
  const hasCost = before + iterationsUsd > 0;
  return {
    points,
    stories:
      start !== undefined
        ? storiesChart(start, last.left ?? start, last.number, points, t, numbers)
        : undefined,
    ...(hasCost && {
      sum: sumChart(before + iterationsUsd, state, last.number, t, numbers),
      cost: costChart(ended, points, t, numbers),
    }),
  };
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
  ended: readonly Ended[],
  start: number | undefined,
  before: number,
  numbers: Numbers,
): readonly ShownPoint[] {
  const size = Math.ceil(ended.length / MAX_POINTS);
  const points: ShownPoint[] = [
    {
      label: '0',
      left: start,
      sum: before,
      sumWords: numbers.money(before),
    },
  ];
  let sum = before;
  for (let at = 0; at < ended.length; at += size) {
    const group = ended.slice(at, at + size);
    const [first] = group;
    const last = group.at(-1);
    if (first && last) {
      const cost = group.reduce((all, { costUsd }) => all + costUsd, 0);
      sum += cost;
      points.push({
        label: first === last ? `${first.number}` : `${first.number}–${last.number}`,
        left: last.left,
        cost,
        costWords: numbers.money(cost, { estimated: hasEstimate(group) }),
        sum,
        sumWords: numbers.money(sum, { estimated: hasEstimate(ended.slice(0, at + size)) }),
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
  numbers: Numbers,
): NonNullable<ShownCharts['stories']> {
  const top = Math.max(1, ...points.map(point => point.left ?? 0));
  return {
    title: t('Stories left'),
    words:
      iterations === 1
        ? t('{0} stories left at the start, {1} after 1 iteration.', start, left)
        : t(
            '{0} stories left at the start, {1} after {2} iterations.',
            numbers.count(start),
            numbers.count(left),
            numbers.count(iterations),
          ),
    top,
    topWords: numbers.count(top),
    zeroWords: numbers.count(0),
  };
}

function sumChart(
  sum: number,
  { budgetUsd, costEstimated }: RunState,
  iterations: number,
  t: Translate,
  numbers: Numbers,
): NonNullable<ShownCharts['sum']> {
  const top = roundUp(Math.max(sum, budgetUsd ?? 0));
  const words = numbers.money(sum, { estimated: costEstimated === true });
  return {
    title: t('Cost in sum'),
    words:
      budgetUsd === undefined
        ? t('{0} in sum up to iteration {1}.', words, iterations)
        : t(
            '{0} of the budget of {1} up to iteration {2}.',
            words,
            numbers.money(budgetUsd),
            iterations,
          ),
    top,
    topWords: numbers.money(top),
    zeroWords: numbers.money(0),
    budget: budgetUsd,
  };
}

function costChart(
  ended: readonly Ended[],
  points: readonly ShownPoint[],
  t: Translate,
  numbers: Numbers,
): NonNullable<ShownCharts['cost']> {
  const top = roundUp(Math.max(...points.map(({ cost = 0 }) => cost)));
  const dearest = ended.reduce((a, b) => (b.costUsd > a.costUsd ? b : a));
  const mean = ended.reduce((sum, { costUsd }) => sum + costUsd, 0) / ended.length;
  const size = Math.ceil(ended.length / MAX_POINTS);
  const meanWords = numbers.money(mean, { estimated: hasEstimate(ended) });
  return {
    title: size === 1 ? t('Cost per iteration') : t('Cost per {0} iterations', size),
    words:
      dearest.costUsd - mean < 0.005
        ? t('{0} for an iteration on average.', meanWords)
        : t(
            '{0} for an iteration on average; iteration {1} cost most, {2}.',
            meanWords,
            dearest.number,
            numbers.money(dearest.costUsd, dearest),
          ),
    top,
    topWords: numbers.money(top),
    zeroWords: numbers.money(0),
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
