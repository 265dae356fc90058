import path from 'node:path';
import { englishOf } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { titleNextTo } from '../base/storyTitle.ts';
import { sentence, shorten, withoutControls } from '../base/text.ts';
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
import { isPassedOver } from '../orchestrator/stories/select.ts';
import type { StoryList } from '../orchestrator/stories/story.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import type { WatchedRun } from '../orchestrator/workspace/runWatcher.ts';
import { bringInWords, heldWords } from './heldWords.ts';
import type { Hindrance } from './hindrances.ts';
import { laneLines } from './laneLines.ts';
import { type RunEnd, runEnd } from './runEnd.ts';
import { outcomeSentence, rolledBackWords } from './sentences.ts';
import { type PlanStatus, readStatus } from './statusFacts.ts';
import { withFileCount } from './storyCount.ts';
import { stillPaused } from './storyLines.ts';
import { discoveredLine } from './storyListText.ts';
import { isUnjudged, type StoryStatus, storyStates, storyStatus } from './storyState.ts';
import { costWords, dollars, english } from './translate.ts';
import { uncommittedWords } from './uncommittedWords.ts';
import { answerCommand, asksWords, waitingSentence } from './waitingWords.ts';

/** Maximum number of open stories that are named. */
const MAX_NAMED = 8;
/** Maximum length of what an ended run says about its end, in UTF-16 units. */
const MAX_DETAIL = 1_000;

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
  const left = stories ? leftLines(stories, run) : [];
  const lines = [
    ...statusLines(counted, work, now, { left, open: stories && openNow(stories, run) }),
    ...(elsewhere === undefined ? [] : [workElsewhere(elsewhere)]),
    ...discoveredLine(discovered),
  ];
  return withoutControls(lines.join('\n'));
}

/** Where the work of a run is that has landed on a branch which is not checked out. */
export function workElsewhere(branch: string): string {
  return `The work is on ${shorten(branch, 80)}. Go there with: git switch --no-overwrite-ignore --merge ${shellWord(branch)}`;
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

/** What a new run of the same kind would work on. */
interface OpenNow {
  readonly ids: readonly string[];
  /** All that is not done, also what is put aside. */
  readonly left: ReadonlySet<string>;
  /** Whether an agent could begin with one of them at once. */
  readonly isReady: boolean;
  /** Whether none of the run's stories is left, not even one that is put aside. */
  readonly allDone: boolean;
}

function openNow({ stories }: StoryList, run: WatchedRun): OpenNow {
  const { mode, onlyStories } = run.state;
  const own = stories.filter(({ id }) => onlyStories?.includes(id) !== false);
  const left = own.filter(({ done, id }) => !done || isUnjudged(id, run));
  const open = left.filter(story => !isPassedOver(story, onlyStories !== undefined));
  const states = storyStates(stories, { run, states: [run.state] });
  return {
    ids: open.map(({ id }) => shorten(id, 40)),
    left: new Set(left.map(({ id }) => id)),
    isReady: open.some(story => ['next', 'ready', 'later'].includes(states.get(story)?.kind ?? '')),
    allDone: mode !== 'freeForm' && own.length > 0 && left.length === 0,
  };
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
function endLines(state: RunState, outcome: RunOutcome, open: OpenNow | undefined): string[] {
  const last = runEnd(state, outcome);
  const fruitless = last.fruitless?.filter(({ storyId }) => open?.left.has(storyId) !== false);
  const end: RunEnd = { ...last, fruitless };
  const { text } = outcomeSentence(end, english);
  const rolledBack = state.rolledBack ? [rolledBackWords(state.rolledBack, english)] : [];
  const ids = open?.ids ?? [];
  const more = ids.length - MAX_NAMED;
  const named = `${ids.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const openWords = `Open now: ${named}. Work on ${ids.length === 1 ? 'it' : 'them'} with "ralph-fresh run".`;
  if (outcome === 'completed' || open === undefined) {
    return [text, ...rolledBack, ...(ids.length > 0 ? [openWords] : [])];
  }
  // What the end advises would not help any more; but a question is still there to be answered.
  const isAsking = outcome === 'needsHuman' && (end.questions ?? []).length > 0;
  if (open.allDone) {
    return [
      isAsking ? text : pastEnd(end),
      ...rolledBack,
      `${state.onlyStories === undefined ? 'All stories' : 'All chosen stories'} are done now.`,
    ];
  }
  const { hindrances = [] } = end;
  const isAll = (kind: Hindrance['kind']) =>
    hindrances.length > 0 && hindrances.every(hindrance => hindrance.kind === kind);
  if (outcome === 'noReadyStory' && isAll('queued')) {
    // Another line says of these stories when they land.
    return [pastEnd(end), ...rolledBack];
  }
  return outcome === 'noReadyStory' && open.isReady && !isAll('reset')
    ? [pastEnd(end), ...rolledBack, openWords]
    : [text, ...rolledBack];
}

/** The end of a run without its advice, which does not hold any more. */
function pastEnd(end: RunEnd): string {
  const detail = shorten(englishOf(end.detail ?? ''), MAX_DETAIL);
  const words: Readonly<Record<RunOutcome, string>> = {
    completed: 'Complete.',
    maxIterations: `Max iterations reached (${end.iterations}).`,
    budget: detail === '' ? 'The budget was used up.' : sentence(detail),
    needsHuman: `The agent asked: ${sentence(detail)}`,
    noReadyStory: `No story was ready. Left: ${sentence(detail)}`,
    stuck: `Stuck: no progress on ${sentence(detail)}`,
    stopped: 'Stopped.',
    error: `The run could not continue: ${sentence(detail)}`,
    interrupted: 'The loop was killed.',
  };
  return end.uncommitted === undefined
    ? words[end.outcome]
    : `${words[end.outcome]} ${uncommittedWords(end.uncommitted, english)}`;
}

function statusLines(
  run: WatchedRun,
  work: string,
  now: number,
  { left, open }: { readonly left: readonly string[]; readonly open: OpenNow | undefined },
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
