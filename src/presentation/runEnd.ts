import type { Words } from '../base/say.ts';
import type { RunOutcome } from '../orchestrator/journal/eventCodes.ts';
import { openQuestions, questionOf, type RunState } from '../orchestrator/journal/runState.ts';
import type { StoryCount } from '../orchestrator/journal/storyCount.ts';
import type { Question } from '../orchestrator/journal/storyNotes.ts';
import { iterationsToResume } from '../orchestrator/loop/resumeLimit.ts';
import { fruitlessOf, type Hindrance, hindrancesOf } from './hindrances.ts';

/** What is known about a run's end. */
export interface RunEnd {
  readonly outcome: RunOutcome;
  readonly iterations: number;
  readonly stories: StoryCount;
  /** Ids of the chosen stories, if the run works on no others. */
  readonly onlyStories?: readonly string[] | undefined;
  readonly detail?: Words | undefined;
  /** In US dollars, as `costUsd`. */
  readonly budgetUsd?: number | undefined;
  readonly costUsd?: number | undefined;
  readonly costEstimated?: boolean | undefined;
  readonly costUnknown?: boolean | undefined;
  /** Ids of the remaining stories, if none was ready. */
  readonly open?: readonly string[] | undefined;
  /** Those of them that wait for each other, with the first one repeated at the end. */
  readonly circle?: readonly string[] | undefined;
  /** Why none of them was ready. */
  readonly hindrances?: readonly Hindrance[] | undefined;
  /** If the run has no iteration left to continue with: how many to allow. */
  readonly moreIterations?: number | undefined;
  /** Ids of the stories that the run skips until the skip is withdrawn. */
  readonly skipped?: readonly string[] | undefined;
  /** Whether a person has answered since the event that ended the run. */
  readonly isAnswered?: boolean | undefined;
  /** The question is not open any more: its story is done or skipped. */
  readonly isSettled?: boolean | undefined;
  /** Questions of agents that nobody has answered. */
  readonly questions?: readonly Question[] | undefined;
  /** If the loop was killed: where it was. */
  readonly killed?: KilledAt | undefined;
  /** How many iterations were running then. */
  readonly killedStories?: number | undefined;
  readonly uncommitted?: RunState['uncommitted'] | undefined;
  /** What the branch does not have yet. */
  readonly held?: RunState['held'] | undefined;
  /** The stories whose last iterations brought nothing, the latest first. */
  readonly fruitless?: readonly Hindrance[] | undefined;
  /** How many stories are put aside in a file whose others are all done, or none of them ready. */
  readonly putAside?: number | undefined;
}

/** Where a run was when its loop was killed. */
export type KilledAt = 'beforeFirst' | 'inIteration' | 'inSeveral' | 'afterIteration';

/** For a run whose loop was killed: whether an iteration was running, or the last one had already ended. */
export function killedAt(state: RunState): KilledAt {
  const stories = killedStories(state);
  if (stories > 0) {
    return stories > 1 ? 'inSeveral' : 'inIteration';
  }
  return state.iteration === 0 ? 'beforeFirst' : 'afterIteration';
}

/** For a run whose loop was killed: how many iterations were running. */
export function killedStories({ cutOff, running }: Pick<RunState, 'cutOff' | 'running'>): number {
  return Math.max(running.length, cutOff.length);
}

/** The end of a run, from its folded state. */
export function runEnd(state: RunState, outcome: RunOutcome): RunEnd {
  const { iteration: iterations, stories, onlyStories, detail, circle } = state;
  const { budgetUsd, costUsd, costEstimated, costUnknown } = state;
  const skipped = [...state.storyRecords].flatMap(([id, record]) => (record.skipped ? [id] : []));
  const isAnswered =
    state.answers.some(({ question }) => question === detail) && questionOf(state) === undefined;
  const isSettled = !isAnswered && questionOf(state) === undefined;
  const known = {
    outcome,
    iterations,
    stories,
    onlyStories,
    skipped,
    isAnswered,
    isSettled,
    circle,
  };
  const killed = outcome === 'interrupted' ? killedAt(state) : undefined;
  const { held, uncommitted } = state;
  return {
    ...known,
    ...leftOpen(state),
    fruitless: outcome === 'maxIterations' ? fruitlessOf(state) : undefined,
    questions: openQuestions(state),
    budgetUsd,
    costUsd,
    costEstimated,
    costUnknown,
    killed,
    killedStories: killed === undefined ? undefined : killedStories(state),
    uncommitted,
    held,
    putAside: state.putAside,
    moreIterations: iterationsToResume(state),
  };
}

/** What a run has left open, and why, without what only waits to land, unless that is all. */
function leftOpen(state: RunState): Pick<RunEnd, 'detail' | 'hindrances' | 'open'> {
  const { detail, open = [] } = state;
  const all = hindrancesOf(state);
  const waits = all.flatMap(({ kind, storyId }) => (kind === 'queued' ? [storyId] : []));
  if (waits.length === 0 || waits.length === open.length) {
    return { detail, open: state.open, hindrances: all };
  }
  const left = open.filter(id => !waits.includes(id));
  return {
    detail: left.join(', '),
    open: left,
    hindrances: all.filter(({ kind }) => kind !== 'queued'),
  };
}
