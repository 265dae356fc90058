import path from 'node:path';
import { englishOf } from '../base/say.ts';
import { waitingDiscoveries } from '../orchestrator/journal/discoveries.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import { findStoryFile } from '../orchestrator/stories/knownSources.ts';
import { idsWithReports } from '../orchestrator/stories/reportNote.ts';
import type { StoryList } from '../orchestrator/stories/story.ts';
import { noStoryFile, readStoryFile } from '../orchestrator/stories/storyFile.ts';
import { readFoundWork } from '../orchestrator/workspace/foundWork.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import type { WatchedRun } from '../orchestrator/workspace/runWatcher.ts';
import { withoutMoot } from './storyCount.ts';

/** A run, and the files that it is about, as they are now. */
export interface StatusFacts {
  readonly run: WatchedRun;
  /** The branch with the work of an ended run, if it is not checked out. */
  readonly elsewhere?: string;
  /** Absent for a plan, and if they cannot be read. */
  readonly stories?: StoryList;
  readonly problem?: FileProblem;
  readonly plan?: PlanStatus;
  /** The number of reports that wait for a person. */
  readonly discovered: number;
}

/** A problem with the story file; `line` is 0 if there is no such file. */
interface FileProblem {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** The plan of a run over a plan; its steps are the checkboxes in it, if it has any. */
export interface PlanStatus {
  /** Absolute. */
  readonly file: string;
  readonly steps: { readonly done: number; readonly total: number } | null;
}

/**
 * Reads what both the text and the data of `status` tell.
 * @param asksGit whether git is asked where the work of an ended run is now; a window has done that, if it may
 */
export async function readStatus(
  files: RunFiles,
  watched: WatchedRun,
  asksGit: boolean,
): Promise<StatusFacts> {
  const looked = asksGit ? await lookAgain(files, watched) : { run: watched };
  const { state } = looked.run;
  const read = await look(await storyFileOf(files, state));
  return {
    ...looked,
    ...read,
    run: withoutMoot(looked.run, read.stories, files.workspace),
    plan: await readPlan(files, state),
    discovered: (await waitingIn(files, read.stories)).length,
  };
}

/** An ended run, with only the questions that still wait for an answer. */
export async function stillAsking(files: RunFiles, state: RunState): Promise<RunState> {
  const { stories } = await look(await storyFileOf(files, state));
  return withoutMoot({ state, alive: false }, stories, files.workspace).state;
}

/** After the end of a run, a person may have committed its work, brought in what its branch lacked, or left the branch. */
async function lookAgain(
  { workspace }: RunFiles,
  run: WatchedRun,
): Promise<{ readonly run: WatchedRun; readonly elsewhere?: string }> {
  const { held, isolated, uncommitted } = run.state;
  if (run.alive || (isolated !== true && held === undefined && uncommitted === undefined)) {
    return { run };
  }
  // Loaded on demand: few runs need git for this.
  const { branchOfWork, workNow } = await import('../orchestrator/workspace/workNow.ts');
  const [left, elsewhere] = await Promise.all([
    workNow(workspace, run.state),
    branchOfWork(workspace, run.state),
  ]);
  return { run: { ...run, state: { ...run.state, ...left } }, elsewhere };
}

/**
 * The run's own story file, which may have been given explicitly; otherwise the one a run would find. A plan's run
 * has none.
 */
async function storyFileOf(files: RunFiles, state: RunState): Promise<string | undefined> {
  if (state.planDir !== undefined) {
    return undefined;
  }
  return state.storyFile === undefined
    ? findStoryFile(files.workspace)
    : path.resolve(files.workspace, state.storyFile);
}

async function readPlan(files: RunFiles, { planDir }: RunState): Promise<PlanStatus | undefined> {
  if (planDir === undefined) {
    return undefined;
  }
  const file = path.resolve(files.workspace, planDir, 'plan.md');
  const { stories } = await look(file);
  return { file, steps: stories === undefined ? null : countOf(stories) };
}

async function look(
  storyFile: string | undefined,
): Promise<{ readonly stories?: StoryList; readonly problem?: FileProblem }> {
  if (storyFile === undefined) {
    return {};
  }
  const stories = await readStoryFile(storyFile);
  if (stories === undefined) {
    // The journal has the last count.
    return { problem: { file: storyFile, line: 0, message: englishOf(noStoryFile(storyFile)) } };
  }
  if (stories.kind === 'stories') {
    return { stories };
  }
  const [{ line, message }] = stories.problems;
  return { problem: { file: storyFile, line, message: englishOf(message) } };
}

/**
 * Counts by the file alone, as the contract says. This includes a claim that is still being checked, which is not
 * counted in the text for people.
 */
export function countOf({ stories }: StoryList): { done: number; total: number } {
  return { done: stories.filter(story => story.done).length, total: stories.length };
}

/** Work that agents of all runs found, and that waits for a person. */
export async function waitingIn(files: RunFiles, stories: StoryList | undefined) {
  return waitingDiscoveries(await readFoundWork(files), idsWithReports(stories?.stories ?? []));
}
