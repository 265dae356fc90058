import { optional } from '../../base/optional.ts';
import { withoutProcess } from './currentIteration.ts';
import type { RunEvent } from './events.ts';
import { INITIAL_RUN_STATE, type RunState } from './runState.ts';
import { storyCount } from './storyCount.ts';
import { anotherChance } from './storyRecord.ts';
import { tellsCost } from './tellsCost.ts';

/** The state of a new run; it takes nothing from before. */
export function startedRun(event: Extract<RunEvent, { type: 'run.started' }>): RunState {
  return {
    ...INITIAL_RUN_STATE,
    ...loopOf(event),
    lastSeq: event.seq,
    runId: event.runId,
    mode: event.mode,
    task: event.task,
    ...optional('storyFile', event.storyFile),
    ...optional('planDir', event.planDir),
    startedAt: event.at,
    ...optional('prepare', event.prepare),
    ...optional('onlyStories', event.onlyStories),
  };
}

/** If a run ended for a problem that a person must solve, every story gets another chance when it continues. */
export function resumedRun(
  before: RunState,
  event: Extract<RunEvent, { type: 'run.resumed' }>,
): RunState {
  const {
    endedAt: _endedAt,
    outcome,
    exitCode: _exitCode,
    detail: _detail,
    open: _open,
    circle: _circle,
    uncommitted: _uncommitted,
    pause: _pause,
    budgetUsd: _budget,
    payer: _payer,
    model: _model,
    reviewer: _reviewer,
    stopMode: _stopMode,
    onLastWindow: _onLastWindow,
    ...state
  } = before;
  const isSettled = outcome === 'needsHuman' || outcome === 'stuck' || outcome === 'noReadyStory';
  return {
    ...state,
    ...loopOf(event),
    pauseRequested: false,
    // The interrupted iteration is judged first.
    ...(before.cutOff.length > 0 && { running: before.cutOff.map(withoutProcess) }),
    cutOff: [],
    limits: new Map(),
    storyNotes: new Map(
      [...state.storyNotes].map(([id, { question: _question, ...notes }]) => [id, notes] as const),
    ),
    ...(isSettled && {
      storyRecords: new Map(
        [...state.storyRecords].map(([id, record]) => [id, anotherChance(record)] as const),
      ),
    }),
  };
}

/** The loop's process and options, the same for a run that starts or continues. */
function loopOf(event: Extract<RunEvent, { type: 'run.started' | 'run.resumed' }>) {
  return {
    phase: 'running' as const,
    pid: event.pid,
    ...optional('startId', event.startId),
    agent: event.agent,
    ...(!tellsCost(event.agent) && { costUnknown: true as const }),
    ...optional('model', event.model),
    maxIterations: event.maxIterations,
    lanes: event.lanes ?? 1,
    stuckThreshold: event.stuckThreshold,
    ...optional('budgetUsd', event.budgetUsd),
    ...optional('payer', event.payer),
    verify: event.verify ?? [],
    ...(event.reviewer === true && { reviewer: true as const }),
    ...optional('settings', event.settings),
    ...optional('onLastWindow', event.onLastWindow),
    ...optional('branch', event.branch),
    stories: storyCount(event.stories),
  };
}
