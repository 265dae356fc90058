import { assertNever } from '../../base/assertNever.ts';
import { atWork } from '../../orchestrator/journal/atWork.ts';
import { lackOf, runStanding } from '../../orchestrator/journal/runStanding.ts';
import { questionOf, type RunState, type Waiting } from '../../orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import {
  costWords,
  dollars,
  iterationCount,
  span,
  type Translate,
} from '../../presentation/translate.ts';
import { workCounts } from '../../presentation/workWords.ts';
import { heardWords, plainLabel } from '../common/plainText.ts';
import { alertsOf, type RunAlert } from '../run/alertOf.ts';

/** Maximum length of a story id, in UTF-16 units. */
const MAX_ID = 30;

/** How urgently the item in the status bar needs attention. */
export type Urgency = 'none' | 'warning' | 'error';

/** The content of the item in the status bar. */
export interface StatusWords {
  /** Name of a codicon. */
  readonly icon: string;
  /** Plain; texts of agents and stories in it are short, and without icons. */
  readonly text: string;
  /** The text for screen readers: "1/3" would be read as a date or as a third. */
  readonly heard: string;
  readonly urgency: Urgency;
  /** What it is urgent because of. Each stays the same as long as a person who has viewed it knows about it. */
  readonly causes: readonly string[];
}

/**
 * The state of a run, in a few words. Pure.
 * @param now in ms since the epoch
 * @returns `undefined` if there are neither runs nor stories
 */
export function statusWords(run: WatchedRun, t: Translate, now: number): StatusWords | undefined {
  const { state } = run;
  const { isActive, outcome, phase, waiting } = runStanding(run);
  if (phase === 'none') {
    const { done, total } = state.stories;
    return total === 0
      ? undefined
      : {
          icon: 'checklist',
          text: t('Ralph {0}/{1}', done, total),
          heard: t('{0}, {1}', 'Ralph', heardCount(state, t)),
          ...{ urgency: 'none', causes: [] },
        };
  }
  const alerts = alertsOf(run);
  const [alert] = alerts;
  const urgency = urgencyOf(alert);
  const causes = alerts
    .filter(each => urgencyOf(each) !== 'none')
    .map(each => `${run.runId} ${each.cause}`);
  const asking = alerts.flatMap(each => (each.kind === 'question' ? [each.storyId] : []));
  const count = `${state.stories.done}/${state.stories.total}`;
  if (isActive) {
    const waits = phase === 'running' ? waiting : undefined;
    const asksMeanwhile = alert?.kind === 'question' && alert.othersWork === true;
    const words = (shownCount: string, between: string) => [
      ...(waits
        ? [waitingWords(waits, state, asking, shownCount, t, now)]
        : asksMeanwhile
          ? [
              // Counted, not named: the only name is that of the story that asks.
              askingWords(
                state,
                asking,
                aroundCount(workCounts(state, t), shownCount).join(' · '),
                t,
              ),
            ]
          : [runningWords(state, shownCount, between, t)]),
      ...(phase === 'stopping' ? [t('stopping')] : state.pauseRequested ? [t('pauses soon')] : []),
    ];
    return {
      icon: waits
        ? waitingIcon(waits)
        : asksMeanwhile
          ? 'bell-dot'
          : urgency === 'warning'
            ? 'warning'
            : 'sync~spin',
      text: [...words(count, ' '), ...budgetWords(state, t)].join(' · '),
      heard: heardWords(
        [...words(heardCount(state, t), ' · '), ...heardCost(state, t)].join(' · '),
      ),
      ...{ urgency, causes },
    };
  }
  const iterations = iterationCount(state.iteration, t);
  const ended = (shownCount: string) => endWords(state, outcome, shownCount, t);
  return {
    icon: endIcon(state, outcome),
    // A task without stories has nothing else to count.
    ...(state.stories.total === 0
      ? { text: ended(iterations), heard: heardWords(ended(iterations)) }
      : { text: ended(count), heard: heardWords(ended(heardCount(state, t))) }),
    ...{ urgency, causes },
  };
}

function heardCount({ stories: { done, total } }: RunState, t: Translate): string {
  return t('{0} of {1} done', done, total);
}

function urgencyOf(alert: RunAlert | undefined): Urgency {
  switch (alert?.kind) {
    case 'question':
      // The others work on, so it is not urgent yet.
      return alert.othersWork ? 'warning' : 'error';
    case 'stuck':
      return alert.waits ? 'error' : 'warning';
    case 'ended':
      return alert.outcome === 'error'
        ? 'error'
        : alert.outcome === 'stuck' || alert.outcome === 'interrupted' || alert.lacks
          ? 'warning'
          : 'none';
    default:
      return 'none';
  }
}

/** One story by its id, several by their number: those at work, how many are done, and those that wait. */
function runningWords(state: RunState, count: string, between: string, t: Translate): string {
  const workers = workersOf(state, t);
  if (state.running.length < 2) {
    return ['Ralph', ...workers, count].join(between);
  }
  const [first, ...others] = aroundCount(workers, count);
  return [['Ralph', first].join(between), ...others].join(' · ');
}

/** How many are done is next to those at work, before those that wait. */
function aroundCount([first, ...others]: readonly string[], count: string): string[] {
  return [...(first === undefined ? [] : [first]), count, ...others];
}

function workersOf(state: RunState, t: Translate): string[] {
  const { all } = atWork(state);
  return all.length > 1
    ? workCounts(state, t)
    : all.flatMap(({ storyId }) => (storyId === undefined ? [] : [plainLabel(storyId, MAX_ID)]));
}

/** Only shown if a budget is set. */
function budgetWords(state: RunState, t: Translate): string[] {
  const { budgetUsd, costUnknown } = state;
  if (budgetUsd === undefined) {
    return [];
  }
  const cost = costWords(state, t);
  return [costUnknown ? cost : `${cost}/${dollars(budgetUsd, t)}`];
}

function heardCost(state: RunState, t: Translate): string[] {
  const { budgetUsd, costUnknown } = state;
  if (budgetUsd === undefined) {
    return [];
  }
  const cost = costWords(state, t);
  return [costUnknown ? cost : t('{0} of {1} spent', cost, dollars(budgetUsd, t))];
}

/** @param asking the stories whose agents ask; with lanes, there may be several */
function askingWords(
  { isolated }: RunState,
  [storyId, ...others]: readonly (string | undefined)[],
  count: string,
  t: Translate,
): string {
  return others.length > 0
    ? t('Ralph has {0} questions · {1}', others.length + 1, count)
    : storyId === undefined || !isolated
      ? t('Ralph asks you · {0}', count)
      : t('Ralph {0} asks you · {1}', plainLabel(storyId, MAX_ID), count);
}

function waitingWords(
  waiting: Waiting,
  state: RunState,
  asking: readonly (string | undefined)[],
  count: string,
  t: Translate,
  now: number,
): string {
  if (waiting.kind === 'limit') {
    const left = Date.parse(waiting.until) - now;
    return Number.isNaN(left)
      ? t('Ralph waits for the usage limit · {0}', count)
      : t('Ralph waits {0} · {1}', span(left, t), count);
  }
  switch (waiting.reason) {
    case 'person':
      return t('Ralph paused · {0}', count);
    case 'question':
      return askingWords(state, asking, count, t);
    case 'stuck':
      return t('Ralph is stuck · {0}', count);
    default:
      return assertNever(waiting.reason);
  }
}

function waitingIcon(waiting: Waiting): string {
  if (waiting.kind === 'limit') {
    return 'watch';
  }
  return waiting.reason === 'person' ? 'debug-pause' : 'bell-dot';
}

function endWords(
  state: RunState,
  outcome: RunState['outcome'],
  count: string,
  t: Translate,
): string {
  switch (lackOf({ ...state, outcome })) {
    case 'branch':
      return t('Ralph done, but not on {0} · {1}', plainLabel(state.branch ?? '', MAX_ID), count);
    case 'commit':
      return t('Ralph done, but not committed · {0}', count);
    default:
  }
  const words: Readonly<Record<NonNullable<RunState['outcome']>, string>> = {
    completed: t('Ralph done · {0}', count),
    needsHuman: t('Ralph needs you · {0}', count),
    maxIterations: t('Ralph at its iteration limit · {0}', count),
    noReadyStory: t('Ralph has no ready story · {0}', count),
    stuck: t('Ralph is stuck · {0}', count),
    budget: t('Ralph at its budget · {0}', count),
    stopped: t('Ralph stopped · {0}', count),
    interrupted: t('Ralph interrupted · {0}', count),
    error: t('Ralph failed · {0}', count),
  };
  return words[shownEnd(state, outcome)];
}

/** Nobody waits for what is answered or settled. */
function shownEnd(state: RunState, outcome: RunState['outcome']) {
  return outcome === 'needsHuman' && questionOf(state) === undefined
    ? 'stopped'
    : (outcome ?? 'error');
}

function endIcon(state: RunState, outcome: RunState['outcome']): string {
  return lackOf({ ...state, outcome }) ? 'warning' : END_ICONS[shownEnd(state, outcome)];
}

/** Not a pause icon, since a pause can be ended by a person. */
const STOPPED = 'stop-circle';
const END_ICONS: Readonly<Record<NonNullable<RunState['outcome']>, string>> = {
  completed: 'pass',
  needsHuman: 'bell-dot',
  error: 'error',
  stuck: 'warning',
  interrupted: 'debug-disconnect',
  noReadyStory: 'circle-slash',
  maxIterations: STOPPED,
  budget: STOPPED,
  stopped: STOPPED,
};
