import { withoutProcess } from './currentIteration.ts';
import type { RunEvent } from './events.ts';
import { INITIAL_RUN_STATE, openQuestions, type RunState } from './runState.ts';
import { goneUnanswered } from './stateChanges.ts';
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
    storyFile: event.storyFile,
    planDir: event.planDir,
    startedAt: event.at,
    prepare: event.prepare,
    onlyStories: event.onlyStories,
  };
}

/**
 * If a run ended for a problem that a person must solve, every story gets another chance when it continues. Who
 * continues a run that waited only for answers wants it to continue without them; with lanes, the others continued
 * meanwhile, so that questions stay open if the run ended for another reason.
 */
export function resumedRun(
  before: RunState,
  event: Extract<RunEvent, { type: 'run.resumed' }>,
): RunState {
  const staysOpen = event.isolated === true && before.outcome !== 'needsHuman';
  const asked = staysOpen ? before : goneUnanswered(before, openQuestions(before));
  return continuedRun(asked, event);
}

function continuedRun(
  before: RunState,
  event: Extract<RunEvent, { type: 'run.resumed' }>,
): RunState {
  const { outcome } = before;
  const isSettled = outcome === 'needsHuman' || outcome === 'stuck' || outcome === 'noReadyStory';
  const loop = loopOf(event);
  return {
    ...before,
    ...loop,
    // Journals of 0.1 do not say these again.
    startId: loop.startId ?? before.startId,
    costUnknown: loop.costUnknown ?? before.costUnknown,
    settings: loop.settings ?? before.settings,
    branch: loop.branch ?? before.branch,
    // Once they are known as issues, whatever the list says later.
    withoutTokens: loop.withoutTokens ?? before.withoutTokens,
    endedAt: undefined,
    outcome: undefined,
    exitCode: undefined,
    detail: undefined,
    open: undefined,
    circle: undefined,
    aside: undefined,
    unknown: undefined,
    gone: undefined,
    sharedIds: undefined,
    uncommitted: undefined,
    pause: undefined,
    stopMode: undefined,
    pauseRequested: false,
    pausedLanes: undefined,
    // Its settings have it from now on.
    lanesChosen: undefined,
    // The interrupted iteration is judged first.
    running: before.cutOff.length > 0 ? before.cutOff.map(withoutProcess) : before.running,
    cutOff: [],
    limits: new Map(),
    storyRecords: isSettled
      ? new Map(
          [...before.storyRecords].map(([id, record]) => [id, anotherChance(record)] as const),
        )
      : before.storyRecords,
  };
}

/** The loop's process and options, the same for a run that starts or continues. */
function loopOf(event: Extract<RunEvent, { type: 'run.started' | 'run.resumed' }>) {
  return {
    phase: 'running' as const,
    pid: event.pid,
    startId: event.startId,
    agent: event.agent,
    costUnknown: tellsCost(event.agent) ? undefined : (true as const),
    model: event.model,
    maxIterations: event.maxIterations,
    lanes: event.lanes ?? 1,
    isolated: event.isolated || undefined,
    stuckThreshold: event.stuckThreshold,
    budgetUsd: event.budgetUsd,
    payer: event.payer,
    verify: event.verify ?? [],
    reviewer: event.reviewer || undefined,
    settings: event.settings,
    onLastWindow: event.onLastWindow,
    withoutTokens: event.withoutTokens || undefined,
    branch: event.branch,
    stories: storyCount(event.stories),
  };
}
