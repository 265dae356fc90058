import path from 'node:path';
import { HumanError } from '../orchestrator/humanError.ts';
import { EXIT_CODES } from '../orchestrator/run/eventCodes.ts';
import type { RunFiles } from '../orchestrator/run/runFiles.ts';
import { phaseOf } from '../orchestrator/run/runPhase.ts';
import type { RunState } from '../orchestrator/run/runState.ts';
import type { WatchedRun } from '../orchestrator/run/runWatcher.ts';
import type { StoryList } from '../orchestrator/stories/story.ts';
import { findStoryFile, readStoryFile } from '../orchestrator/stories/storyFile.ts';
import { shorten, withoutControls } from '../orchestrator/text.ts';
import { dollars, english, outcomeSentence, runEnd, waitingSentence } from './sentences.ts';
import { withFileCount } from './storyCount.ts';

/** What is wrong with the story file; `line` is 0 when there is no such file. */
interface FileProblem {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** The data of `status --json`; a contract, described in docs/json-output.md. */
export async function statusData(
  files: RunFiles,
  { runId, state, alive }: WatchedRun,
): Promise<object> {
  const { stories, problem } = await look(await storyFileOf(files, state));
  const count = stories === undefined ? undefined : countOf(stories);
  const phase = runId === undefined ? 'none' : phaseOf({ state, alive });
  return {
    run: runId ?? null,
    phase,
    outcome: phase === 'interrupted' ? 'interrupted' : (state.outcome ?? null),
    exitCode: phase === 'interrupted' ? EXIT_CODES.interrupted : (state.exitCode ?? null),
    iteration: state.iteration,
    maxIterations: state.maxIterations,
    story: state.current?.storyId ?? null,
    onlyStories: state.onlyStories ?? null,
    stories: count ?? { done: state.stories.done, total: state.stories.total },
    plan: (await readPlan(files, state)) ?? null,
    cost: costData(state),
    agent: state.agent ?? null,
    pid: alive ? (state.pid ?? null) : null,
    startedAt: state.startedAt ?? null,
    endedAt: state.endedAt ?? null,
    detail: state.detail ?? null,
    waiting: alive ? waitingData(state) : null,
    question: state.question?.message ?? null,
    payer: state.payer ?? null,
    verify: state.verify,
    ...(problem === undefined ? {} : { problem }),
  };
}

/** The run's own story file, which may have been named by hand; else the one a run would find. A plan's run has none. */
async function storyFileOf(files: RunFiles, state: RunState): Promise<string | undefined> {
  if (state.planDir !== undefined) {
    return undefined;
  }
  return state.storyFile === undefined
    ? findStoryFile(files.workspace)
    : path.resolve(files.workspace, state.storyFile);
}

/** The plan of a run over a plan; its steps are the checkboxes in it, where there are any. */
interface PlanStatus {
  /** Absolute. */
  readonly file: string;
  readonly steps: { readonly done: number; readonly total: number } | null;
}

async function readPlan(files: RunFiles, { planDir }: RunState): Promise<PlanStatus | undefined> {
  if (planDir === undefined) {
    return undefined;
  }
  const file = path.resolve(files.workspace, planDir, 'plan.md');
  const { stories } = await look(file);
  return { file, steps: stories === undefined ? null : countOf(stories) };
}

/** By the file alone, as the contract says: a claim under check counts here, and for people it does not. */
function countOf({ stories }: StoryList): { done: number; total: number } {
  return { done: stories.filter(story => story.done).length, total: stories.length };
}

function costData({ budgetUsd, costEstimated, costUsd, usage }: RunState): object {
  return {
    usd: costUsd,
    estimated: costEstimated === true,
    budgetUsd: budgetUsd ?? null,
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheReadTokens: usage.cacheRead,
    cacheWriteTokens: usage.cacheWrite,
  };
}

function waitingData({ waiting }: RunState): object | null {
  if (waiting === undefined) {
    return null;
  }
  return waiting.kind === 'limit'
    ? { kind: 'limit', until: waiting.until, detail: waiting.message }
    : {
        kind: 'pause',
        reason: waiting.reason,
        ...(waiting.detail === undefined ? {} : { detail: waiting.detail }),
      };
}

async function look(
  storyFile: string | undefined,
): Promise<{ readonly stories?: StoryList; readonly problem?: FileProblem }> {
  if (storyFile === undefined) {
    return {};
  }
  try {
    const stories = await readStoryFile(storyFile);
    if (stories.kind === 'stories') {
      return { stories };
    }
    const [{ line, message }] = stories.problems;
    return { problem: { file: storyFile, line, message } };
  } catch (error) {
    if (error instanceof HumanError) {
      // It is gone; the journal knows the last count.
      return { problem: { file: storyFile, line: 0, message: error.message } };
    }
    throw error;
  }
}

/**
 * How the run stands, in a few lines.
 * @param now in ms since the epoch
 */
export async function statusText(
  files: RunFiles,
  run: WatchedRun,
  now: number = Date.now(),
): Promise<string> {
  const plan = await readPlan(files, run.state);
  const work = plan ? planFacts(files, plan) : await storyFacts(files, run);
  return withoutControls(statusLines(run, work, now).join('\n'));
}

function planFacts({ workspace }: RunFiles, { file, steps }: PlanStatus): string {
  const named = shorten(path.relative(workspace, file), 200);
  return steps === null ? named : `${steps.done}/${steps.total} steps of ${named} complete`;
}

async function storyFacts(files: RunFiles, run: WatchedRun): Promise<string> {
  const { mode, task } = run.state;
  if (mode === 'freeForm') {
    return `Task: ${shorten(task, 100)}`;
  }
  // A file that is gone or broken counts as the run last knew it.
  const { stories: file } = await look(await storyFileOf(files, run.state));
  const { stories } = withFileCount(run, file, files.workspace).state;
  return `${stories.done}/${stories.total} stories complete`;
}

function statusLines({ runId, state, alive }: WatchedRun, work: string, now: number): string[] {
  if (state.phase === 'idle' && alive) {
    return ['A run is starting.'];
  }
  if (runId === undefined || state.phase === 'idle') {
    return ['No run in this folder yet. Start one with "ralph-fresh run".'];
  }
  const facts = `${work}${costFacts(state)}`;
  const outcome = phaseOf({ state, alive }) === 'interrupted' ? 'interrupted' : state.outcome;
  if (outcome !== undefined) {
    return [outcomeSentence(runEnd(state, outcome), english).text, facts];
  }
  const { current, waiting } = state;
  return [
    `Iteration ${state.iteration}/${state.maxIterations} · ${facts}${state.phase === 'stopping' ? ' · stopping' : ''}${state.pauseRequested ? ' · will pause after this iteration' : ''}`,
    ...(current?.storyId === undefined ? [] : [`${current.storyId}: ${current.storyTitle ?? ''}`]),
    ...(waiting === undefined ? [] : [waitingSentence(waiting, english, { now })]),
    ...(waiting !== undefined || current?.activity === undefined ? [] : [`  ${current.activity}`]),
  ];
}

function costFacts({ budgetUsd, costEstimated, costUsd }: RunState): string {
  const cost = dollars(costUsd, english, costEstimated);
  if (budgetUsd !== undefined) {
    return ` · ${cost} of ${dollars(budgetUsd, english)}`;
  }
  return costUsd > 0 ? ` · ${cost}` : '';
}
