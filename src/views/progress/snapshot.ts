import { shorten } from '../../base/text.ts';
import { accountState } from '../../orchestrator/journal/accountState.ts';
import { atWork, waitingAsWhole } from '../../orchestrator/journal/atWork.ts';
import type { CurrentIteration } from '../../orchestrator/journal/currentIteration.ts';
import { MAX_LANES } from '../../orchestrator/journal/eventCodes.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { type IterationRow, iterationRows } from '../../orchestrator/journal/iterationRows.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { reasonWords } from '../../presentation/iterationWords.ts';
import { dollars, type Translate, wholeNumber } from '../../presentation/translate.ts';
import { stepWords, workCounts } from '../../presentation/workWords.ts';
import { askedQuestion } from './askedQuestion.ts';
import { shownCharts } from './charts.ts';
import { iterationProofs } from './iterationProofs.ts';
import type { ShownLanes } from './laneProtocol.ts';
import { laneAnnouncements, shownLanes } from './lanes.ts';
import { shownActivity } from './liveActivity.ts';
import { shownPrompt } from './promptXray.ts';
import type { ProgressSnapshot, ShownMeter, ShownNow, ShownRun, ShownStory } from './protocol.ts';
import { runActions, type Stopping } from './runActions.ts';
import { runFacts } from './runFacts.ts';
import { runStatus } from './runStatus.ts';
import { type Comparison, shownMeasures } from './shownMeasures.ts';
import { rowWords, shownStory, shownTimeline } from './timeline.ts';

/** With lanes, several iterations may end between two snapshots, and each end is news. */
const MAX_ENDS = 2 * MAX_LANES;

export interface SnapshotOptions {
  readonly t: Translate;
  readonly now: Date;
  /** The visible page of iterations; 0 has the newest. */
  readonly page?: number;
  /** The iteration whose prompt is visible; the newest one by default. */
  readonly promptOf?: number | undefined;
  /** Another run would find nothing to do. */
  readonly allDone?: boolean;
  /** What the run is compared with. */
  readonly comparison?: Comparison;
}

/** Converts a run into the words and numbers that the progress page shows. Pure. */
export function progressSnapshot(
  run: WatchedRun,
  events: readonly RunEvent[],
  options: SnapshotOptions,
): ProgressSnapshot {
  const { now, t } = options;
  const rows = iterationRows(events, { alive: run.alive });
  const shown =
    run.runId === undefined || run.state.phase === 'idle'
      ? undefined
      : shownRun(run.runId, run, events, rows, options);
  return {
    sentAt: now.getTime(),
    announcements: shown
      ? shown.lanes === undefined
        ? announcements(shown, run.state, rows, t)
        : lanesNews(shown, shown.lanes, run.state, events, rows, t)
      : [],
    areRemovalsSilent:
      shown?.lanes !== undefined ||
      (shown?.active === true && run.state.running.length === 0 && !waitingAsWhole(run.state))
        ? true
        : undefined,
    run: shown,
  };
}

function shownRun(
  id: string,
  run: WatchedRun,
  events: readonly RunEvent[],
  rows: readonly IterationRow[],
  {
    allDone = false,
    comparison = { earlier: [], stories: [] },
    now,
    page = 0,
    promptOf,
    t,
  }: SnapshotOptions,
): ShownRun {
  const { state } = run;
  const { isActive: active } = runStanding(run);
  const stopping = active ? stoppingOf(state, events) : undefined;
  const stories = storiesMeter(state, t);
  const cost = costMeter(state, rows, active ? events : [], t);
  const question = askedQuestion(id, run, t);
  const charts = shownCharts(state, events, rows, t);
  const prompt = shownPrompt(events, t, promptOf);
  return {
    id,
    ...runStatus(run, stopping, t, now),
    active,
    actions: runActions(run, stopping, allDone, t),
    question,
    now: active ? shownNow(state, stopping, t) : undefined,
    lanes: shownLanes(run, events, rows, t, now),
    stories,
    cost,
    facts: runFacts(state, t),
    activity: shownActivity(events, rows, state, t),
    charts,
    prompt,
    measures: shownMeasures(events, comparison, t),
    timeline: shownTimeline(rows, iterationProofs(events), page, t),
  };
}

/** The folded state does not distinguish a stop at once from one after the iteration; the newest request does. */
function stoppingOf({ phase }: RunState, events: readonly RunEvent[]): Stopping | undefined {
  if (phase !== 'stopping') {
    return undefined;
  }
  const request = events.findLast(({ type }) => type === 'stop.requested');
  return request?.type === 'stop.requested' && request.mode === 'afterIteration'
    ? 'afterIteration'
    : 'now';
}

function storiesMeter(
  { stories: { done, total } }: RunState,
  t: Translate,
): ShownMeter | undefined {
  return total === 0
    ? undefined
    : {
        value: done,
        max: total,
        words: t('{0} of {1} stories done', wholeNumber(done, t), wholeNumber(total, t)),
      };
}

function costMeter(
  { budgetUsd, costEstimated, costUnknown, costUsd, isolated }: RunState,
  rows: readonly IterationRow[],
  events: readonly RunEvent[],
  t: Translate,
): ShownMeter | undefined {
  const isKnown = costUsd > 0 || rows.some(row => row.costUsd !== undefined);
  if (budgetUsd === undefined && !isKnown && !costUnknown) {
    return undefined;
  }
  const spent = dollars(costUsd, t, costEstimated === true);
  if (costUnknown) {
    // A bar would suggest a known remaining budget.
    return { value: costUsd, words: isKnown ? t('at least {0}', spent) : t('cost unknown') };
  }
  if (budgetUsd === undefined) {
    return { value: costUsd, words: t('{0} spent', spent) };
  }
  const budget = dollars(budgetUsd, t);
  const { reservedUsd } = isolated ? accountState(events) : { reservedUsd: 0 };
  return {
    value: costUsd,
    max: budgetUsd,
    words:
      reservedUsd > 0
        ? t(
            '{0} of {1} spent; {2} set aside for agents at work, who give back what they do not use',
            spent,
            budget,
            dollars(reservedUsd, t),
          )
        : t('{0} of {1} spent', spent, budget),
  };
}

function shownNow(state: RunState, stopping: Stopping | undefined, t: Translate): ShownNow {
  const { iteration, maxIterations } = state;
  const { all } = atWork(state);
  const [current, ...others] = all;
  if (!current) {
    return { words: betweenWords(state, stopping, iteration, t) };
  }
  if (others.length > 0) {
    return { words: workCounts(state, t).join(' · ') };
  }
  const story = shownStory(current.storyId, current.storyTitle);
  return {
    story,
    words: t('Iteration {0} of {1}', current.number, maxIterations),
    step: stepWords(current, state, t),
    since: current.startedAt,
  };
}

function betweenWords(
  state: RunState,
  stopping: Stopping | undefined,
  iteration: number,
  t: Translate,
): string {
  if (stopping === 'now') {
    return t('Saving the state…');
  }
  if (waitingAsWhole(state)) {
    return t('Waiting before the next iteration');
  }
  if (iteration > 0) {
    return t('Preparing the next iteration…');
  }
  return state.planner ? t('An agent plans the stories…') : t('Preparing the first iteration…');
}

/**
 * Announcements for screen readers: the result of the last iteration, and the state of the run. Each is its own
 * sentence, so that only a changed part is read out.
 */
function announcements(
  { actions, active, now, sentence, status }: ShownRun,
  state: RunState,
  rows: readonly IterationRow[],
  t: Translate,
): readonly string[] {
  const { iteration } = state;
  const last = rows.findLast(hasEnded);
  const ended = last ? [t('Iteration {0}: {1}.', last.number, rowWords(last, t).outcome)] : [];
  if (!active || !now || waitingAsWhole(state) || actions.some(({ pending }) => pending)) {
    return [...ended, sentence === undefined ? status : t('{0}. {1}', status, sentence)];
  }
  const asked = sentence === undefined ? [] : [sentence];
  const [current] = atWork(state).all;
  if (!current) {
    // Between two iterations there is nothing to announce for that short time.
    return [...ended, ...(iteration === 0 ? [now.words] : []), ...asked];
  }
  return [
    ...ended,
    begunWords(current, state, t),
    // The agent's work needs no mention.
    ...(now.step === undefined || current.step === 'agent' ? [] : [now.step]),
    ...asked,
  ];
}

/**
 * The same with lanes: beginnings and ends of iterations, the lanes, and the state of the run. The steps of several agents
 * would never stop. Each end has a sentence of its own, since several may come at once.
 */
function lanesNews(
  { active, sentence, status }: ShownRun,
  lanes: ShownLanes,
  state: RunState,
  events: readonly RunEvent[],
  rows: readonly IterationRow[],
  t: Translate,
): readonly string[] {
  const byNumber = new Map(rows.map(row => [row.number, row]));
  const ended = events
    .flatMap(event => (event.type === 'iteration.ended' ? event.iteration : []))
    .slice(-MAX_ENDS)
    .flatMap(number => byNumber.get(number) ?? [])
    .filter(hasEnded);
  return [
    ...new Set(ended.map(row => endedWords(row, t))),
    ...(active ? atWork(state).all.map(one => begunWords(one, state, t)) : []),
    ...laneAnnouncements(lanes, state, t),
    sentence === undefined ? t('{0}.', status) : t('{0}. {1}', status, sentence),
  ];
}

function endedWords(row: IterationRow, t: Translate): string {
  const { outcome } = rowWords(row, t);
  const story = shownStory(row.storyId, row.storyTitle);
  const named = story
    ? t('Iteration {0}, {1}: {2}.', row.number, story.id, outcome)
    : t('Iteration {0}: {1}.', row.number, outcome);
  const reason = row.returned && row.reason && reasonWords(row.reason, t);
  return reason === undefined ? named : `${named} ${shorten(reason, 200)}`;
}

function hasEnded({ outcome }: IterationRow): boolean {
  return outcome !== 'running';
}

function begunWords(
  { number, storyId, storyTitle }: CurrentIteration,
  { maxIterations }: RunState,
  t: Translate,
): string {
  const words = t('Iteration {0} of {1}', number, maxIterations);
  const story = shownStory(storyId, storyTitle);
  return story ? t('{0}: {1}', words, shorten(spoken(story), 100)) : words;
}

function spoken({ id, title }: ShownStory): string {
  return `${id} ${title}`;
}
