import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { type RunState, waitingOf } from '../../orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import type { Translate } from '../../presentation/translate.ts';
import type { RunSetting } from '../settings/windowSettings.ts';

const RUN_ACTIONS = [
  'trust',
  'answer',
  'resume',
  'continueStory',
  'continueLane',
  'tryNow',
  'hint',
  'skip',
  'pause',
  'dontPause',
  'stopAfterIteration',
  'stop',
  'changeLanes',
  'start',
  'continue',
  'startLanes',
  'changeLimit',
  'review',
  'progress',
  'terminal',
  'stories',
  'chooseFolder',
] as const;
export type RunAction = (typeof RUN_ACTIONS)[number];

export interface Surroundings {
  readonly allDone: boolean;
  readonly isTrusted: boolean;
  readonly folders: number;
  /** Number of stories that can be worked on at the same time now. */
  readonly ready?: number;
}

/** Actions that fit the state of a run, the most fitting first. Pure. */
export function fittingActions(
  run: WatchedRun,
  { allDone, folders, isTrusted, ready = 0 }: Surroundings,
): readonly RunAction[] {
  const found: readonly RunAction[] = isTrusted
    ? steering(run, { allDone, ready })
    : ['trust', ...(run.alive ? (['stop'] as const) : [])];
  const look: RunAction[] = [
    'progress',
    // Available after the end, too: it shows the whole run from its journal.
    ...(isTrusted && run.runId !== undefined ? (['terminal'] as const) : []),
    'stories',
    ...(folders > 1 ? (['chooseFolder'] as const) : []),
  ];
  return [...found, ...look];
}

function steering(
  run: WatchedRun,
  { allDone, ready }: { readonly allDone: boolean; readonly ready: number },
): readonly RunAction[] {
  const lanes: RunAction[] = ready > 1 ? ['startLanes'] : [];
  const { state } = run;
  const { phase, question, storyIds, waiting } = runStanding(run);
  const answer: RunAction[] = question === undefined ? [] : ['answer'];
  switch (phase) {
    case 'running': {
      const skip: RunAction[] = storyIds.length === 0 ? [] : ['skip'];
      if (waiting?.kind === 'limit') {
        return [...answer, 'tryNow', 'stop'];
      }
      if (waiting) {
        return [...answer, ...continuing(state), 'hint', ...skip, 'stop'];
      }
      return [
        ...answer,
        // With lanes, one agent waits for a usage limit while others work.
        ...(state.limits.size > 0 ? (['tryNow'] as const) : []),
        state.pauseRequested ? 'dontPause' : 'pause',
        'stopAfterIteration',
        'stop',
        ...skip,
        'hint',
        ...(state.isolated ? (['changeLanes'] as const) : []),
      ];
    }
    case 'stopping':
      return [...answer, 'stop'];
    case 'ended':
    case 'interrupted': {
      const start: RunAction[] = allDone
        ? []
        : [willContinue(state) ? 'continue' : 'start', ...lanes];
      const limit: RunAction[] =
        allDone || limitSetting(state) === undefined ? [] : ['changeLimit'];
      const review: RunAction[] = state.commits.length > 0 ? ['review'] : [];
      return state.outcome === 'completed'
        ? [...review, ...start]
        : [...answer, ...start, ...limit, ...review];
    }
    case 'none':
      return allDone ? [] : ['start', ...lanes];
  }
}

/**
 * What lets a waiting run continue. If a person has paused its stories or its lanes one by one, the run itself would pause
 * again at once; a conflict that they settle is not paused. Pure.
 */
export function continuing({
  pause,
  storyRecords,
}: Pick<RunState, 'pause' | 'storyRecords'>): readonly (
  | 'resume'
  | 'continueStory'
  | 'continueLane'
)[] {
  const { lanes = [], stories = [] } = pause ?? {};
  if (stories.length > 0) {
    return stories.some(id => storyRecords.get(id)?.paused) ? ['continueStory'] : [];
  }
  return lanes.length > 0 ? ['continueLane'] : ['resume'];
}

/**
 * Whether a living run waits for something, or will: otherwise, to resume it has no effect. With lanes, one agent may
 * wait for a usage limit while others work. Pure.
 */
export function canResume(state: RunState): boolean {
  return waitingOf(state) !== undefined || state.pauseRequested;
}

/** Whether the next start continues a run that is over, with what it was started with. Pure. */
export function willContinue({ outcome }: Pick<RunState, 'outcome'>): boolean {
  return ['stopped', 'interrupted', 'error', 'needsHuman', undefined].includes(outcome);
}

/** The setting whose limit ended a run; `undefined` for any other end. Pure. */
export function limitSetting({
  detail,
  outcome,
}: Partial<Pick<RunState, 'detail' | 'outcome'>>): RunSetting | undefined {
  switch (outcome) {
    case 'budget':
      // Only the end by the iteration's budget has a detail.
      return detail === undefined ? 'budgetUsd' : 'iterationBudgetUsd';
    case 'maxIterations':
      return 'maxIterations';
    default:
      return undefined;
  }
}

/**
 * The label for answering an agent's question. @param ended the question has ended the run, and an answer continues
 * it
 */
export function answerLabel(ended: boolean, t: Translate): string {
  return ended ? t('Answer and Continue…') : t('Answer…');
}
