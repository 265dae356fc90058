import path from 'node:path';
import { englishOf } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten, withoutControls } from '../base/text.ts';
import { waitingDiscoveries } from '../orchestrator/journal/discoveries.ts';
import { EXIT_CODES, type RunOutcome } from '../orchestrator/journal/eventCodes.ts';
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
import { comeLast } from '../orchestrator/loop/policy.ts';
import { findStoryFile } from '../orchestrator/stories/knownSources.ts';
import { idsWithReports } from '../orchestrator/stories/reportNote.ts';
import type { StoryList } from '../orchestrator/stories/story.ts';
import { noStoryFile, readStoryFile } from '../orchestrator/stories/storyFile.ts';
import { readFoundWork } from '../orchestrator/workspace/foundWork.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import type { WatchedRun } from '../orchestrator/workspace/runWatcher.ts';
import { bringInWords, heldWords } from './landingLines.ts';
import { laneLines } from './laneLines.ts';
import { outcomeSentence, rolledBackWords, runEnd } from './sentences.ts';
import { withFileCount } from './storyCount.ts';
import { stillPaused } from './storyLines.ts';
import { discoveredLine } from './storyListText.ts';
import { titleNextTo } from './storyTitle.ts';
import { costWords, dollars, english } from './translate.ts';
import { answerCommand, asksWords, waitingSentence } from './waitingWords.ts';

/** Maximum number of open stories that are named. */
const MAX_NAMED = 8;

/** A problem with the story file; `line` is 0 if there is no such file. */
interface FileProblem {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** The data of `status --json`; a contract, described in docs/json-output.md. */
export async function statusData(files: RunFiles, watched: WatchedRun): Promise<object> {
  const { run } = await lookAgain(files, watched);
  const { runId, state, alive } = run;
  const { stories, problem } = await look(await storyFileOf(files, state));
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
    plan: (await readPlan(files, state)) ?? null,
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
    discovered: (await waitingIn(files, stories)).length,
    payer: state.payer ?? null,
    verify: state.verify,
    problem,
  };
}

/** Work that agents of all runs found, and that waits for a person. */
export async function waitingIn(files: RunFiles, stories: StoryList | undefined) {
  return waitingDiscoveries(await readFoundWork(files), idsWithReports(stories?.stories ?? []));
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

/** The plan of a run over a plan; its steps are the checkboxes in it, if it has any. */
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

/**
 * Counts by the file alone, as the contract says. This includes a claim that is still being checked, which is not
 * counted in the text for people.
 */
function countOf({ stories }: StoryList): { done: number; total: number } {
  return { done: stories.filter(story => story.done).length, total: stories.length };
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
 * The state of the run, in a few lines.
 * @param now in ms since the epoch
 */
export async function statusText(
  files: RunFiles,
  watched: WatchedRun,
  now: number = Date.now(),
): Promise<string> {
  const { elsewhere, run } = await lookAgain(files, watched);
  const plan = await readPlan(files, run.state);
  const { stories } = plan ? {} : await look(await storyFileOf(files, run.state));
  // If the file is gone or broken, the run's last count is used.
  const counted = withFileCount(run, stories, files.workspace);
  const work = plan ? planFacts(files, plan) : storyFacts(counted.state);
  const open = stories ? openIds(stories, run.state) : [];
  const lines = [
    ...statusLines(counted, work, now, open),
    ...(elsewhere === undefined ? [] : [workElsewhere(elsewhere)]),
    ...discoveredLine((await waitingIn(files, stories)).length),
  ];
  return withoutControls(lines.join('\n'));
}

/** After the end of a run, a person may have brought in what its branch could not follow to, or be on another branch. */
async function lookAgain(
  { workspace }: RunFiles,
  run: WatchedRun,
): Promise<{ readonly run: WatchedRun; readonly elsewhere?: string }> {
  const { branch, held, isolated } = run.state;
  if (run.alive || branch === undefined || (isolated !== true && held === undefined)) {
    return { run };
  }
  // Loaded on demand: few runs need git for this.
  const { workNow } = await import('../orchestrator/workspace/workNow.ts');
  const now = await workNow(workspace, run.state);
  return { run: { ...run, state: { ...run.state, held: now.held } }, elsewhere: now.elsewhere };
}

/** Where the work of a run is that has landed on a branch which is not checked out. */
export function workElsewhere(branch: string): string {
  return `The work is on ${shorten(branch, 80)}. Go there with: git switch --merge ${shellWord(branch)}`;
}

function planFacts({ workspace }: RunFiles, { file, steps }: PlanStatus): string {
  const named = shorten(path.relative(workspace, file), 200);
  return steps === null ? named : `${steps.done}/${steps.total} steps of ${named} complete`;
}

function storyFacts(state: RunState): string {
  const { mode, stories, task } = state;
  if (mode === 'freeForm') {
    return `Task: ${shorten(task, 100)}`;
  }
  return isPlanning(state)
    ? `no stories yet, to be planned from: ${shorten(task, 100)}`
    : `${stories.done}/${stories.total} stories complete`;
}

/** Ids of the stories that a new run of the same kind would work on. */
function openIds({ stories }: StoryList, { onlyStories }: RunState): readonly string[] {
  return stories.flatMap(({ done, id, parked }) =>
    done || parked || onlyStories?.includes(id) === false ? [] : [shorten(id, 40)],
  );
}

/** How a run ended, and what has happened to its work since. */
function endLines(state: RunState, outcome: RunOutcome, open: readonly string[]): string[] {
  const { text } = outcomeSentence(runEnd(state, outcome), english);
  const more = open.length - MAX_NAMED;
  const named = `${open.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return [
    text,
    ...(state.rolledBack ? [rolledBackWords(state.rolledBack, english)] : []),
    ...(outcome === 'completed' && open.length > 0
      ? [`Open now: ${named}. Work on them with "ralph-fresh run".`]
      : []),
  ];
}

function statusLines(
  run: WatchedRun,
  work: string,
  now: number,
  open: readonly string[],
): string[] {
  const { runId, state, alive } = run;
  if (state.phase === 'idle' && alive) {
    return ['A run is starting.'];
  }
  if (runId === undefined || state.phase === 'idle') {
    return ['No run in this folder yet. Start one with "ralph-fresh run".'];
  }
  const facts = `${work}${costFacts(state)}`;
  const { outcome } = runStanding(run);
  if (outcome !== undefined) {
    return [...endLines(state, outcome, open), facts, ...heldLines(state, alive)];
  }
  const current = currentOf(state);
  // With lanes, others may continue while one agent waits; the time it waits for is shown all the same.
  const waiting = alive ? waitingOf(state) : undefined;
  const where = isPlanning(state)
    ? 'Planning the stories'
    : `Iteration ${state.iteration}/${state.maxIterations}`;
  const later = [...comeLast(state).keys()];
  return [
    `${where} · ${facts}${state.phase === 'stopping' ? ' · stopping' : ''}${pauseFacts(state)}`,
    ...(state.isolated
      ? laneLines(state)
      : current?.storyId === undefined
        ? []
        : [`${current.storyId}: ${titleNextTo(current.storyId, current.storyTitle ?? '')}`]),
    ...(later.length === 0
      ? []
      : [`After the others, because of no progress: ${shorten(later.join(', '), 200)}`]),
    ...(waiting === undefined ? [] : [waitingSentence(waiting, english, { now })]),
    ...(alive ? questionLines(state, waiting) : []),
    ...(state.isolated ? [] : stillPaused(state, english, 'terminal')),
    ...(waiting !== undefined || state.isolated || current?.activity === undefined
      ? []
      : [`  ${current.activity}`]),
    ...heldLines(state, alive),
  ];
}

/** They start in parallel. */
function inOrder(running: RunState['running']): RunState['running'] {
  return [...running].sort((a, b) => a.number - b.number);
}

function pauseFacts({ isolated, pauseRequested, running }: RunState): string {
  if (!pauseRequested) {
    return '';
  }
  return isolated && running.length > 1
    ? ' · will pause when the agents at work have finished'
    : ' · will pause after this iteration';
}

/** Questions that the run does not wait for as a whole, because others work on, or that came earlier. */
function questionLines(state: RunState, waiting: Waiting | undefined): string[] {
  const told = waiting?.kind === 'pause' && waiting.reason === 'question' ? waiting : undefined;
  return openQuestions(state)
    .filter(({ message, storyId }) => told?.storyId !== storyId || told?.detail !== message)
    .flatMap(question =>
      question.storyId === undefined
        ? []
        : [`${asksWords(question, english)} Answer with: ${answerCommand(question.storyId)}`],
    );
}

function heldLines({ branch = '', held }: RunState, isActive: boolean): string[] {
  if (held === undefined) {
    return [];
  }
  const { files, reason, ref } = held;
  const more = files.length - MAX_NAMED;
  const named = files.slice(0, MAX_NAMED).join(', ');
  // Local changes may be gone since.
  const isFree = !isActive && reason === 'localChanges' && files.length === 0;
  const why = heldWords(branch, reason, english);
  return [
    ...(isActive ? [] : [`${branch} does not have everything that has landed.`]),
    ...(isFree ? [] : [files.length === 0 ? why.replace(/:$/, '.') : why]),
    ...(files.length === 0 ? [] : [`  ${named}${more > 0 ? ` and ${more} more` : ''}`]),
    `  What has landed is kept meanwhile: git log ${ref}`,
    ...(isActive ? [] : [`  ${bringInWords(ref, english)}`]),
  ];
}

function costFacts(state: RunState): string {
  const { budgetUsd, costUnknown, costUsd } = state;
  const cost = costWords(state, english);
  if (budgetUsd !== undefined) {
    const budget = dollars(budgetUsd, english);
    return costUnknown
      ? ` · ${cost}, so the budget of ${budget} is not enforced`
      : ` · ${cost} of ${budget}`;
  }
  return costUsd > 0 || costUnknown ? ` · ${cost}` : '';
}
