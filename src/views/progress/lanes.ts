import { shorten } from '../../base/text.ts';
import { accountState } from '../../orchestrator/journal/accountState.ts';
import type { CurrentIteration } from '../../orchestrator/journal/currentIteration.ts';
import { MAX_LANES } from '../../orchestrator/journal/eventCodes.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import type { IterationRow } from '../../orchestrator/journal/iterationRows.ts';
import { type LaneHistory, laneHistory } from '../../orchestrator/journal/laneHistory.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { type Translate, wholeNumber } from '../../presentation/translate.ts';
import { stepWords } from '../../presentation/workWords.ts';
import { shownLandings } from './landings.ts';
import { LaneAxis, landingBars, laneBars, laneWorkWords } from './laneBars.ts';
import type {
  BarLook,
  ShownAccountNote,
  ShownBar,
  ShownBarKey,
  ShownLane,
  ShownLanes,
} from './laneProtocol.ts';
import { shownStory } from './timeline.ts';

/** Rows of the table; the list of iterations has all. */
const MAX_ROWS = 100;

/**
 * Several agents at once: each lane over time and now, the landing queue, what has landed, and what came back. Pure.
 * @returns `undefined` if the agent works in the user's tree
 */
export function shownLanes(
  run: WatchedRun,
  events: readonly RunEvent[],
  rows: readonly IterationRow[],
  t: Translate,
  now: Date,
): ShownLanes | undefined {
  const { state } = run;
  if (state.isolated !== true) {
    return undefined;
  }
  const { isActive } = runStanding(run);
  const history = laneHistory(events);
  const { works } = history;
  const byNumber = new Map(rows.map(row => [row.number, row]));
  const lastAt = history.lastAt ?? now.getTime();
  const axis = new LaneAxis(history, isActive ? Math.max(now.getTime(), lastAt) : lastAt);
  const used = new Set(works.map(({ lane }) => lane));
  const count = Math.max(1, ...used, isActive ? state.lanes : 1, ...(state.pausedLanes ?? []));
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const lanes = numbers.map((lane): ShownLane => {
    const own = works.filter(work => work.lane === lane);
    return {
      lane,
      name: t('Lane {0}', lane),
      now: isActive ? laneNow(lane, state, t) : undefined,
      toggle: isActive ? toggleOf(lane, state, t) : undefined,
      bars: laneBars(own, byNumber, axis, count, t),
    };
  });
  const landings = landingBars(works, byNumber, axis, t);
  const shown = [...works].reverse().slice(0, MAX_ROWS);
  const more = works.length - shown.length;
  return {
    count: isActive
      ? {
          words: state.lanes === 1 ? t('1 agent at once') : t('{0} agents at once', state.lanes),
          isLeast: state.lanes <= 1,
          isMost: state.lanes >= MAX_LANES,
        }
      : undefined,
    account: isActive ? accountNotes(state, events, t) : [],
    lanes,
    landings: landings.length > 0 ? landings : undefined,
    axis:
      works.length === 0
        ? undefined
        : {
            from: new Date(axis.from).toISOString(),
            to: new Date(axis.to).toISOString(),
            words: chartWords(history, t),
            key: keyOf([...lanes.flatMap(({ bars }) => bars), ...landings], t),
          },
    table: shown.map(work => ({
      iteration: work.iteration,
      lane: wholeNumber(work.lane, t),
      since: new Date(work.from).toISOString(),
      ...laneWorkWords(work, byNumber.get(work.iteration), axis, t),
    })),
    moreRows: more > 0 ? t('and {0} more', more) : undefined,
    ...shownLandings(run, history, rows, t),
  };
}

/** What a lane of a living run does. */
function laneNow(lane: number, state: RunState, t: Translate): ShownLane['now'] {
  const { lanes, limits, pausedLanes = [] } = state;
  const isPaused = pausedLanes.includes(lane);
  const current = inLane(state, lane);
  if (current !== undefined) {
    const step = stepWords(current, state, t);
    return {
      glyph: limits.has(current.number) ? 'waiting' : 'running',
      story: shownStory(current.storyId, current.storyTitle),
      words: isPaused
        ? t('{0}, then the lane is paused', step)
        : lane > lanes
          ? t('{0}, then the lane is closed', step)
          : step,
      since: current.startedAt,
    };
  }
  if (isPaused) {
    return { glyph: 'waiting', words: t('paused') };
  }
  return lane > lanes
    ? { glyph: 'stopped', words: t('closed') }
    : { glyph: 'noProgress', words: t('free') };
}

/** The agent that works in a lane: what waits to land has left it. */
function inLane({ running }: RunState, lane: number): CurrentIteration | undefined {
  return running.find(current => current.lane === lane && current.kept === undefined);
}

function toggleOf(
  lane: number,
  { lanes, pausedLanes = [] }: RunState,
  t: Translate,
): ShownLane['toggle'] {
  if (pausedLanes.includes(lane)) {
    return { paused: true, label: t('Continue lane {0}', lane) };
  }
  return lane > lanes ? undefined : { paused: false, label: t('Pause lane {0}', lane) };
}

/** Told once for all lanes: they use the same account. */
function accountNotes(
  state: RunState,
  events: readonly RunEvent[],
  t: Translate,
): readonly ShownAccountNote[] {
  const { mostLanes } = accountState(events);
  const waits = [...state.limits.values()];
  const until = waits.map(limit => limit.until).filter(iso => !Number.isNaN(Date.parse(iso)));
  // If all of them wait, the head says so.
  const isPartly = waits.length > 0 && waits.length < state.running.length;
  return [
    ...(isPartly
      ? [
          {
            words: t('The account has reached its usage limit, so no further agent starts.'),
            until: until.sort().at(-1),
          },
        ]
      : []),
    ...(mostLanes === undefined
      ? []
      : [
          {
            words:
              mostLanes === 1
                ? t('The account rejects requests, so 1 agent works at a time.')
                : t('The account rejects requests, so {0} agents work at once.', mostLanes),
          },
        ]),
  ];
}

function chartWords({ queue, works }: LaneHistory, t: Translate): string {
  const landed = works.filter(({ landedAt }) => landedAt !== undefined).length;
  const returned = works.filter(work => work.returned !== undefined).length;
  return t(
    'Lanes over time: {0} agents; {1} have landed, {2} came back, {3} wait to land.',
    wholeNumber(works.length, t),
    wholeNumber(landed, t),
    wholeNumber(returned, t),
    wholeNumber(queue.length, t),
  );
}

function keyOf(bars: readonly ShownBar[], t: Translate): readonly ShownBarKey[] {
  const words: readonly (readonly [BarLook, string])[] = [
    ['working', t('at work')],
    ['queued', t('waits to land')],
    ['checks', t('being checked')],
    ['landed', t('landed')],
    ['returned', t('came back')],
    ['open', t('ended without landing')],
    ['limit', t('usage limit')],
    ['several', t('several')],
  ];
  const looks = new Set<BarLook>(bars.map(({ look }) => look));
  if (bars.some(({ limits = [] }) => limits.length > 0)) {
    looks.add('limit');
  }
  return words.flatMap(([look, name]) => (looks.has(look) ? { look, words: name } : []));
}

/** Sentences about the lanes that a screen reader reads out when they are new. */
export function laneAnnouncements(
  { account, count }: ShownLanes,
  { pausedLanes = [] }: RunState,
  t: Translate,
): readonly string[] {
  return [
    ...(count ? [t('{0}.', count.words)] : []),
    ...[...pausedLanes].sort((a, b) => a - b).map(lane => t('Lane {0} is paused.', lane)),
    ...account.map(({ words }) => shorten(words, 200)),
  ];
}
