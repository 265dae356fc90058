import path from 'node:path';
import { HumanError } from '../orchestrator/humanError.ts';
import { EXIT_CODES } from '../orchestrator/run/events.ts';
import type { RunFiles } from '../orchestrator/run/runFiles.ts';
import { phaseOf } from '../orchestrator/run/runPhase.ts';
import type { WatchedRun } from '../orchestrator/run/runWatcher.ts';
import type { StoryFile } from '../orchestrator/stories/story.ts';
import { findStoryFile, readStoryFile } from '../orchestrator/stories/storyFile.ts';
import { withoutControls } from '../orchestrator/text.ts';
import { english, outcomeSentence } from './sentences.ts';

/** The data of `status --json`; a contract, described in docs/json-output.md. */
export async function statusData(
  files: RunFiles,
  { runId, state, alive }: WatchedRun,
): Promise<object> {
  // The run's own story file, which may have been named by hand; else the one a run would find.
  const storyFile =
    state.storyFile === undefined
      ? await findStoryFile(files.workspace)
      : path.resolve(files.workspace, state.storyFile);
  const stories = await readable(storyFile);
  const count =
    stories?.kind === 'stories'
      ? { done: stories.stories.filter(story => story.done).length, total: stories.stories.length }
      : { done: state.stories.done, total: state.stories.total };
  const phase = runId === undefined ? 'none' : phaseOf({ state, alive });
  return {
    run: runId ?? null,
    phase,
    outcome: phase === 'interrupted' ? 'interrupted' : (state.outcome ?? null),
    exitCode: phase === 'interrupted' ? EXIT_CODES.interrupted : (state.exitCode ?? null),
    iteration: state.iteration,
    maxIterations: state.maxIterations,
    story: state.current?.storyId ?? null,
    stories: count,
    cost: { usd: state.costUsd },
    agent: state.agent ?? null,
    pid: alive ? (state.pid ?? null) : null,
    startedAt: state.startedAt ?? null,
    endedAt: state.endedAt ?? null,
    detail: state.detail ?? null,
  };
}

async function readable(storyFile: string | undefined): Promise<StoryFile | undefined> {
  try {
    return storyFile === undefined ? undefined : await readStoryFile(storyFile);
  } catch (error) {
    if (error instanceof HumanError) {
      // It is gone; the journal knows the last count.
      return undefined;
    }
    throw error;
  }
}

/** How the run stands, in a few lines. */
export function statusText(run: WatchedRun): string {
  return withoutControls(statusLines(run).join('\n'));
}

function statusLines({ runId, state, alive }: WatchedRun): string[] {
  if (state.phase === 'idle' && alive) {
    return ['A run is starting.'];
  }
  if (runId === undefined || state.phase === 'idle') {
    return ['No run in this folder yet. Start one with "ralph-fresh run".'];
  }
  const cost = state.costUsd > 0 ? ` · $${state.costUsd.toFixed(2)}` : '';
  const facts = `${state.stories.done}/${state.stories.total} stories complete${cost}`;
  const outcome = phaseOf({ state, alive }) === 'interrupted' ? 'interrupted' : state.outcome;
  if (outcome !== undefined) {
    const { iteration: iterations, stories, detail } = state;
    return [outcomeSentence({ outcome, iterations, stories, detail }, english).text, facts];
  }
  const { current } = state;
  return [
    `Iteration ${state.iteration}/${state.maxIterations} · ${facts}${state.phase === 'stopping' ? ' · stopping' : ''}`,
    ...(current?.storyId === undefined ? [] : [`${current.storyId}: ${current.storyTitle ?? ''}`]),
    ...(current?.activity === undefined ? [] : [`  ${current.activity}`]),
  ];
}
