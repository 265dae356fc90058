import { shorten } from '../../base/text.ts';
import type { IterationRow } from '../../orchestrator/journal/iterationRows.ts';
import type { LaneHistory, LaneWork, Stretch } from '../../orchestrator/journal/laneHistory.ts';
import { duration, type Translate } from '../../presentation/translate.ts';
import type { BarLook, ShownBar } from './laneProtocol.ts';
import { rowWords, shownStory } from './timeline.ts';

/** Of all lanes together: above this number, bars that are close to each other are drawn as one. */
const MAX_BARS = 400;
/** At least so many of one lane; a bar is then about as wide as its sign. */
const MIN_BARS = 24;
/** Of the checks and landings of all lanes, which are in one row. */
const MAX_LANDINGS = 120;
const MAX_LABEL = 24;
const MAX_NAMED = 5;

/** The part of the run's time that the bars show, without the breaks in which no loop was active. */
export class LaneAxis {
  /** In ms since the epoch. */
  readonly from: number;
  readonly to: number;
  private readonly breaks: readonly Required<Stretch>[];

  constructor({ breaks, works }: LaneHistory, to: number) {
    this.from = Math.min(to, ...works.map(work => work.from));
    this.to = to;
    this.breaks = breaks.filter(({ to: end }) => end > this.from);
  }

  /** The place of a moment, in percent. */
  place(at: number): number {
    const whole = Math.max(1, this.worked(this.to));
    return round((Math.min(whole, Math.max(0, this.worked(at))) / whole) * 100);
  }

  /** The length of a stretch, in percent; 0 if the clock was set back meanwhile. */
  length({ from, to = this.to }: Stretch): number {
    return Math.max(0, round(this.place(to) - this.place(from)));
  }

  /** For how long a stretch lasted, without breaks, in ms. */
  lasted({ from, to = this.to }: Stretch): number {
    return Math.max(0, this.worked(to) - this.worked(from));
  }

  /** Time with a loop from the beginning to this moment, in ms. */
  private worked(at: number): number {
    const lost = this.breaks.reduce(
      (sum, { from, to }) => sum + Math.max(0, Math.min(at, to) - Math.max(from, this.from)),
      0,
    );
    return at - this.from - lost;
  }
}

/** What somebody may want to know about the work of an agent, in words. */
export interface LaneWorkWords {
  readonly story: string;
  readonly worked: string;
  /** Empty if it has not waited. */
  readonly waited: string;
  readonly result: string;
}

/** How long it was worked on, how long that waited to land, and what came of it. */
export function laneWorkWords(
  work: LaneWork,
  row: IterationRow | undefined,
  axis: LaneAxis,
  t: Translate,
): LaneWorkWords {
  const { id = '', title = '' } = shownStory(work.storyId, work.storyTitle) ?? {};
  const waited = waitOf(work);
  return {
    story: [id, title].filter(Boolean).join(' '),
    worked: duration(axis.lasted(work), t),
    waited: waited === undefined ? '' : duration(axis.lasted(waited), t),
    result: resultWords(work, row, t),
  };
}

/** The agents of one lane as bars. @param works of this lane, in the order in which they began */
export function laneBars(
  works: readonly LaneWork[],
  rows: ReadonlyMap<number, IterationRow>,
  axis: LaneAxis,
  lanes: number,
  t: Translate,
): readonly ShownBar[] {
  const bars = works.map((work, index): ShownBar => {
    const row = rows.get(work.iteration);
    const { result, story, waited, worked } = laneWorkWords(work, row, axis, t);
    const wait = waitOf(work);
    // The next agent of the lane begins while the work of the one before may still wait.
    const end = Math.min(wait?.to ?? axis.to, works[index + 1]?.from ?? axis.to);
    const limitMs = work.limits.reduce((sum, limit) => sum + axis.lasted(limit), 0);
    return {
      id: work.iteration,
      look: lookOf(work, row),
      at: axis.place(work.from),
      length: axis.length(work),
      limits: work.limits.map(limit => ({
        at: axis.place(limit.from),
        length: axis.length(limit),
      })),
      wait: wait && axis.length({ from: wait.from, to: end }),
      label: shorten(work.storyId ?? '', MAX_LABEL),
      words: [
        t('{0}: {1}.', story, result),
        work.to === undefined
          ? t('Iteration {0}', work.iteration)
          : t('Iteration {0}, worked for {1}', work.iteration, worked),
        ...(limitMs > 0
          ? [t('of these, {0} waiting for the usage limit', duration(limitMs, t))]
          : []),
        ...(waited === '' ? [] : [t('waited {0} to land', waited)]),
      ].join(' · '),
    };
  });
  return merged(bars, Math.max(MIN_BARS, Math.floor(MAX_BARS / Math.max(1, lanes))), t);
}

/** The checks and landings as bars. */
export function landingBars(
  works: readonly LaneWork[],
  rows: ReadonlyMap<number, IterationRow>,
  axis: LaneAxis,
  t: Translate,
): readonly ShownBar[] {
  const bars = works
    .flatMap(work => work.landings.map((stretch, index) => ({ work, stretch, index })))
    .sort((a, b) => a.stretch.from - b.stretch.from)
    .map(({ index, stretch, work }, order): ShownBar => {
      const isLast = index === work.landings.length - 1;
      const row = rows.get(work.iteration);
      const { story } = laneWorkWords(work, row, axis, t);
      const result = isLast ? resultWords(work, row, t) : t('Checked again later');
      return {
        id: order,
        look: !isLast || stretch.to === undefined ? 'checks' : lookOf(work, row),
        at: axis.place(stretch.from),
        length: axis.length(stretch),
        label: shorten(work.storyId ?? '', MAX_LABEL),
        words: [
          t('{0}: {1}.', story, result),
          t('Checked for {0}', duration(axis.lasted(stretch), t)),
        ].join(' · '),
      };
    });
  return merged(bars, MAX_LANDINGS, t);
}

/** From the end of the agent's work until it has landed, or was given back. */
function waitOf({ landedAt, queuedAt, returned, to }: LaneWork): Stretch | undefined {
  return queuedAt === undefined
    ? undefined
    : { from: to ?? queuedAt, to: landedAt ?? returned?.at };
}

function lookOf(work: LaneWork, row: IterationRow | undefined): BarLook {
  if (work.landedAt !== undefined) {
    return 'landed';
  }
  if (work.returned !== undefined) {
    return 'returned';
  }
  if (row?.outcome !== 'running') {
    return 'open';
  }
  return work.to === undefined ? 'working' : 'queued';
}

function resultWords(work: LaneWork, row: IterationRow | undefined, t: Translate): string {
  return work.landedAt !== undefined
    ? t('Landed')
    : row === undefined
      ? t('Ended')
      : rowWords(row, t).outcome;
}

/** Bars that are too close to each other become one, so that their number has a limit. */
function merged(bars: readonly ShownBar[], most: number, t: Translate): readonly ShownBar[] {
  if (bars.length <= most) {
    return bars;
  }
  const cells = new Map<number, ShownBar[]>();
  for (const bar of bars) {
    const cell = Math.min(most - 1, Math.floor((bar.at / 100) * most));
    cells.set(cell, [...(cells.get(cell) ?? []), bar]);
  }
  return [...cells.values()].map(cell => severalBars(cell, t));
}

function severalBars(bars: readonly ShownBar[], t: Translate): ShownBar {
  const [first, ...others] = bars;
  if (first === undefined || others.length === 0) {
    return first as ShownBar;
  }
  const end = Math.max(...bars.map(({ at, length }) => at + length));
  const named = bars.slice(0, MAX_NAMED).map(({ label }) => label);
  const more = bars.length - named.length;
  const names = more > 0 ? t('{0} and {1} more', named.join(', '), more) : named.join(', ');
  const landed = bars.filter(({ look }) => look === 'landed').length;
  return {
    id: first.id,
    look: 'several',
    at: first.at,
    length: round(end - first.at),
    label: `${bars.length}`,
    words: t('{0}: {1} of {2} have landed.', names, landed, bars.length),
  };
}

function round(percent: number): number {
  return Math.round(percent * 100) / 100;
}
