import { say } from '../../base/say.ts';
import type { PauseReason, RunOutcome } from '../journal/eventCodes.ts';
import { type RunState, storyRecord, WHOLE_TASK } from '../journal/runState.ts';
import type { RunConfig } from '../settings/config.ts';
import { nextStory } from '../stories/select.ts';
import type { Story } from '../stories/story.ts';
import { openCircle } from '../stories/storyProblems.ts';

/** What is known when the loop decides what comes next. */
export interface Situation {
  readonly state: RunState;
  /** As last read; absent in free-form and plan mode. */
  readonly stories?: readonly Story[];
  readonly config: Pick<
    RunConfig,
    'maxIterations' | 'failThreshold' | 'stuckThreshold' | 'onStuck' | 'onQuestion' | 'budgetUsd'
  >;
  readonly stopRequested: boolean;
  /** What the last iteration said or suffered that ends the run. */
  readonly verdict?: Verdict;
  /** Another mode that has become active in this folder. */
  readonly otherMode?: string;
}

export type Verdict =
  /** The agent's `complete` promise, with green checks; asked only where there are no stories. */
  | { readonly kind: 'complete' }
  /** Nothing is left to pay with for what must still be looked at. */
  | { readonly kind: 'budget' }
  /** Nothing that another try can mend: billing, log-in, agent not startable. */
  | { readonly kind: 'fatal'; readonly message: string }
  /** The work is not on the run's branch, so nothing of it counts as done. */
  | { readonly kind: 'astray'; readonly message: string };

export type Decision =
  | { readonly kind: 'iterate'; readonly iteration: number; readonly story?: Story }
  /** Leave a story alone that does not get on. */
  | { readonly kind: 'skip'; readonly story: Story; readonly iterations: number }
  /** Give the others their turn before a story that does not get on. */
  | { readonly kind: 'later'; readonly story: Story; readonly iterations: number }
  | {
      readonly kind: 'pause';
      readonly reason: PauseReason;
      readonly storyId?: string;
      readonly detail?: string;
    }
  | {
      readonly kind: 'end';
      readonly outcome: RunOutcome;
      readonly detail?: string;
      /** Ids of the stories that are left, of which none is ready. */
      readonly open?: readonly string[];
      /** Ids of open stories that wait for each other, the first one again at the end. */
      readonly circle?: readonly string[];
    };

/** Amounts are sums of small ones; what is left of a budget by rounding buys nothing. */
export const LESS_THAN_A_CENT = 0.005;

/** Iterations that a story gets once its agent is warned, before others have their turn. */
const ITERATIONS_AFTER_WARNING = 2;

/** A claim that was refused is not done, whatever its file says. */
function asProven(story: Story, state: RunState): Story {
  return story.done && storyRecord(state, story.id).refused ? { ...story, done: false } : story;
}

/** Decides what comes next, and why. Pure; every rule of design section 3 is tested through it. */
export function decide(situation: Situation): Decision {
  const { config, state, verdict } = situation;
  if (verdict?.kind === 'astray') {
    // Before what the files say: whoever reads them elsewhere may find other work, or none.
    return { kind: 'end', outcome: 'error', detail: verdict.message };
  }
  const stories = situation.stories?.map(story => asProven(story, state));
  const only = state.onlyStories && new Set(state.onlyStories);
  const turn = { skip: leftAlone(situation), last: comeLast(state), ...(only && { only }) };
  const next = stories && nextStory(stories, turn);
  const complete = next === undefined ? verdict?.kind === 'complete' : next.reason === 'allDone';
  if (state.current !== undefined) {
    // Cut off before its claim could be checked: what the files say is not proven yet.
    return verdict?.kind === 'fatal'
      ? { kind: 'end', outcome: 'error', detail: verdict.message }
      : { kind: 'end', outcome: verdict?.kind === 'budget' ? 'budget' : 'stopped' };
  }
  // Done is what the files say, so it comes before everything that anybody says or asks.
  if (complete) {
    return { kind: 'end', outcome: 'completed' };
  }
  if (situation.stopRequested) {
    return { kind: 'end', outcome: 'stopped' };
  }
  if (verdict?.kind === 'fatal') {
    return { kind: 'end', outcome: 'error', detail: verdict.message };
  }
  if (situation.otherMode !== undefined) {
    return {
      kind: 'end',
      outcome: 'error',
      detail: say(
        'The mode "{0}" of oh-my-claudecode has become active in this folder.',
        situation.otherMode,
      ),
    };
  }
  return (
    question(situation) ??
    (state.pauseRequested ? { kind: 'pause', reason: 'person' } : undefined) ??
    (next?.reason === undefined ? undefined : notReady(stories, state)) ??
    (config.budgetUsd !== undefined && state.costUsd >= config.budgetUsd - LESS_THAN_A_CENT
      ? { kind: 'end', outcome: 'budget' }
      : undefined) ??
    (state.iteration >= config.maxIterations
      ? { kind: 'end', outcome: 'maxIterations' }
      : undefined) ??
    tooManyFailures(situation) ??
    stuck(situation, next?.story) ??
    later(situation, next?.story, story => {
      const skip = new Set([...turn.skip, story.id]);
      return nextStory(stories ?? [], { ...turn, skip }).story !== undefined;
    }) ?? {
      kind: 'iterate',
      iteration: state.iteration + 1,
      ...(next?.story && { story: next.story }),
    }
  );
}

/** An agent asked for a person: wait for the answer, or end where nobody is there. */
function question({ config, state }: Situation): Decision | undefined {
  if (state.question === undefined) {
    return undefined;
  }
  const { message, storyId } = state.question;
  return config.onQuestion === 'end'
    ? { kind: 'end', outcome: 'needsHuman', detail: message }
    : {
        kind: 'pause',
        reason: 'question',
        detail: message,
        ...(storyId === undefined ? {} : { storyId }),
      };
}

/** Without stories there is no other one to go on with. */
function tooManyFailures({ config, state, stories }: Situation): Decision | undefined {
  const { failures } = storyRecord(state, WHOLE_TASK);
  return stories === undefined && failures >= config.failThreshold
    ? {
        kind: 'end',
        outcome: 'error',
        detail: state.lastError?.message || state.failedCheck?.command || '',
      }
    : undefined;
}

/** At the threshold the agent is warned; here is what follows when that did not help. */
function stuck({ config, state }: Situation, story: Story | undefined): Decision | undefined {
  const { stuckFor } = storyRecord(state, story?.id ?? WHOLE_TASK);
  if (stuckFor <= config.stuckThreshold) {
    return undefined;
  }
  const detail = `${stuckFor}`;
  switch (config.onStuck) {
    case 'warn':
      return undefined;
    case 'skip':
      return story
        ? { kind: 'skip', story, iterations: stuckFor }
        : { kind: 'end', outcome: 'stuck', detail };
    case 'ask':
      return { kind: 'pause', reason: 'stuck', detail, ...(story && { storyId: story.id }) };
    case 'stop':
      return { kind: 'end', outcome: 'stuck', detail: story?.id ?? detail };
  }
}

/** Where a warning is all that follows, a story must not take every iteration while others are ready. */
function later(
  { config, state }: Situation,
  story: Story | undefined,
  areOthersReady: (story: Story) => boolean,
): Decision | undefined {
  if (story === undefined || config.onStuck !== 'warn') {
    return undefined;
  }
  const record = storyRecord(state, story.id);
  const since = record.later?.stuckFor ?? config.stuckThreshold;
  return record.stuckFor >= since + ITERATIONS_AFTER_WARNING && areOthersReady(story)
    ? { kind: 'later', story, iterations: record.stuckFor }
    : undefined;
}

/** Stories that have their turn behind the others; among them the one first that was put there first. */
export function comeLast({
  storyRecords,
}: Pick<RunState, 'storyRecords'>): ReadonlyMap<string, number> {
  return new Map(
    [...storyRecords].flatMap(([id, record]) =>
      record.later === undefined ? [] : [[id, record.later.since] as const],
    ),
  );
}

/** Ids of stories that get no more iterations in this run: skipped, blocked, or failed too often. */
export function leftAlone({
  config,
  state,
  stories,
}: Pick<Situation, 'state' | 'stories'> & {
  readonly config: Pick<RunConfig, 'failThreshold'>;
}): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const story of stories ?? []) {
    const record = storyRecord(state, story.id);
    if (
      record.skipped !== undefined ||
      record.blocked !== undefined ||
      record.failures >= config.failThreshold
    ) {
      ids.add(story.id);
    }
  }
  return ids;
}

/**
 * Whether a story may still get an agent in this run: it is there, not proven done, and not left alone. What
 * comes before it, and who is next, is asked only between two iterations.
 */
export function isStillToDo(
  storyId: string,
  situation: Pick<Situation, 'state' | 'stories'> & {
    readonly config: Pick<RunConfig, 'failThreshold'>;
  },
): boolean {
  const named = (situation.stories ?? []).filter(({ id }) => id === storyId);
  return (
    named.some(story => !asProven(story, situation.state).done) &&
    !leftAlone(situation).has(storyId)
  );
}

function notReady(stories: readonly Story[] | undefined, state: RunState): Decision {
  const open = openStories(stories, state);
  const circle = openCircle(stories ?? []);
  return {
    kind: 'end',
    outcome: 'noReadyStory',
    // For people; an id may hold anything, so who needs the ids takes them from the list.
    detail: open.join(', '),
    open,
    ...(circle && { circle }),
  };
}

function openStories(
  stories: readonly Story[] | undefined,
  { onlyStories }: RunState,
): readonly string[] {
  const open = (stories ?? []).filter(story => !story.done).map(({ id }) => id);
  // A chosen one may have gone from the file.
  return onlyStories?.filter(id => open.includes(id) || !stories?.some(s => s.id === id)) ?? open;
}
