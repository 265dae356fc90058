import path from 'node:path';
import { shellWord } from '../base/shellWord.ts';
import { titleNextTo } from '../base/storyTitle.ts';
import { shorten, withoutControls } from '../base/text.ts';
import type { RunOutcome } from '../orchestrator/journal/eventCodes.ts';
import { isPlanning, runStanding } from '../orchestrator/journal/runStanding.ts';
import {
  currentOf,
  openQuestions,
  type RunState,
  type Waiting,
  waitingOf,
} from '../orchestrator/journal/runState.ts';
import { comeLast } from '../orchestrator/loop/policy.ts';
import type { StoryList } from '../orchestrator/stories/story.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import type { WatchedRun } from '../orchestrator/workspace/runWatcher.ts';
import { bringInWords, heldWords } from './heldWords.ts';
import { laneLines } from './laneLines.ts';
import { outcomeSentence, rolledBackWords, runEnd } from './sentences.ts';
import { type PlanStatus, readStatus } from './statusFacts.ts';
import { withFileCount } from './storyCount.ts';
import { stillPaused } from './storyLines.ts';
import { discoveredLine } from './storyListText.ts';
import { type StoryStatus, storyStatus } from './storyState.ts';
import { costWords, dollars, english } from './translate.ts';
import { answerCommand, asksWords, waitingSentence } from './waitingWords.ts';

/** Maximum number of open stories that are named. */
const MAX_NAMED = 8;

/**
 * The state of the run, in a few lines.
 * @param now in ms since the epoch
 */
export async function statusText(
  files: RunFiles,
  watched: WatchedRun,
  now: number = Date.now(),
): Promise<string> {
  const { discovered, elsewhere, plan, run, stories } = await readStatus(files, watched, true);
  // If the file is gone or broken, the run's last count is used.
  const counted = withFileCount(run, stories, files.workspace);
  const work = plan ? planFacts(files, plan) : storyFacts(counted.state);
  const open = stories ? openIds(stories, run.state) : [];
  const left = stories ? leftLines(stories, run) : [];
  const lines = [
    ...statusLines(counted, work, now, { open, left }),
    ...(elsewhere === undefined ? [] : [workElsewhere(elsewhere)]),
    ...discoveredLine(discovered),
  ];
  return withoutControls(lines.join('\n'));
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
  const { mode, onlyStories, stories, task } = state;
  if (mode === 'freeForm') {
    return `Task: ${shorten(task, 100)}`;
  }
  return isPlanning(state)
    ? `no stories yet, to be planned from: ${shorten(task, 100)}`
    : `${stories.done}/${stories.total} stories complete${
        onlyStories === undefined ? '' : ` · works only on ${shorten(onlyStories.join(', '), 200)}`
      }`;
}

/** Ids of the stories that a new run of the same kind would work on. */
function openIds({ stories }: StoryList, { onlyStories }: RunState): readonly string[] {
  return stories.flatMap(({ done, id, parked }) =>
    done || parked || onlyStories?.includes(id) === false ? [] : [shorten(id, 40)],
  );
}

/** What an ended run keeps of its stories until it continues. */
function leftLines({ stories }: StoryList, run: WatchedRun): string[] {
  const of = (kind: StoryStatus['kind']) =>
    stories.flatMap(story =>
      storyStatus(story, run, [run.state])?.kind === kind ? [shorten(story.id, 40)] : [],
    );
  const line = (kind: StoryStatus['kind'], words: (named: string, first: string) => string) => {
    const [first, ...others] = of(kind);
    return first === undefined ? [] : [words(shorten([first, ...others].join(', '), 200), first)];
  };
  return [
    ...line(
      'queued',
      ids => `Waits to land, first when the run continues (ralph-fresh run --resume): ${ids}`,
    ),
    ...line(
      'settling',
      (ids, first) => `You settle: ${ids}. Land it with: ralph-fresh land ${shellWord(first)}`,
    ),
    ...line('paused', ids => `Still paused when the run continues: ${ids}`),
  ];
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
      ? [`Open now: ${named}. Work on ${open.length === 1 ? 'it' : 'them'} with "ralph-fresh run".`]
      : []),
  ];
}

function statusLines(
  run: WatchedRun,
  work: string,
  now: number,
  { left, open }: { readonly left: readonly string[]; readonly open: readonly string[] },
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
    return [...endLines(state, outcome, open), facts, ...left, ...heldLines(state, alive)];
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
    ...(isActive ? [] : [`  ${bringInWords(held, english)}`]),
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
