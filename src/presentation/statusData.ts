import { englishOf } from '../base/say.ts';
import { EXIT_CODES } from '../orchestrator/journal/eventCodes.ts';
import { isPlanning, runStanding } from '../orchestrator/journal/runStanding.ts';
import {
  currentOf,
  openQuestions,
  pausedStories,
  type RunState,
  settledStories,
  type Waiting,
  waitingOf,
} from '../orchestrator/journal/runState.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import type { WatchedRun } from '../orchestrator/workspace/runWatcher.ts';
import { countOf, readStatus } from './statusFacts.ts';

/** The data of `status --json`; a contract, described in docs/json-output.md. */
export async function statusData(
  files: RunFiles,
  watched: WatchedRun,
  asksGit: boolean,
): Promise<object> {
  const { discovered, plan, problem, run, stories } = await readStatus(files, watched, asksGit);
  const { runId, state, alive } = run;
  const count = stories === undefined ? undefined : countOf(stories);
  const { phase, outcome, question } = runStanding(run);
  return {
    run: runId ?? null,
    phase: runId === undefined ? 'none' : phase,
    outcome: outcome ?? null,
    planning: phase === 'running' && isPlanning(state),
    rolledBack: state.rolledBack ?? null,
    exitCode: phase === 'interrupted' ? EXIT_CODES.interrupted : (state.exitCode ?? null),
    iteration: state.iteration,
    maxIterations: state.maxIterations,
    story: currentOf(state)?.storyId ?? null,
    ...lanesData(run),
    onlyStories: state.onlyStories ?? null,
    stories: count ?? { done: state.stories.done, total: state.stories.total },
    plan: plan ?? null,
    cost: costData(state),
    agent: state.agent ?? null,
    pid: alive ? (state.pid ?? null) : null,
    startedAt: state.startedAt ?? null,
    endedAt: state.endedAt ?? null,
    detail: state.detail === undefined ? null : englishOf(state.detail),
    waiting: waitingData(alive ? waitingOf(state) : undefined),
    question: question?.message ?? null,
    questions: openQuestions(state).map(({ iteration, message, storyId }) => ({
      ...{ story: storyId ?? null, iteration, message },
    })),
    discovered,
    payer: state.payer ?? null,
    verify: state.verify,
    problem,
  };
}

/** With lanes: who works on what, and what waits to land. Without, the same of one agent. */
function lanesData(run: WatchedRun): object {
  const { state } = run;
  const { isActive } = runStanding(run);
  return {
    branch: state.branch ?? null,
    lanes: state.lanes,
    isolated: state.isolated === true,
    pausedLanes: state.pausedLanes ?? [],
    pausedStories: pausedStories(state),
    settledStories: settledStories(state),
    queuedStories: [...state.cutOff, ...state.running].flatMap(({ queued, storyId }) =>
      queued && storyId !== undefined ? [storyId] : [],
    ),
    running: isActive
      ? inOrder(state.running).map(({ activity, lane, number, queued, step, storyId }) => ({
          iteration: number,
          story: storyId ?? null,
          lane: lane ?? null,
          step: state.limits.has(number) ? 'limit' : (step ?? 'agent'),
          queued: queued === true,
          activity: activity ?? null,
        }))
      : [],
    held: state.held ?? null,
  };
}

/** They start in parallel. */
function inOrder(running: RunState['running']): RunState['running'] {
  return [...running].sort((a, b) => a.number - b.number);
}

function costData({ budgetUsd, costEstimated, costUnknown, costUsd, usage }: RunState): object {
  return {
    usd: costUsd,
    estimated: costEstimated === true,
    unknown: costUnknown === true,
    budgetUsd: budgetUsd ?? null,
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheReadTokens: usage.cacheRead,
    cacheWriteTokens: usage.cacheWrite,
  };
}

function waitingData(waiting: Waiting | undefined): object | null {
  if (waiting === undefined) {
    return null;
  }
  return waiting.kind === 'limit'
    ? { kind: 'limit', until: waiting.until, detail: englishOf(waiting.message) }
    : { kind: 'pause', reason: waiting.reason, detail: waiting.detail };
}
